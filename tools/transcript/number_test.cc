#include "number.h"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <cmath>
#include <vector>

#include "judge.h"
#include "rules.h"

using namespace transcript;
using Kind = Number::Kind;

namespace {

std::string found(const std::string& line) {
  std::string all;
  Numbers numbers(line);
  for (Number number; numbers.next(number);) {
    all += (all.empty() ? "" : " ") + std::string(number.in(line));
    all += number.kind == Kind::integer ? "i" : number.kind == Kind::real ? "r" : "s";
  }
  return all;
}

bool same(const std::string& recorded, const std::string& actual,
          const Tolerance& tolerance = {}) {
  const Judgement judgement = judge(recorded, actual, tolerance);
  return judgement.same_text && judgement.disagreements.empty();
}

const Tolerance kFifth{Tolerance::Kind::bound, 0.2, 0};

}  // namespace

TEST_CASE("a number is found in every written form, whole") {
  const std::vector<std::pair<const char*, const char*>> forms = {
      {"65", "65i"},
      {"65.", "65.i"},
      {"there are 65.", "65.i"},
      {"65.0", "65.0r"},
      {".5", ".5r"},
      {"-.5", "-.5r"},
      {"x 1.e-05", "1.e-05r"},
      {"1E-5", "1E-5r"},
      {"1.0D+10", "1.0D+10r"},
      {"1d+3", "1d+3r"},
      {"1.e+00", "1.e+00r"},
      {"1.234-100", "1.234-100r"},
      {"2.0*10^10", "2.0*10^10r"},
      {"2 * 10^-3 m", "2 * 10^-3r"},
      {"2.0×10⁻³", "2.0×10⁻³r"},
      {"2.0 · 10⁸", "2.0 · 10⁸r"},
      {"4*10 rows", "4i 10i"},
      {"1,001", "1,001i"},
      {"1,234,567.5", "1,234,567.5r"},
      {"1,2", "1i 2i"},
      {"12,3456", "12i 3456i"},
      {"40.45x", "40.45r"},
      {"64%", "64i"},
      {"0.2772 ms", "0.2772r"},
      {"0.25ms", "0.25r"},
      {"256x256x256", "256i 256i 256i"},
      {"case 61x45x77, max", "61i 45i 77i"},
      {"0:00:03", "0i 00i 03i"},
      {"2:4 pruned", "2i 4i"},
      {"2^-60", "2i -60i"},
      {"2026-11-30", "2026i 11i 30i"},
      {"1.5e3ms", "1.5e3r"},
      {"nan -nan NaN", "nans -nans NaNs"},
      {"-inf, Infinity", "-infs Infinitys"},
      {"K=127 [3,4)", "127i 3i 4i"},
      {"max|B[:,6]|/127", "6i 127i"},
      {"±0.5 ≤3", "0.5r 3i"},
      {"5...6", "5i 6i"},
      // Text.
      {"sm_75 m16n8k32 e4m3/e5m2", ""},
      {"commit 7e3fa", ""},
      {"12ab34 75_x", ""},
      {"0x1F 0x256", ""},
      {"version 1.2.3 or v1.2", ""},
      {"3.md", ""},
      {"info nano infinite nanosecond", ""},
      {"5nan", "5i"},
      {"- + . .. x", ""},
      {"", ""},
  };
  for (const auto& [line, numbers] : forms) {
    INFO(line);
    CHECK(found(line) == numbers);
  }
}

TEST_CASE("an exponent is part of its number, never compared alone") {
  const std::vector<std::pair<const char*, const char*>> differ = {
      {"x 1.e-05", "x 1.e-06"},
      {"1.0D+10", "1.0D+11"},
      {"1.e+00", "1.e+01"},
      {"1.234-100", "1.234-101"},
      {"2.0*10^10", "2.0*10^11"},
      {"2.0×10⁻³", "2.0×10⁻²"},
      {"commit 7e3fa", "commit 8e3fa"},
      {"1E-5", "1E-6"},
      {"1,001", "2,001"},
      {"sm_75", "sm_80"},
      {"nan", "1"},
      {"1", "nan"},
      {"inf", "-inf"},
      {"inf", "1e300"},
      {"1e300", "inf"},
      {"inf", "nan"},
      {"0x1F", "0x1E"},
      {"1.5 ms", "1.5 s"},
  };
  for (const auto& [recorded, actual] : differ) {
    INFO(recorded, " ", actual);
    CHECK_FALSE(same(recorded, actual, kFifth));
    CHECK_FALSE(same(actual, recorded, kFifth));
    CHECK(same(recorded, recorded, kFifth));
  }
}

