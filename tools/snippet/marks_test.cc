#include "marks.h"

#include <doctest/doctest.h>

#include "test_support.h"

using namespace snippet;

namespace {

struct Parsed {
  std::vector<Region> regions;
  std::string errors;
};

Parsed parse(std::string_view text, const std::string& file = "a.cu") {
  std::vector<common::Diagnostic> errors;
  std::vector<Region> regions = parse_marks(file, text, errors);
  return {std::move(regions), text_of(errors)};
}

std::string errors(std::string_view text) {
  return parse(text).errors;
}

using Lines = std::vector<std::string>;

// The lines of the only or named region of a text without errors.
Lines lines(std::string_view text, std::string_view name = "x",
            const std::string& file = "a.cu") {
  const Parsed parsed = parse(text, file);
  CHECK(parsed.errors == "");
  for (const Region& region : parsed.regions) {
    if (region.name == name) return region_lines(file, text, region);
  }
  return {"(no such region)"};
}

}  // namespace

TEST_CASE("a region is what stands between its marks") {
  const std::string text = "a\n// snippet: x\nb\nc\n// end snippet\nd\n";
  const Parsed parsed = parse(text);
  REQUIRE(parsed.regions.size() == 1);
  const Region& region = parsed.regions[0];
  CHECK(region.name == "x");
  CHECK(region.first_line == 3);
  CHECK(region.last_line == 4);
  CHECK(text.substr(region.begin, region.end - region.begin) == "b\nc\n");
  CHECK(lines(text) == Lines{"b", "c"});
}

TEST_CASE("every comment family marks") {
  CHECK(lines("# snippet: x\nb\n# end snippet\n", "x", "a.py") == Lines{"b"});
  CHECK(lines("-- snippet: x\nb\n-- end snippet: x\n", "x", "a.lua") == Lines{"b"});
  CHECK(lines("; snippet: x\nb\n; end snippet\n", "x", "a.asm") == Lines{"b"});
  CHECK(lines("/* snippet: x */\nb\n/* end snippet */\n", "x", "a.css") == Lines{"b"});
  CHECK(lines("<!-- snippet: x -->\nb\n<!-- end snippet -->\n", "x", "a.html") ==
        Lines{"b"});
}

TEST_CASE("line endings, a byte-order mark and a missing last newline do not matter") {
  CHECK(lines("// snippet: x\r\nb\r\n// end snippet\r\n") == Lines{"b"});
  CHECK(lines("\xEF\xBB\xBF// snippet: x\nb\n// end snippet") == Lines{"b"});
}

TEST_CASE("a region may stand at the end of the file, be empty, or hold blank lines") {
  CHECK(lines("// snippet: x\nb\n\n\n// end snippet") == Lines{"b", "", ""});
  CHECK(lines("// snippet: x\n// end snippet\n").empty());
  const Parsed empty = parse("// snippet: x\n// end snippet\n");
  CHECK(empty.regions[0].first_line == 2);
  CHECK(empty.regions[0].last_line == 1);
}

TEST_CASE("regions nest, and the marks of inner ones are no part of the outer") {
  const std::string text =
      "// snippet: x\na\n  // snippet: y\n  b\n  // end snippet\nc\n// end snippet: "
      "x\n";
  CHECK(lines(text, "x") == Lines{"a", "  b", "c"});
  CHECK(lines(text, "y") == Lines{"  b"});
  CHECK(parse(text).regions[0].name == "x");
}

TEST_CASE("a mark counts only alone on its line, outside literals") {
  CHECK(parse("int i;  // snippet: x\nf(\"// snippet: y\");\n").regions.empty());
  CHECK(parse("s = R\"(\n// snippet: x\n)\";\n").errors == "");
  CHECK(lines("// snippet: x\ns = R\"(\n// end snippet\n)\";\n// end snippet\n") ==
        Lines{"s = R\"(", "// end snippet", ")\";"});
  CHECK(errors("// a snippet: x\n// end snippets\n/// snippet: x\n// Snippet: x\n") ==
        "");
}

TEST_CASE("region names") {
  for (const char* good : {"a", "int8-inner", "2-4", "prune-2to4"}) {
    CHECK(is_region_name(good));
  }
  for (const char* bad : {"", "-a", "a-", "a--b", "A", "a_b", "a b", "\xC3\xA9"}) {
    CHECK_FALSE(is_region_name(bad));
  }
}

TEST_CASE("a bad name is shown with what a good one is") {
  CHECK(errors("  // snippet: Int8_Inner\n// end snippet\n") ==
        "a.cu:1: 'Int8_Inner' names no region: use lower-case letters and digits, with "
        "single dashes between words\n"
        "    // snippet: Int8_Inner\n"
        "                ^\n");
  CHECK(errors("// snippet:\n// end snippet\n") ==
        "a.cu:1: '' names no region: use lower-case letters and digits, with single "
        "dashes between words\n"
        "  // snippet:\n"
        "     ^\n");
}

TEST_CASE("a name marked twice shows both places") {
  CHECK(errors("// snippet: x\n// end snippet\n\n// snippet: x\n// end snippet\n") ==
        "a.cu:4: region 'x' is marked twice: the first is at line 1; rename one\n"
        "  // snippet: x\n"
        "              ^\n");
  CHECK(errors("// snippet: x\n// snippet: x\n// end snippet\n// end snippet\n") ==
        "a.cu:2: region 'x' is marked twice: the first is at line 1; rename one\n"
        "  // snippet: x\n"
        "              ^\n");
}

TEST_CASE("an unclosed region shows the line that opened it") {
  CHECK(errors("a\n  // snippet: x\nb\n") ==
        "a.cu:2: region 'x' is opened here and never closed; add 'end snippet'\n"
        "    // snippet: x\n"
        "                ^\n");
}

TEST_CASE("an end without a region, or of another one, is an error") {
  CHECK(errors("// end snippet\n") ==
        "a.cu:1: this closes nothing: no region is open here\n"
        "  // end snippet\n"
        "     ^\n");
  CHECK(errors("// snippet: x\n// end snippet: y\n") ==
        "a.cu:2: no open region is called 'y'; the innermost is 'x' (line 1)\n"
        "  // end snippet: y\n"
        "                  ^\n");
  CHECK(errors("// snippet: x\n// snippet: y\n// end snippet: x\n") ==
        "a.cu:3: region 'x' cannot end inside 'y' (line 2); end that first\n"
        "  // end snippet: x\n"
        "                  ^\n");
}

TEST_CASE("all errors of a file are reported") {
  CHECK(errors("// end snippet\n// snippet: X\n// snippet: y\n") ==
        "a.cu:1: this closes nothing: no region is open here\n"
        "  // end snippet\n"
        "     ^\n"
        "a.cu:2: 'X' names no region: use lower-case letters and digits, with single "
        "dashes between words\n"
        "  // snippet: X\n"
        "              ^\n"
        "a.cu:2: region 'X' is opened here and never closed; add 'end snippet'\n"
        "  // snippet: X\n"
        "              ^\n"
        "a.cu:3: region 'y' is opened here and never closed; add 'end snippet'\n"
        "  // snippet: y\n"
        "              ^\n");
}
