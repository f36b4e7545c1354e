#include "pulls.h"

#include <doctest/doctest.h>

#include "test_support.h"

using namespace snippet;

namespace {

struct Parsed {
  std::vector<Pull> pulls;
  std::string errors;
};

Parsed parse(std::string_view text, const std::string& file = "a.md") {
  std::vector<common::Diagnostic> errors;
  std::vector<Pull> pulls = parse_pulls(file, text, errors);
  return {std::move(pulls), text_of(errors)};
}

std::string errors(std::string_view text, const std::string& file = "a.md") {
  return parse(text, file).errors;
}

// "FILE#NAME[what the tool owns]" for each directive of a text without errors.
std::string owned(std::string_view text, const std::string& file = "a.md") {
  const Parsed parsed = parse(text, file);
  CHECK(parsed.errors == "");
  std::string all;
  for (const Pull& pull : parsed.pulls) {
    all += pull.address() + "[" +
           std::string(text.substr(pull.begin, pull.end - pull.begin)) + "]";
  }
  return all;
}

}  // namespace

TEST_CASE("a block is owned from the line after its directive to the line of its end") {
  CHECK(owned("a\n<!-- pull: s.cu#x -->\nb\n<!-- end pull -->\nc\n") == "s.cu#x[b\n]");
  CHECK(owned("<!--pull:s.cu#x-->\n<!--end pull-->") == "s.cu#x[]");
  CHECK(owned("  // pull: s.cu#x\n  b\n  // end pull\n", "a.cu") == "s.cu#x[  b\n]");
  CHECK(owned("# pull: s.cu#x\nb\n# end pull\n", "a.py") == "s.cu#x[b\n]");
}

TEST_CASE("a block takes prefix and ending from its directive") {
  const Parsed quoted = parse("> - <!-- pull: s.cu#x -->\r\n>   <!-- end pull -->\r\n");
  REQUIRE(quoted.pulls.size() == 1);
  CHECK(quoted.errors == "");
  CHECK(quoted.pulls[0].prefix == ">   ");
  CHECK(quoted.pulls[0].ending == "\r\n");
  CHECK(quoted.pulls[0].line == 1);
  CHECK(quoted.pulls[0].column == 16);
}

TEST_CASE("figures are pulled inside sentences, several in one line") {
  CHECK(owned("is <!-- pull: t.txt#a / b -->1<!-- end pull --> and <!-- pull: t.txt#c "
              "-->2<!-- end pull -->.\n") == "t.txt#a / b[1]t.txt#c[2]");
  CHECK(owned("| <!-- pull: t.txt#a -->1<!-- end pull --> |\n") == "t.txt#a[1]");
  CHECK(owned("- item\n      deep <!-- pull: t.txt#a --><!-- end pull -->") ==
        "t.txt#a[]");
}

TEST_CASE("a directive inside code is text") {
  CHECK(owned("```\n<!-- pull: s.cu#x -->\n```\n") == "");
  CHECK(owned("~~~\n<!-- pull: s.cu#x -->\n<!-- end pull -->\n~~~\n") == "");
  CHECK(owned("> ```\n> <!-- pull: s.cu#x -->\n> ```\n") == "");
  CHECK(owned("a\n\n    <!-- pull: s.cu#x -->\n") == "");
  CHECK(owned("write `<!-- pull: s.cu#x -->` and ``<!-- end pull -->``\n") == "");
  CHECK(owned("write \\<!-- pull: s.cu#x -->\n") == "");
  CHECK(owned("`` ` <!-- pull: s.cu#x --> ``\n") == "");
  // A lone backtick opens no code span.
  CHECK(owned("` <!-- pull: t.txt#x -->1<!-- end pull -->\n") == "t.txt#x[1]");
}

TEST_CASE("in a source, a directive inside a raw string literal is text") {
  CHECK(owned("s = R\"(\n// pull: s.cu#x\n// end pull\n)\";\n", "a.cu") == "");
  CHECK(owned("// pull: s.cu#x\ns = R\"(\n// end pull\n)\";\n// end pull\n", "a.cu") ==
        "s.cu#x[s = R\"(\n// end pull\n)\";\n]");
}

TEST_CASE("what stands in a block may look like its end, if it is in the fence") {
  CHECK(
      owned(
          "<!-- pull: s.cu#x -->\n```\n<!-- end pull -->\n```\n<!-- end pull -->\n") ==
      "s.cu#x[```\n<!-- end pull -->\n```\n]");
}

TEST_CASE("other comments are no directives") {
  CHECK(owned("<!-- pulling: a -->\n<!-- a pull: s.cu#x -->\n<!-- pull s.cu#x -->\n") ==
        "");
}

