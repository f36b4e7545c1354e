#include "decimal.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <rapidcheck.h>

#include <cmath>
#include <limits>

using namespace transcript;

TEST_CASE("a real number agrees within one unit of its last printed place") {
  CHECK(within_last_place("0.016", "0.016"));
  CHECK(within_last_place("0.016", "0.017"));
  CHECK(within_last_place("0.016", "0.015"));
  CHECK_FALSE(within_last_place("0.016", "0.018"));
  CHECK_FALSE(within_last_place("0.016", "0.014"));
  CHECK_FALSE(within_last_place("0.016", "-0.016"));
  CHECK(within_last_place("1.907e-05", "1.908e-05"));
  CHECK_FALSE(within_last_place("1.907e-05", "1.909e-05"));
  CHECK_FALSE(within_last_place("1.907e-05", "1.907e-04"));
}

TEST_CASE("units carry over digits and exponents") {
  CHECK(within_last_place("9.999e-01", "1.000e+00"));
  CHECK(within_last_place("1.000e+00", "9.990e-01"));
  CHECK_FALSE(within_last_place("1.000e+00", "9.989e-01"));
  CHECK(within_last_place("0.99", "1.00"));
  CHECK_FALSE(within_last_place("0.99", "1.01"));
  CHECK(within_last_place("-0.5", "-0.6"));
  CHECK(within_last_place("0.0005", "0.00051"));
}

TEST_CASE("the recorded form's places count, not the actual one's") {
  CHECK(within_last_place("0.02", "0.0299999"));
  CHECK(within_last_place("0.02", "0.03"));
  CHECK_FALSE(within_last_place("0.02", "0.030000000000000000000000000001"));
  CHECK(within_last_place("0.02", "0.01"));
  CHECK_FALSE(within_last_place("0.02", "0.00999999999999999999999"));
  CHECK_FALSE(within_last_place("0.0160", "0.017"));
  CHECK(within_last_place("0.016", "0.0160"));
  CHECK_FALSE(within_last_place("1.5", "2"));
  CHECK(within_last_place("1e5", "2e5"));
}

TEST_CASE("zero has a sign and places, too") {
  CHECK(within_last_place("0.000", "-0.000"));
  CHECK(within_last_place("0.000", "0.001"));
  CHECK(within_last_place("0.000", "-0.001"));
  CHECK_FALSE(within_last_place("0.000", "0.00100000001"));
  CHECK_FALSE(within_last_place("0.000", "0.002"));
  CHECK(within_last_place("0.000", "1e-300"));
  CHECK(within_last_place("0.001", "0.000"));
  CHECK(within_last_place("0.001", "-0.0"));
  CHECK_FALSE(within_last_place("0.002", "0.000"));
  CHECK(within_last_place("0.001", "-0"));
  CHECK_FALSE(within_last_place("0.001", "-0.001"));
  CHECK(within_last_place("0.0", "0e-999999999999"));
}

TEST_CASE("any length and any exponent, without rounding") {
  const std::string nines(1'000'000, '9');
  CHECK(within_last_place("0." + nines, "1.0"));
  CHECK_FALSE(within_last_place("0." + nines, "1." + std::string(999'999, '0') + "1"));
  CHECK(within_last_place("1" + nines + ".0", "1" + nines + ".1"));
  CHECK_FALSE(within_last_place("1" + nines + ".0", "1" + nines + ".2"));
  CHECK(within_last_place("1e999999999999", "1"));  // a unit is 1e999999999999
  CHECK_FALSE(within_last_place("1.0e999999999999", "1"));
  CHECK(within_last_place("1e999999999999", "2e999999999999"));
  CHECK_FALSE(within_last_place("1.0", "1e999999999999999999999999"));
  CHECK_FALSE(within_last_place("1.0", "1e-999999999999999999999999"));
  CHECK(within_last_place("0.1", "1e-999999999999999999999999"));
  // Where doubles cannot tell: 2^53 and its neighbour.
  CHECK(within_last_place("9007199254740992.0", "9007199254740992.1"));
  CHECK_FALSE(within_last_place("9007199254740992.0", "9007199254740993.0"));
}

TEST_CASE("the last place is exact for random decimals") {
  CHECK(rc::check("units of the last place", [] {
    const auto value = *rc::gen::inRange<long>(-1'000'000, 1'000'000);
    const auto units = *rc::gen::inRange<long>(-5, 6);
    const auto places = *rc::gen::inRange(0, 9);
    const auto exponent = *rc::gen::inRange(-20, 20);
    const auto print = [&](long digits) {
      std::string text = std::to_string(std::labs(digits));
      if (text.size() <= static_cast<std::size_t>(places)) {
        text.insert(0, static_cast<std::size_t>(places) + 1 - text.size(), '0');
      }
      if (places > 0) text.insert(text.size() - static_cast<std::size_t>(places), ".");
      return (digits < 0 ? "-" : "") + text + fmt::format("e{:+03}", exponent);
    };
    RC_ASSERT(within_last_place(print(value), print(value + units)) ==
              (std::labs(units) <= 1));
  }));
}

TEST_CASE("rel and abs: whichever allows more") {
  CHECK(within("100.0", "101.0", 0.01, 0));
  CHECK_FALSE(within("100.0", "101.1", 0.01, 0));
  CHECK(within("0.0", "1e-7", 0.01, 1e-6));
  CHECK_FALSE(within("0.0", "1e-5", 0.01, 1e-6));
  CHECK(within("-2", "-1", 0, 1));
  CHECK_FALSE(within("1", "-1", 0.5, 0.5));
}

TEST_CASE("nothing tolerates NaN, infinity or what double cannot hold") {
  for (const char* odd : {"nan", "inf", "-inf", "1e400", "-1e400"}) {
    CHECK_FALSE(within("1.0", odd, 1e300, 1e300));
    CHECK_FALSE(within(odd, "1.0", 1e300, 1e300));
    CHECK_FALSE(within(odd, odd, 1e300, 1e300));
  }
}

TEST_CASE("text becomes the nearest double") {
  CHECK(to_double("+1.5") == 1.5);
  CHECK(to_double("-128") == -128);
  CHECK(to_double("1e400") == std::numeric_limits<double>::infinity());
  CHECK(to_double("-1e-400") == 0);
  CHECK(std::isnan(to_double("-nan")));
  CHECK(to_double("-inf") == -std::numeric_limits<double>::infinity());
}

TEST_CASE("the last place reads as the number does") {
  CHECK(last_place("0.016") == "0.001");
  CHECK(last_place("1.907e-05") == "1e-08");
  CHECK(last_place("12") == "1");
  CHECK(last_place("1.5e+10") == "1e+09");
  CHECK(last_place("1e5") == "1e+05");
}

TEST_CASE("signs, zeros and specials are read off the text") {
  CHECK(is_zero("-0.000"));
  CHECK(is_zero("0e5"));
  CHECK_FALSE(is_zero("0.001"));
  CHECK(is_nan("-NaN"));
  CHECK(is_infinite("+Infinity"));
  CHECK(is_negative("-0"));
}
