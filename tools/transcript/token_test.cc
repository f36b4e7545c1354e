#include "token.h"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <string>

using namespace transcript;

namespace {

/// Tokens as text, numbers marked by their kind: i1 r0.5 s for NaN and infinity; "_" is
/// white space between tokens.
std::string shape(const std::string& line) {
  std::string text;
  Tokens tokens(line);
  for (Token token; tokens.next(token);) {
    if (token.spaced) text += "_";
    const char* marks[] = {"t", "i", "r", "s"};
    text += marks[static_cast<int>(token.kind)];
    text += "<" + std::string(token.in(line)) + ">";
  }
  return text;
}

}  // namespace

TEST_CASE("numbers stand apart from words and units") {
  CHECK(shape("a scale 7.874e-03,") == "t<a>_t<scale>_r<7.874e-03>t<,>");
  CHECK(shape("40.45x; 64% 0.2772 ms") == "r<40.45>t<x;>_i<64>t<%>_r<0.2772>_t<ms>");
  CHECK(shape("256x256x256,") == "i<256>t<x>i<256>t<x>i<256>t<,>");
  CHECK(shape("1.5x2.5") == "r<1.5>t<x>r<2.5>");
  CHECK(shape("4*K*amax/127") == "i<4>t<*K*amax/>i<127>");
  CHECK(shape("2:4 (2048)") == "i<2>t<:>i<4>_t<(>i<2048>t<)>");
  CHECK(shape("|got-ref| <= 1e-3*|ref|") == "t<|got-ref|>_t<<=>_r<1e-3>t<*|ref|>");
}

TEST_CASE("digits inside identifiers, versions and hexadecimal are text") {
  for (const char* text : {"sm_75", "int8", "e4m3/e5m2", "B2", "1.2.3", "13.0.88-a",
                           "0x1F", "0x1.8p3", "a1.5", "_1"}) {
    CHECK(shape(text) == "t<" + std::string(text) + ">");
  }
  CHECK(shape("f32 per 32") == "t<f32>_t<per>_i<32>");
}

TEST_CASE("signs belong to numbers where nothing else claims them") {
  CHECK(shape("-128 +0.5 x-5 3-4 (a)-1") ==
        "i<-128>_r<+0.5>_t<x->i<5>_i<3>t<->i<4>_t<(a)->i<1>");
  CHECK(shape("a=-1.5 (-2)") == "t<a=>r<-1.5>_t<(>i<-2>t<)>");
  CHECK(shape("2026-01-31") == "i<2026>t<->i<01>t<->i<31>");
  CHECK(shape("- + -- .") == "t<->_t<+>_t<-->_t<.>");
}

TEST_CASE("points and exponents need digits") {
  CHECK(shape("3. .5 5.e 1e 1e+ 1E5 0.5e-3x") ==
        "i<3>t<.>_r<.5>_i<5>t<.e>_i<1>t<e>_i<1>t<e+>_r<1E5>_r<0.5e-3>t<x>");
  CHECK(shape("1.5.") == "r<1.5>t<.>");
  CHECK(shape("...5") == "t<...>i<5>");
}

TEST_CASE("NaN and infinity are numbers when they are whole words") {
  CHECK(shape("nan -NaN inf +Infinity") == "s<nan>_s<-NaN>_s<inf>_s<+Infinity>");
  CHECK(shape("banana info nan_ nan0 x=nan,") ==
        "t<banana>_t<info>_t<nan_>_t<nan0>_t<x=>s<nan>t<,>");
}

TEST_CASE("tokens cover a line but for its white space, in order") {
  CHECK(rc::check("any bytes", [](const std::string& bytes) {
    std::string line = bytes;
    for (char& c : line) {
      if (c == '\n') c = ' ';
    }
    std::uint32_t at = 0;
    Tokens tokens(line);
    for (Token token; tokens.next(token);) {
      RC_ASSERT(token.begin < token.end);
      RC_ASSERT(token.spaced == (token.begin > at && at > 0));
      for (; at < token.begin; ++at)
        RC_ASSERT(std::isspace(static_cast<unsigned char>(line[at])));
      for (; at < token.end; ++at)
        RC_ASSERT(!std::isspace(static_cast<unsigned char>(line[at])));
    }
    for (; at < line.size(); ++at)
      RC_ASSERT(std::isspace(static_cast<unsigned char>(line[at])));
  }));
}
