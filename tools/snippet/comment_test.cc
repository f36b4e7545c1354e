#include "comment.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "lines.h"

using namespace snippet;

namespace {

std::string text(std::string_view line) {
  const auto comment = whole_line_comment(line);
  return comment ? std::string(comment->text) : "(none)";
}

// The texts of the whole-line comments of a file.
std::vector<std::string> comments(std::string_view file, std::string_view source) {
  std::vector<std::string> found;
  CommentScanner scanner(file);
  LineReader reader(source);
  for (Line line; reader.next(line);) {
    if (const auto comment = scanner.next(line.text)) found.emplace_back(comment->text);
  }
  return found;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("every comment family is known") {
  CHECK(text("// a b") == "a b");
  CHECK(text("\t# a") == "a");
  CHECK(text("--a") == "a");
  CHECK(text("; a ") == "a");
  CHECK(text("  /* a */ ") == "a");
  CHECK(text("<!-- a -->") == "a");
  CHECK(text("//").empty());
}

TEST_CASE("a comment fills its line or is none") {
  CHECK(text("int i;  // a") == "(none)");
  CHECK(text("/* a */ int i;") == "(none)");
  CHECK(text("/* a */ /* b */") == "(none)");
  CHECK(text("/* a") == "(none)");
  CHECK(text("/* x") == "(none)");
  CHECK(text("<!-- a") == "(none)");
  CHECK(text("<!-- xy") == "(none)");
  CHECK(text("\"// a\"") == "(none)");
  CHECK(text("") == "(none)");
}

TEST_CASE("a comment knows its indentation and its column") {
  const auto comment = whole_line_comment("\t // a");
  REQUIRE(comment);
  CHECK(comment->indent == "\t ");
  CHECK(comment->column == 6);
}

TEST_CASE("inside a raw string literal nothing is a comment") {
  CHECK(comments("a.cc", "// 1\nauto s = R\"(\n// 2\n)\";\n// 3\n") == Texts{"1", "3"});
  CHECK(comments("a.cu", "f(u8R\"x(\n// 1\n)\"\n// 2\n)x\");\n// 3\n") == Texts{"3"});
  CHECK(comments("a.h", "R\"(a)\" \"b\" R\"(\n// 1\n)\"\n// 2") == Texts{"2"});
  // Other languages have none.
  CHECK(comments("a.py", "x = R\"(\n# 1\n") == Texts{"1"});
}

TEST_CASE("inside a comment of several lines nothing is a comment") {
  CHECK(comments("a.cu", "/* a\n// 1\n*/\n// 2\n") == Texts{"2"});
  CHECK(comments("a.cu", "int i; /* a\n// 1\n*/ int j; /* b */\n// 2\n") == Texts{"2"});
}

TEST_CASE("what only looks like the start of a literal or comment is none") {
  CHECK(comments("a.cc", "// R\"(\n// 1\n") == Texts{"R\"(", "1"});
  CHECK(comments("a.cc", "\"R\\\"( /*\";\n// 1\n") == Texts{"1"});
  CHECK(comments("a.cc", "'\"'; /* a */ '\"'; x = 1'000; /**/\n// 1\n") == Texts{"1"});
  CHECK(comments("a.cc", "VAR\"(a\" /**/;\n// 1\n") == Texts{"1"});
  CHECK(comments("a.cc", "a // /*\n// 1\n") == Texts{"1"});
  CHECK(comments("a.cc", "R\"x\n// 1\n") == Texts{"1"});
  CHECK(comments("a.cc", "char c = '\\'; /*\n// 1\n") == Texts{"1"});
}
