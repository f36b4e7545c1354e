#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "diagnostic.h"
#include "evidence.h"
#include "file.h"

using namespace transcript;

namespace {

const std::string kEvidence =
    "# p on X\n"
    "\n"
    "## case 2x2\n"
    "\n"
    "max |reference| = 34.5857\n"
    "a scale sym 7.874e-03, a scale asym 3.921e-03, zero point -128\n"
    "speed-up 40.45x; improves by 12.30x\n"
    "gap 1\n"
    "\n"
    "| kernel   |   max err |   rms err |\n"
    "| :------- | --------: | --------: |\n"
    "| f32      | 1.907e-05 | 1.139e-06 |\n"
    "| int8 one | 6.449e-01 |       n/a |\n"
    "\n"
    "gap 2\n"
    "\n"
    "| kernel   | time (ms) | rms err |\n"
    "| :------- | --------: | ------: |\n"
    "| int8 one | not timed |    0.25 |\n"
    "\n"
    "## census on B (2048x2048)\n"
    "\n"
    "3 cases\n"
    "\n"
    "## twice\n1\n\n## twice\n2\n";

std::string value(const std::string& address) {
  try {
    return get(kEvidence, address, "e.md");
  } catch (const common::DiagnosticError& error) {
    REQUIRE(error.diagnostics().size() == 1);
    const common::Diagnostic& one = error.diagnostics()[0];
    CHECK(one.source == address);
    CHECK(one.file == "e.md");
    return std::to_string(one.column) + ": " + one.message;
  }
}

std::string lines(const std::string& address) {
  try {
    return block(kEvidence, address, "e.md");
  } catch (const common::DiagnosticError& error) {
    return error.diagnostics()[0].message;
  }
}

}  // namespace

TEST_CASE("a cell is named by section, row and column, in any table of the section") {
  CHECK(value("case 2x2 / f32 / max err") == "1.907e-05");
  CHECK(value("  case  2x2  /  f32  /  rms   err ") == "1.139e-06");
  CHECK(value("case 2x2 / int8 one / time (ms)") == "not timed");
  CHECK(value("case 2x2 / int8 one [1] / rms err") == "n/a");
  CHECK(value("case 2x2 / int8 one [2] / rms err") == "0.25");
}

TEST_CASE("a figure in prose is named by the words before it") {
  CHECK(value("case 2x2 / max |reference| =") == "34.5857");
  CHECK(value("case 2x2 / max |reference|") == "34.5857");
  CHECK(value("case 2x2 / a scale sym / 1") == "7.874e-03");
  CHECK(value("case 2x2 / a scale sym / 3") == "-128");
  CHECK(value("case 2x2 / zero point") == "-128");
  CHECK(value("case 2x2 / speed-up / 1") == "40.45");
  CHECK(value("case 2x2 / improves by") == "12.30");
  CHECK(value("case 2x2 / gap [2]") == "2");
  CHECK(value("census on B / line 1 / 1") == "3");
  CHECK(value("census on B / census on B / 2") == "2048");
  CHECK(value("census on B (2048x2048) / line 1") == "3");
  CHECK(value("twice [2] / line 1") == "2");
}

TEST_CASE("a section or its table is named for its lines") {
  CHECK(lines("twice [1]") == "1\n");
  CHECK(lines("p on X") == "");
  CHECK(lines("case 2x2").substr(0, 5) == "max |");
  CHECK(lines("case 2x2").substr(lines("case 2x2").size() - 9) == "  0.25 |\n");
  CHECK(lines("case 2x2 / table [2]") ==
        "| kernel   | time (ms) | rms err |\n"
        "| :------- | --------: | ------: |\n"
        "| int8 one | not timed |    0.25 |\n");
  CHECK(lines("case 2x2 / table") ==
        "'table' is ambiguous: it may be 'table [1]' to 'table [2]'");
  CHECK(lines("twice [1] / table") == "the section has no table");
  CHECK(lines("case 2x2 / tables") == "lines are named by SECTION or SECTION / table");
}