TEST_CASE("one value in several forms is equal, both ways round") {
  const std::vector<std::pair<const char*, const char*>> equal = {
      {"65.", "65"},        {"65", "65.0"},
      {"65.", "65.0"},      {"1e3", "1000"},
      {"1,001", "1001"},    {"2.0×10⁻³", "0.0020"},
      {"2.0*10^3", "2000"}, {"1.0D+10", "1.0e10"},
      {"nan", "-nan"},      {"-0", "0"},
      {"-0.000", "0.000"},  {"+5", "5"},
      {"Inf", "inf"},       {"1.500-100", "1.5e-100"},
      {"0e5", "0"},
  };
  for (const auto& [one, other] : equal) {
    INFO(one, " ", other);
    CHECK(same(one, other));
    CHECK(same(other, one));
  }
  CHECK(judge("-0.0", "0.0", {}).zero_changed_sign);
  CHECK_FALSE(judge("nan", "-nan", {}).zero_changed_sign);
  CHECK_FALSE(judge("0.0", "0.00", {}).zero_changed_sign);
}

TEST_CASE("the last place that is recorded decides") {
  CHECK(same("0.300", "0.301"));
  CHECK(same("0.300", "0.2990"));
  CHECK_FALSE(same("0.300", "0.3011"));
  CHECK_FALSE(same("0.300", "0.302"));
  CHECK(same("9.99e+05", "1.000e+06"));
  CHECK(same("1.500e-03", "1.501e-03"));
  CHECK_FALSE(same("1.500e-03", "1.502e-03"));
  CHECK(same("-0.001", "0.000"));
  CHECK_FALSE(same("-0.001", "0.001"));
  CHECK_FALSE(same("65", "66"));
  CHECK_FALSE(same("65", "65.5"));
  CHECK_FALSE(same("65.", "66"));
  CHECK_FALSE(same("65.0", "66"));
  CHECK_FALSE(same("12345678901234567890123", "12345678901234567890124"));
  CHECK_FALSE(same("12345678901234567890123", "-12345678901234567890123"));
  CHECK(same("0.1234567890123456789012", "0.1234567890123456789012"));
  CHECK_FALSE(same("1e-400", "1e+400"));
  CHECK(last_place("0.300") == "last place, 1e-03");
  CHECK(last_place("3") == "an integer, exact");
}

TEST_CASE("bounds: the larger allowance, its edge included") {
  const auto bound = [](double rel, double abs) {
    return Tolerance{Tolerance::Kind::bound, rel, abs};
  };
  CHECK(same("100", "101", bound(0.01, 0)));
  CHECK_FALSE(same("100", "101.1", bound(0.01, 0)));
  CHECK(same("0.1", "0.4", bound(0, 0.3)));
  CHECK(same("0.000", "1e-7", bound(0.5, 1e-6)));
  CHECK_FALSE(same("0.000", "1e-7", bound(0.5, 0)));
  CHECK(same("-5", "-5.4", bound(0.1, 0)));
  CHECK_FALSE(same("5", "-5", bound(1, 1)));
  CHECK_FALSE(same("65", "65.0", {Tolerance::Kind::exact, 0, 0}));
}

TEST_CASE("a change tells its size") {
  CHECK(change_between("0.300", "0.302") == "+0.002 (+0.667 %)");
  CHECK(change_between("0", "2") == "+2");
  CHECK(change_between("-4", "-2") == "+2 (+50 %)");
  CHECK(change_between("nan", "2") == "");
  CHECK(to_double("2.0×10⁻³") == 0.002);
  CHECK(to_double("1.234-100") == 1.234e-100);
  CHECK(std::isnan(to_double("-NaN")));
}

TEST_CASE("what may stand where a time does") {
  for (const char* yes :
       {"0.00 s", "0:00:03", "0", "1.5 ms", "not timed", "n/a", "-1"}) {
    INFO(yes);
    CHECK(is_reportable(yes));
  }
  for (const char* no : {"", "nan", "inf ms", "soon", "1.0 or nan"}) {
    INFO(no);
    CHECK_FALSE(is_reportable(no));
  }
}

TEST_CASE("any double printed reads back, and agrees with itself and its neighbours") {
  CHECK(rc::check([](double value, unsigned precision) {
    RC_PRE(std::isfinite(value));
    char text[64], next[80];
    std::snprintf(text, sizeof text, "%.*e", static_cast<int>(precision % 16), value);
    RC_ASSERT(to_double(text) == doctest::Approx(std::atof(text)));
    RC_ASSERT(same(text, text));
    std::snprintf(next, sizeof next, "x %s y", text);
    RC_ASSERT(count_numbers(next) == 1u);
  }));
}
