#include "verdict.h"

#include <doctest/doctest.h>

#include <string>

using mutants::Check;
using mutants::read_verdict;
using mutants::Verdict;

namespace {

Check line_check(const char* line) {
  Check check;
  check.line = line;
  return check;
}

Check figure_check(const char* given) {
  Check check;
  check.rows = "int8*";
  check.columns = {"frac"};
  check.above = 1.0;
  check.given = given;
  return check;
}

std::string section(const char* heading, const char* figure, const char* verdict) {
  return std::string("## ") + heading +
         "\n\njudged by a gate\n\n"
         "| kernel | err | frac |\n"
         "| :----- | --: | ---: |\n"
         "| f32    | 9.0 |  9.0 |\n"
         "| int8   | 9.0 |  " +
         figure + " |\n\n" + verdict + "\n";
}

}  // namespace

TEST_CASE("a check is noticed in the cases whose sections hold its line") {
  const std::string report = "# p on d\n" +
                             section("case 256x256x256", "0.1", "FAILED: int8: exact") +
                             section("checks of case 61x45x77", "0.1", "fine");
  const Verdict verdict = read_verdict(
      report, {line_check("FAILED: *: exact"), line_check("FAILED: *: f32")},
      "256,61x45x77");
  CHECK(verdict.checks[0].text() == "256");
  CHECK(verdict.checks[1].text() == "-");
  CHECK(verdict.other.empty());
}

TEST_CASE("figures above the limit, and what is no number, are noticed in their rows") {
  for (const auto& [figure, noticed] :
       {std::pair{"1.0", "-"}, {"1.1", "all"}, {"nan", "all"}, {"n/a", "all"}}) {
    CAPTURE(figure);
    const Verdict verdict =
        read_verdict(section("case 8x8x8", figure, ""), {figure_check("")}, "8");
    CHECK(verdict.checks[0].text() == noticed);
  }
}

TEST_CASE("a check counts only where it was made") {
  const std::string report = section("case 8x8x8", "2.0", "") +
                             "## case 9x9x9\n\n| kernel | frac |\n| :-- | --: |\n"
                             "| int8 | 2.0 |\n";
  CHECK(read_verdict(report, {figure_check("judged by *")}, "8,9").checks[0].text() ==
        "all");
  CHECK(read_verdict(report, {figure_check("no such *")}, "8,9").checks[0].text() ==
        "-");
}

TEST_CASE("a failure that no check knows is told in the program's words") {
  const auto other = [](const char* line) {
    const Verdict verdict = read_verdict(section("case 8x8x8", "0", line),
                                         {line_check("FAILED: *: y")}, "8");
    return mutants::joined(verdict.other);
  };
  CHECK(other("FAILED: reference: host loops\nFAILED: x: y") == "host loops");
  CHECK(other("FAILED: int8: NaN or infinity in it") == "NaN or infinity");
  CHECK(other("FAILED: int8: claim: it is better") == "claim");
  CHECK(other("FAILED: a whole sentence") == "a whole sentence");
  CHECK(other("fine") == "");
}

TEST_CASE("the cells of a row") {
  CHECK(mutants::cells("| a b |  1 | |") == std::vector<std::string>{"a b", "1", ""});
  CHECK(mutants::cells("prose").empty());
}
