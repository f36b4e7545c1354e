#include "document.h"

#include <doctest/doctest.h>

using namespace transcript;

namespace {

std::string outline(const std::string& text) {
  const Document document(text, "d.md");
  std::string all;
  for (std::size_t s = 0; s < document.sections().size(); ++s) {
    const Section& section = document.sections()[s];
    all += document.section_name(s) + ":";
    for (const std::uint32_t line : section.prose)
      all += " p" + std::to_string(line + 1);
    for (const Table& table : section.tables) {
      all += " t" + std::to_string(table.header + 1) + "-" + std::to_string(table.end);
      for (const std::string& column : table.columns) all += "|" + column;
    }
    all += " [" + std::to_string(section.begin + 1) + "," +
           std::to_string(section.end) + "]\n";
  }
  return all;
}

}  // namespace

TEST_CASE("headings make sections; pipes over dashes make tables; all else is prose") {
  CHECK(outline(
            "# p on X (cc 9)\n\n## case 2x2\n\na = 1\n\n| k | max err |\n| :- | --: |\n"
            "| f | 1 |\n| g | 2 |\n\nend\n\n") ==
        "p on X: [3,2]\n"
        "case 2x2: p5 p12 t7-10|k|max err [5,12]\n");
  CHECK(outline("plain\ntext 1\n") == "top: p1 p2 [1,2]\n");
  CHECK(outline("") == "");
  CHECK(outline("\n \n") == "");
  CHECK(outline("#no heading\n####### nor this\n") == "top: p1 p2 [1,2]\n");
  CHECK(outline("| no | table |\n| at | all |\n") == "top: p1 p2 [1,2]\n");
  CHECK(outline("| one | two |\n| - |\n") == "top: p1 p2 [1,2]\n");
  CHECK(outline("| a |\n|---|\n") == "top: t1-2|a [1,2]\n");
}

TEST_CASE("a section is called by its short name where that is its alone") {
  CHECK(
      outline("## B (1)\n## C: x\n## C, y\n## D\n## D\n## D = 3\n") ==
      "B: [2,1]\nC: x: [3,2]\nC, y: [4,3]\nD [1]: [5,4]\nD [2]: [6,5]\nD = 3: [7,6]\n");
}

TEST_CASE("cells are what stands between pipes, an escaped one excepted") {
  const auto all = cells(" | a b |  | c\\|d |  ");
  REQUIRE(all.size() == 3);
  CHECK(all[0] == "a b");
  CHECK(all[1] == "");
  CHECK(all[2] == "c\\|d");
  CHECK(cells("|").size() == 1);
  CHECK(cells("").size() == 1);
}

TEST_CASE("line ends and other oddities are set aside, with a note") {
  const Document crlf("# a\r\nb \xFF\r\nc\0d", "d.md");
  CHECK(crlf.lines() == 3);
  CHECK(crlf.line(1) == "b \xFF");
  REQUIRE(crlf.notes().size() == 3);
  CHECK(crlf.notes()[0] == "CRLF line endings");
  CHECK(crlf.notes()[1] == "no newline at the end");
  CHECK(crlf.notes()[2] == "invalid UTF-8 (first at byte 7)");
  CHECK(Document(std::string("a\0\n", 3), "d.md").notes()[0] == "NUL bytes");
}