TEST_CASE("what is unknown or ambiguous is told, with what exists") {
  CHECK(value("case 2x3 / f32 / max err") ==
        "1: no section 'case 2x3'; did you mean 'case 2x2'?");
  CHECK(value("other / f32 / max err") == "1: no section 'other'");
  CHECK(value("case 2x2 / int8 on / max err") ==
        "12: no row 'int8 on'; did you mean 'int8 one'?");
  CHECK(value("case 2x2 / f32 / max er") ==
        "18: no column 'max er'; did you mean 'max err'?");
  CHECK(value("case 2x2 / scale factor / 1") ==
        "12: no row, and no line of prose with the words, 'scale factor'");
  CHECK(value("twice / line 1") ==
        "1: 'twice' is ambiguous: it may be 'twice [1]' to 'twice [2]'");
  CHECK(value("case 2x2 / int8 one / rms err") ==
        "12: 'int8 one' is ambiguous: it may be 'int8 one [1]' to 'int8 one [2]'");
  CHECK(value("case 2x2 / gap") ==
        "12: 'gap' is ambiguous: it may be 'gap [1]' to 'gap [2]'");
  CHECK(value("case 2x2 / int8 one [3] / rms err") ==
        "12: there are only 2 of 'int8 one'");
  CHECK(value("case 2x2 / a scale sym") ==
        "12: 3 figures follow 'a scale sym': say which, 'a scale sym / 1', ...");
  CHECK(value("case 2x2 / zero point / 2") == "25: 1 figures follow 'zero point'");
  CHECK(value("case 2x2 / f32") == "12: a row: name a column as well");
  CHECK(value("case 2x2") ==
        "1: a figure is SECTION / ROW / COLUMN or SECTION / WORDS / N: 1 part");
  CHECK(value("case 2x2 / ate / 1") ==  // whole words
        "12: no row, and no line of prose with the words, 'ate'");
}

TEST_CASE("every figure of the evidence has an address of its own that leads back") {
  const std::string text =
      common::read_file(SOURCE_ROOT "/tools/transcript/testdata/nvidia-h200.md");
  std::vector<std::string> seen;
  for (const Figure& figure : figures(text)) {
    CHECK(get(text, figure.address) == figure.text);
    seen.push_back(figure.address);
  }
  CHECK(seen.size() > 350);
  std::sort(seen.begin(), seen.end());
  CHECK(std::adjacent_find(seen.begin(), seen.end()) == seen.end());
}

TEST_CASE("two columns of one name are told, not guessed between") {
  const std::string text = "| a | x | x |\n| - | - | - |\n| r | 1 | 2 |\n";
  CHECK_THROWS_AS(get(text, "top / r / x"), common::DiagnosticError);
}

// Found by fuzzing: both led to another figure.
TEST_CASE(
    "a line's or a heading's own address leads back past lines that say its name") {
  const std::string text =
      "the value is 5 of 5\nthe value is in / line 1 / 7\n# case 8x9\n\ncases 3, case "
      "4\n";
  for (const Figure& figure : figures(text)) {
    CAPTURE(figure.address);
    CHECK(get(text, figure.address) == figure.text);
  }
  CHECK(get(text, "top / line 1 / 2") == "5");
  CHECK(get(text, "case 8x9 / heading / 2") == "9");
}

TEST_CASE("exported figures carry names and values") {
  const auto all = figures(kEvidence);
  const auto find = [&](const std::string& address) {
    for (const Figure& one : all) {
      if (one.address == address) {
        return one.section + "|" + one.row + "|" + one.column + "|" + one.text + "|" +
               one.value;
      }
    }
    return std::string("none");
  };
  CHECK(find("case 2x2 / f32 / max err") == "case 2x2|f32|max err|1.907e-05|1.907e-05");
  CHECK(find("case 2x2 / int8 one [1] / rms err") == "case 2x2|int8 one|rms err|n/a|");
  CHECK(find("case 2x2 / a scale sym / 3") == "case 2x2|||-128|-128");
  CHECK(find("case 2x2 / line 4 / 1") == "case 2x2|||1|1");
  CHECK(find("census on B / census on B ( / 1") == "census on B|||2048|2048");
}

TEST_CASE("any address of any evidence gives a value or one error") {
  CHECK(rc::check([] {
    const auto pieces = rc::gen::elementOf(std::vector<std::string>{
        "# case\n", " ", "/", " / ", "[2]", "line 1", "1", "f32", "\n", "| a | b |\n",
        "|---|---|\n", "a  b", "1.5", ",", "table", "case", "top"});
    const auto join = [](const std::vector<std::string>& parts) {
      std::string text;
      for (const std::string& part : parts) text += part;
      return text;
    };
    const std::string text =
        join(*rc::gen::container<std::vector<std::string>>(pieces));
    const std::string address =
        join(*rc::gen::container<std::vector<std::string>>(pieces));
    for (const auto function : {&get, &block}) {
      try {
        function(text, address, "e");
      } catch (const common::DiagnosticError& error) {
        RC_ASSERT(error.diagnostics().size() == 1u);
      }
    }
    for (const Figure& figure : figures(text)) {
      RC_ASSERT(figure.address.size() > 0u);
    }
  }));
}
