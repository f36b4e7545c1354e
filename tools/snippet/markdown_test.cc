#include "markdown.h"

#include <doctest/doctest.h>

#include "lines.h"

using namespace snippet;

namespace {

// One letter for each line: t text, d deep text, c code.
std::string kinds(std::string_view text) {
  std::string letters;
  MarkdownScanner scanner;
  LineReader reader(text);
  for (Line line; reader.next(line);) {
    const auto kind = scanner.next(line.text).kind;
    letters += kind == MarkdownScanner::Kind::text        ? 't'
               : kind == MarkdownScanner::Kind::deep_text ? 'd'
                                                          : 'c';
  }
  return letters;
}

std::size_t content(std::string_view line) {
  return MarkdownScanner().next(line).content;
}

}  // namespace

TEST_CASE("a fence ends at a run as long as its own, of the same character") {
  CHECK(kinds("a\n```\nb\n```\nc") == "tccct");
  CHECK(kinds("````cuda\n```\n````\nc") == "ccct");
  CHECK(kinds("```\n~~~\n``` x\n`````  \nc") == "cccct");
  CHECK(kinds("~~~ `a`\nb\n~~~\nc") == "ccct");
  CHECK(kinds("``` `a`\nb") == "tt");
  CHECK(kinds("``\nb") == "tt");
  CHECK(kinds("```\nb") == "cc");
  CHECK(kinds("   ```\nb\n   ```\nc") == "ccct");
  CHECK(kinds("```\n    ```\n```\nc") == "ccct");
}

TEST_CASE("a fence ends with the quotation or list item that holds it") {
  CHECK(kinds("> ```\n> a\nb") == "cct");
  CHECK(kinds("> ```\n> a\n> ```\n> b") == "ccct");
  CHECK(kinds("- ```\n  a\n\n  b\nc") == "cccct");
  CHECK(kinds("- a\n  - b\n\n    ```\n    c\n    ```\n    d") == "tttccct");
  CHECK(kinds("1. a\n\n   ```\n   b\n   ```\n\nc") == "ttccctt");
  CHECK(kinds("> - ```\n>   a\n>   ```\n> b") == "ccct");
}

TEST_CASE("deep indentation is code, except under a paragraph or in a list") {
  CHECK(kinds("a\n\n    b\n\nc") == "ttctt");
  CHECK(kinds("a\n    b") == "td");
  CHECK(kinds("# a\n    b") == "tc");
  CHECK(kinds("\tb") == "c");
  CHECK(kinds("- a\n\n    b") == "ttt");
  CHECK(kinds("- a\n\n      b") == "ttc");
  CHECK(kinds("-     a") == "c");
  CHECK(kinds("-\ta\n\n\tb") == "ttt");
  CHECK(kinds("10) a\n\n    b") == "ttt");
}

TEST_CASE("what only looks like a list item is none") {
  CHECK(kinds("- - -\n    b") == "td");
  CHECK(kinds("-a\n\n    b") == "ttc");
  CHECK(kinds("1234567890. a\n\n            b") == "ttc");
  CHECK(kinds("a\n2. b\n\n    c") == "tttc");
}

TEST_CASE("the lines of a long HTML comment are no text") {
  CHECK(kinds("<!--\n```\n-->\na") == "tcct");
  CHECK(kinds("<!-- a -->\n```\nb") == "tcc");
}

TEST_CASE("the text of a line begins after its containers") {
  CHECK(content("a") == 0);
  CHECK(content("  a") == 2);
  CHECK(content("> a") == 2);
  CHECK(content(">a") == 1);
  CHECK(content("> - 1. a") == 7);
  CHECK(content("") == 0);
}

TEST_CASE("lines after the first keep quotations and replace list markers") {
  CHECK(continuation_prefix("> - 1. ") == ">      ");
  CHECK(continuation_prefix("\t  ") == "\t  ");
}
