#include "text.h"

#include <doctest/doctest.h>

using transcript::clean;
using transcript::fold;
using transcript::printable;
using Notes = std::vector<std::string>;

namespace {

/// What clean() makes of `bytes`, and what it notes.
std::pair<std::string, Notes> cleaned(std::string bytes) {
  Notes notes;
  std::string text = clean(std::move(bytes), notes);
  return {text, notes};
}

}  // namespace

TEST_CASE("plain text is left alone") {
  CHECK(cleaned("a 1\n\xC3\xA9\n") ==
        std::pair{std::string("a 1\n\xC3\xA9\n"), Notes{}});
  CHECK(cleaned("") == std::pair{std::string(), Notes{}});
}

TEST_CASE("escape sequences go, with a note") {
  const Notes note{"ANSI escapes stripped"};
  CHECK(cleaned("\x1B[31mred\x1B[0m 1\n") == std::pair{std::string("red 1\n"), note});
  CHECK(cleaned("\x1B]0;title\x07x\n") == std::pair{std::string("x\n"), note});
  CHECK(cleaned("\x1B]8;;http://a\x1B\\x\n") == std::pair{std::string("x\n"), note});
  CHECK(cleaned("\x1B(Bx\x1B=y\n") == std::pair{std::string("xy\n"), note});
  // One that never ends takes its line, no more.
  CHECK(cleaned("a\x1B]0;b\nc\n") == std::pair{std::string("a\nc\n"), note});
  CHECK(cleaned("a\x1B[1;\nc\n") == std::pair{std::string("a\nc\n"), note});
  CHECK(cleaned("a\x1B\n") == std::pair{std::string("a\n"), note});
  CHECK(cleaned("\x1B[1m") == std::pair{std::string(), note});
}

TEST_CASE("line endings are made LF, a lone carriage return is white space") {
  CHECK(cleaned("a\r\nb\r\n") ==
        std::pair{std::string("a\nb\n"), Notes{"CRLF line endings"}});
  CHECK(cleaned("a\rb\n") == std::pair{std::string("a\rb\n"), Notes{}});
  CHECK(fold("a\rb") == "a b");
}

TEST_CASE("oddities are noted, not mended") {
  CHECK(cleaned("a") == std::pair{std::string("a"), Notes{"no newline at the end"}});
  CHECK(cleaned(std::string("a\0\n", 3)) ==
        std::pair{std::string("a\0\n", 3), Notes{"NUL bytes"}});
  for (const std::string bad : {"\xFF", "\xC3", "\xC0\x80", "\xED\xA0\x80", "\xE2\x82",
                                "\xF4\x90\x80\x80", "\x80"}) {
    const std::string text = "12345678 " + bad + "\n";
    CHECK(cleaned(text) == std::pair{text, Notes{"invalid UTF-8 (first at byte 9)"}});
  }
  CHECK(cleaned("\xF0\x9F\x98\x80 \xE2\x82\xAC \xED\x9F\xBF\n").second.empty());
}

TEST_CASE("white space folds to single spaces") {
  CHECK(fold("  a \t\v\f b\r") == "a b");
  CHECK(fold(" \t ") == "");
}

TEST_CASE("nothing that is printed can drive the terminal") {
  CHECK(printable("a\x1B[2Jb\xFF\t\x7F") == "a\\x1B[2Jb\\xFF \\x7F");
  CHECK(printable("\xC3\xA9") == "\xC3\xA9");
  CHECK(printable("abcdef", 3) == "abc...");
}

TEST_CASE("of a long text the last lines are shown, each on its own") {
  CHECK(transcript::last_lines("a\n\x1B b\n", 100) == "a\n\\x1B b\n");
  CHECK(transcript::last_lines("one\ntwo\nthree\n", 9) == "...\nthree\n");
  CHECK(transcript::last_lines("abcdef", 3) == "...\ndef\n");
  CHECK(transcript::last_lines("", 9) == "");
}
