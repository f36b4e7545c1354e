#include "lines.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace snippet;

namespace {

std::vector<std::string> texts(std::string_view text) {
  std::vector<std::string> lines;
  LineReader reader(text);
  for (Line line; reader.next(line);) {
    CHECK(line.number == lines.size() + 1);
    CHECK(text.substr(line.begin, line.text.size()) == line.text);
    lines.emplace_back(line.text);
  }
  return lines;
}

}  // namespace

TEST_CASE("lines end with LF or CRLF, and the last one may lack its ending") {
  CHECK(texts("") == std::vector<std::string>{});
  CHECK(texts("a") == std::vector<std::string>{"a"});
  CHECK(texts("a\n") == std::vector<std::string>{"a"});
  CHECK(texts("a\r\n\r\nb\n\n") == std::vector<std::string>{"a", "", "b", ""});
}

TEST_CASE("a lone CR is text, and one CR at most belongs to an ending") {
  CHECK(texts("a\rb\n") == std::vector<std::string>{"a\rb"});
  CHECK(texts("a\r\r\n") == std::vector<std::string>{"a\r"});
  CHECK(texts("a\r") == std::vector<std::string>{"a\r"});
}

TEST_CASE(
    "a byte-order mark belongs to no line, and only the first three bytes are one") {
  CHECK(texts("\xEF\xBB\xBF"
              "a\n\xEF\xBB\xBF"
              "b") == std::vector<std::string>{"a",
                                               "\xEF\xBB\xBF"
                                               "b"});
  CHECK(texts("\xEF\xBB\xBF").empty());
}

TEST_CASE("endings and offsets give back the text") {
  LineReader reader("a\r\nb");
  Line line;
  REQUIRE(reader.next(line));
  CHECK(line.ending == "\r\n");
  CHECK(line.end() == 3);
  REQUIRE(reader.next(line));
  CHECK(line.ending.empty());
  CHECK(line.end() == 4);
  CHECK_FALSE(reader.next(line));
}

TEST_CASE("trim takes spaces and tabs") {
  CHECK(trim(" \t a b\t ") == "a b");
  CHECK(trim(" \t").empty());
  CHECK(is_blank(" \t"));
  CHECK_FALSE(is_blank(" x"));
}
