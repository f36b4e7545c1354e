#include "text.h"

#include <doctest/doctest.h>

using namespace transcript;

TEST_CASE("white space folds") {
  CHECK(fold(" \ta  b\t \n c ") == "a b c");
  CHECK(fold(" \n") == "");
  CHECK(same_folded("a  b", "a\tb"));
  CHECK_FALSE(same_folded("a b", "ab"));
  CHECK_FALSE(same_folded("a ", "a"));
}

TEST_CASE("what leaves no mark, or commands a terminal, is spelled out") {
  CHECK(printable("a\xC2\xA0z") == "a<U+00A0>z");
  CHECK(printable("a\xE2\x80\x8Bz") == "a<U+200B>z");
  CHECK(printable("\xEF\xBB\xBFz") == "<U+FEFF>z");
  CHECK(printable("a\xC2\x9Bz") == "a<U+009B>z");
  CHECK(printable("\x1B[31m\x7F\tz") == "\\x1B[31m\\x7F z");
  CHECK(printable("in\xFF"
                  "8 \xC3") == "in\\xFF8 \\xC3");
  CHECK(printable("\xE2\x80\xAEz") == "<U+202E>z");
  CHECK(printable("×10⁻³ ü") == "×10⁻³ ü");
  CHECK(printable("abcdef", 3) == "abc...");
}

TEST_CASE("invalid UTF-8 is found, wherever it stands") {
  CHECK(invalid_utf8("plain text, longer than a word; ü × 😀") == std::string::npos);
  CHECK(invalid_utf8("12345678901\xFF") == 11);
  CHECK(invalid_utf8("\xC0\x80") == 0);          // longer than needed
  CHECK(invalid_utf8("a\xED\xA0\x80") == 1);     // half of a pair
  CHECK(invalid_utf8("\xF4\x90\x80\x80") == 0);  // beyond the last character
  CHECK(invalid_utf8("\xE2\x82") == 0);
}

TEST_CASE("the last lines of what a program said") {
  CHECK(last_lines("a\nb\n", 100) == "a\nb\n");
  CHECK(last_lines("aaaa\nbb\ncc\n", 5) == "...\ncc\n");
  CHECK(last_lines("\n", 5) == "");
}