TEST_CASE("a directive that names nothing") {
  CHECK(errors("<!-- pull: s.cu -->\n<!-- end pull -->\n") ==
        "a.md:1: a directive reads 'pull: FILE#NAME'\n"
        "  <!-- pull: s.cu -->\n"
        "             ^\n");
  CHECK(errors("<!-- pull: -->\n<!-- end pull -->\n") ==
        "a.md:1: a directive reads 'pull: FILE#NAME'\n"
        "  <!-- pull: -->\n"
        "            ^\n");
  CHECK(errors("  // pull: #x\n  // end pull\n", "a.cu") ==
        "a.cu:1: a directive reads 'pull: FILE#NAME'\n"
        "    // pull: #x\n"
        "             ^\n");
}

TEST_CASE("a directive that leaves the repository") {
  CHECK(errors("<!-- pull: ../s.cu#x -->\n<!-- end pull -->\n") ==
        "a.md:1: '../s.cu' is not below the repository's root; name it from there\n"
        "  <!-- pull: ../s.cu#x -->\n"
        "             ^\n");
  CHECK(errors("<!-- pull: /s.cu#x -->\n<!-- end pull -->\n") ==
        "a.md:1: '/s.cu' is not below the repository's root; name it from there\n"
        "  <!-- pull: /s.cu#x -->\n"
        "             ^\n");
}

TEST_CASE("a pull that is never ended, and an end of nothing") {
  CHECK(errors("<!-- pull: s.cu#x -->\na\n") ==
        "a.md:1: this pull is never ended; add the 'end pull' line\n"
        "  <!-- pull: s.cu#x -->\n"
        "             ^\n");
  CHECK(errors("a\n<!-- end pull -->\n") ==
        "a.md:2: this ends nothing: no pull is open here\n"
        "  <!-- end pull -->\n"
        "  ^\n");
  CHECK(errors("// end pull\n", "a.cu") ==
        "a.cu:1: this ends nothing: no pull is open here\n"
        "  // end pull\n"
        "     ^\n");
}

TEST_CASE("a pull inside another") {
  CHECK(errors("<!-- pull: s.cu#x -->\n<!-- pull: s.cu#y -->\n<!-- end pull -->\n") ==
        "a.md:2: the pull of line 1 is not ended yet; end it before the next one\n"
        "  <!-- pull: s.cu#y -->\n"
        "            ^\n");
}

TEST_CASE("a comment that goes on over its line") {
  CHECK(errors("<!-- pull: s.cu#x\n-->\n") ==
        "a.md:1: a directive's comment closes on its own line\n"
        "  <!-- pull: s.cu#x\n"
        "  ^\n");
  CHECK(errors("<!-- pull: s.cu#x -->\n<!-- end pull") ==
        "a.md:2: a directive's comment closes on its own line\n"
        "  <!-- end pull\n"
        "  ^\n"
        "a.md:1: this pull is never ended; add the 'end pull' line\n"
        "  <!-- pull: s.cu#x -->\n"
        "             ^\n");
}

TEST_CASE("a figure's end must be on its line, and its line must be a sentence") {
  CHECK(errors("is <!-- pull: t.txt#a -->\n1<!-- end pull -->\n") ==
        "a.md:1: a pull inside a sentence needs its '<!-- end pull -->' on the same "
        "line\n"
        "  is <!-- pull: t.txt#a -->\n"
        "     ^\n"
        "a.md:2: this ends nothing: no pull is open here\n"
        "  1<!-- end pull -->\n"
        "   ^\n");
  CHECK(errors("<!-- pull: t.txt#a -->1<!-- end pull --> is it\n") ==
        "a.md:1: a line of Markdown that begins with a comment is no sentence; put a "
        "word before the pull\n"
        "  <!-- pull: t.txt#a -->1<!-- end pull --> is it\n"
        "  ^\n");
}

TEST_CASE("a block that stands too deep") {
  CHECK(errors("a\n    <!-- pull: s.cu#x -->\n") ==
        "a.md:2: a block cannot stand so deep in a paragraph; put a blank line before "
        "it, or indent it less\n"
        "      <!-- pull: s.cu#x -->\n"
        "      ^\n");
}

TEST_CASE("all errors of a document are reported") {
  const Parsed parsed = parse(
      "<!-- pull: a -->\n<!-- end pull -->\n<!-- end pull -->\n"
      "<!-- pull: s.cu#x -->\n<!-- end pull -->\n");
  CHECK(parsed.errors ==
        "a.md:1: a directive reads 'pull: FILE#NAME'\n"
        "  <!-- pull: a -->\n"
        "             ^\n"
        "a.md:3: this ends nothing: no pull is open here\n"
        "  <!-- end pull -->\n"
        "  ^\n");
  CHECK(parsed.pulls.size() == 1);
}
