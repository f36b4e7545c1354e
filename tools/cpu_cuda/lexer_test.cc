#include "lexer.h"

#include <doctest/doctest.h>

#include <string>

namespace {

// Tokens with a space between them; a boundary shows as |.
std::string tokens(std::string_view source) {
  std::string out;
  for (const cpu_cuda::Token& each : cpu_cuda::lex(source)) {
    if (!out.empty()) out += ' ';
    out += each.kind == cpu_cuda::Token::Kind::boundary ? "|" : std::string(each.text);
  }
  return out;
}

}  // namespace

TEST_CASE("words, numbers and punctuation") {
  CHECK(tokens("a<<b1;") == "a < < b1 ;");
  CHECK(tokens("x=1'000'000+0x1p-3-1.5e+7f+.5;") ==
        "x = 1'000'000 + 0x1p-3 - 1.5e+7f + .5 ;");
  CHECK(tokens("s[1]'a'") == "s [ 1 ] 'a'");
  CHECK(tokens("größe = 2") == "größe = 2");
}

TEST_CASE("comments are no tokens") {
  CHECK(tokens("a // <<< \n b /* <<< \n */ c") == "a b c");
  CHECK(tokens("a // goes on \\\n <<< \n b") == "a b");
  CHECK(tokens("a // goes on \\\r\n <<< \r\n b") == "a b");
  CHECK(tokens("a /* never ends <<<") == "a");
}

TEST_CASE("literals hold anything") {
  CHECK(tokens(R"(f("a \" <<<", '"', '\'', L"<"))") ==
        R"(f ( "a \" <<<" , '"' , '\'' , L "<" ))");
  CHECK(tokens("R\"(a\" <<<\n)\" x") == "R\"(a\" <<<\n)\" x");
  CHECK(tokens("u8R\"x(a)\")x\" x") == "u8R\"x(a)\")x\" x");
  CHECK(tokens("FOUR\"(\" x") == "FOUR \"(\" x");
  CHECK(tokens("\"two \\\n lines\" x") == "\"two \\\n lines\" x");
  CHECK(tokens("\"two \\\r\n lines\" x") == "\"two \\\r\n lines\" x");
  CHECK(tokens("\"unterminated\nx") == "\"unterminated x");
  CHECK(tokens("\"ends in backslash\\") == "\"ends in backslash\\");
}

TEST_CASE("directives are no tokens, but the text of a #define is") {
  CHECK(tokens("#include <a>\nx") == "x");
  CHECK(tokens("#error don't <<<\nx") == "x");
  CHECK(tokens("  # pragma one \\\n two\nx") == "x");
  CHECK(tokens("#if 1 /* <<<\n */ // \"\nx") == "x");
  CHECK(tokens("#define A b \\\n c\nx") == "| A b c | x");
  CHECK(tokens("#define A") == "| A");
  CHECK(tokens("#undef A\nx # y") == "x # y");
}
