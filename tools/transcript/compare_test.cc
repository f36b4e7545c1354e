#include "compare.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <rapidcheck.h>

#include <algorithm>
#include <chrono>

#include "align.h"
#include "file.h"

using namespace transcript;

namespace {

Comparison compare_texts(const std::string& recorded, const std::string& actual,
                         const std::string& rules = "") {
  const Document r(recorded, "recorded"), a(actual, "actual");
  return compare(r, a, parse_rules(rules, "rules.toml"));
}

/// "ADDRESS: -recorded +actual" for each difference, a line each.
std::string differences(const std::string& recorded, const std::string& actual,
                        const std::string& rules = "") {
  std::string text;
  for (const Entry& entry : compare_texts(recorded, actual, rules).differences) {
    text += entry.address + ":";
    if (!entry.recorded.empty()) text += " -" + entry.recorded;
    if (!entry.actual.empty()) text += " +" + entry.actual;
    text += "\n";
  }
  return text;
}

std::string rule(const std::string& keys) {
  return "[[rule]]\n" + keys + "\n";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

const std::string kText =
    "# p on X\n"
    "\n"
    "## run 1\n"
    "\n"
    "seed 7 of 9\n"
    "\n"
    "| kernel | max err | rms err | time (ms) |\n"
    "| :----- | ------: | ------: | --------: |\n"
    "| f32    |   0.100 |   0.020 |    1.5000 |\n"
    "| int8   |   0.300 |   0.040 | not timed |\n";

}  // namespace

TEST_CASE("equal documents match, white space aside") {
  CHECK(differences(kText, kText) == "");
  CHECK(compare_texts(kText, kText).judged == 8);
  CHECK(differences("a  b\n\n 1\n", "a b  \n\t1") == "");
  CHECK(differences("a b\n", "ab\n") == "top / line 1: -a b +ab\n");
  CHECK(differences(kText,
                    replaced(kText, "| f32    |   0.100 |", "| f32 | 0.100 |")) == "");
}

TEST_CASE("a changed figure has an address; a changed word is one difference") {
  CHECK(differences(kText, replaced(kText, "0.300", "0.302")) ==
        "run 1 / int8 / max err: -0.300 +0.302\n");
  CHECK(differences(kText, replaced(kText, "of 9", "of 8")) ==
        "run 1 / seed / 2: -9 +8\n");
  CHECK(differences(kText, replaced(kText, "seed", "seeds")) ==
        "run 1 / line 1: -seed 7 of 9 +seeds 7 of 9\n");
  CHECK(differences(kText, replaced(kText, "0.300", "n/a")) ==
        "run 1 / int8 / max err: -0.300 +n/a\n");
  CHECK(differences(kText, replaced(kText, "   0.300 |", "")).size() > 0);
  CHECK(differences("x 1 ms\n", "x 1 s\n") == "top / line 1: -x 1 ms +x 1 s\n");
}

TEST_CASE("sections, tables, rows and columns pair by name") {
  CHECK(differences(kText, replaced(kText, "| f32 ", "| f16 ")) ==
        "run 1 / f32: -| f32 | 0.100 | 0.020 | 1.5000 |\n"
        "run 1 / f16: +| f16 | 0.100 | 0.020 | 1.5000 |\n");
  CHECK(differences(kText, replaced(kText, "max err", "max eRR")) ==
        "run 1 / column max err: -max err\nrun 1 / column max eRR: +max eRR\n");
  CHECK(differences(kText, replaced(kText, "## run 1", "## run 2")) ==
        "run 1: -## run 1\nrun 2: +## run 2\n");
  CHECK(differences(kText, kText.substr(0, kText.find("| kernel"))) ==
        "run 1 / table: -| kernel | max err | rms err | time (ms) |\n");
  const std::string rows = replaced(kText,
                                    "| f32    |   0.100 |   0.020 |    1.5000 |\n| "
                                    "int8   |   0.300 |   0.040 | not timed |\n",
                                    "| int8   |   0.300 |   0.040 | not timed |\n| f32 "
                                    "   |   0.100 |   0.020 |    1.5000 |\n");
  CHECK(differences(kText, rows) == "");
  CHECK(compare_texts(kText, rows).notes ==
        std::vector<std::string>{"run 1: rows or columns stand in another order"});
  const std::string twice = "## a\nx 1\n## a\nx 2\n";
  CHECK(differences(twice, "## a\nx 1\n## a\nx 3\n") == "a [2] / x / 1: -2 +3\n");
  CHECK(differences(twice, "## a\nx 1\n") == "a [2]: -## a\n");
}

TEST_CASE("prose pairs by the longest common subsequence") {
  CHECK(differences("a 1\nb 2\nc 3\n", "a 1\nc 3\n") == "top / line 2: -b 2\n");
  CHECK(differences("a 1\nc 3\n", "a 1\nb 2\nc 3\n") == "top / line 2: +b 2\n");
  CHECK(differences("x 1\nx 2\nx 3\n", "x 2\nx 3\n") == "top / line 1: -x 1\n");
  CHECK(differences("x 1\nx 2\n", "x 1\nx 1\nx 2\n") == "top / line 2: +x 1\n");
  CHECK(differences("a\nb 1\nc\n", "a\nB 1\nc\n") == "top / line 2: -b 1 +B 1\n");
}

TEST_CASE("reported: a number or 'not timed'; zero is a time; a new unit is shown") {
  const std::string time = rule("column = 'time (ms)'\nclass = 'reported'") +
                           rule("line = 'took *'\nclass = 'reported'");
  const std::string text = kText + "\ntook 0.00 s or 0:00:03\n";
  CHECK(compare_texts(text, text, time).reported == 6);
  for (const char* other : {"0.0000", "99.5", "not timed", "1.5 s", "n/a"}) {
    const Comparison changed =
        compare_texts(text, replaced(text, "1.5000", other), time);
    INFO(other);
    CHECK(changed.match());
    CHECK(changed.reported_changed == 1);
  }
  for (const char* other : {"nan", "inf", "soon", ""}) {
    INFO(other);
    CHECK(compare_texts(text, replaced(text, "1.5000", other), time).differing == 1);
  }
  const Comparison unit =
      compare_texts(text, replaced(text, "took 0.00 s", "took 3 min"), time);
  CHECK(unit.match());
  REQUIRE(unit.reports.size() == 1);
  CHECK(unit.reports[0].actual == "took 3 min or 0:00:03");
  CHECK(compare_texts(text, replaced(text, "took 0.00 s or 0:00:03\n", ""), time)
            .differing == 1);
}

TEST_CASE("machine: a heading or a line that must be there, and may say anything") {
  const std::string machine = rule("line = '# p on *'\nclass = 'machine'") +
                              rule("line = 'has * cores'\nclass = 'machine'");
  const std::string text = replaced(kText, "## run", "has 4 cores\n\n## run");
  CHECK(differences(text, replaced(replaced(text, "on X", "on Y (cc 7)"), "4", "many"),
                    machine) == "");
  CHECK(differences(text, replaced(text, "# p on X\n", "# q\n"), machine) ==
        "p on X: -# p on X\nq: +# q\n");
  CHECK(differences(text, replaced(text, "has 4 cores\n", ""), machine) ==
        "p on X / line 1: -has 4 cores\n");
  CHECK(compare_texts(text, text, machine).excused == 2);
}

TEST_CASE("optional: may be missing or extra, and is judged where it stands") {
  const std::string optional = rule("row = 'int8'\nclass = 'optional'") +
                               rule("line = 'seed *'\nclass = 'optional'") +
                               rule("column = 'rms err'\nclass = 'optional'") +
                               rule("section = 'more'\nclass = 'optional'");
  const std::string row = "| int8   |   0.300 |   0.040 | not timed |\n";
  std::string less = replaced(replaced(kText, row, ""), "seed 7 of 9\n", "");
  CHECK(differences(kText, less, optional) == "");
  CHECK(differences(less, kText, optional) == "");
  CHECK(compare_texts(kText, less, optional).excused == 2);
  CHECK(differences(kText, replaced(kText, "0.300", "0.400"), optional) ==
        "run 1 / int8 / max err: -0.300 +0.400\n");
  CHECK(differences(kText, kText + "\n## more\n\nx 1\n", optional) == "");
  CHECK(differences("| a | rms err |\n|--|--|\n| x | 1 |\n\ny 1\n",
                    "| a |\n|--|\n| x |\n\ny 1\n", optional) == "");
}

TEST_CASE("the first rule that matches decides; bounds and exact") {
  const std::string rules = rule("row = 'f32'\ncolumn = '* err'\nabs = 1") +
                            rule("row = '*'\ncolumn = 'rms err'\nclass = 'exact'");
  CHECK(differences(kText, replaced(kText, "0.020", "0.520"), rules) == "");
  CHECK(differences(kText, replaced(kText, "0.040", "0.041"), rules) ==
        "run 1 / int8 / rms err: -0.040 +0.041\n");
  const Comparison comparison =
      compare_texts(kText, kText, rules + rule("row = 'f33'\nabs = 1"));
  CHECK(comparison.used == std::vector<bool>{true, true, false});
}

TEST_CASE("nothing judged, or nothing there, is an error") {
  const std::string all = rule("section = '*'\nclass = 'reported'");
  CHECK_THROWS_WITH(compare_texts("x 1\n", "x 2\n", all),
                    "recorded: nothing was judged: the rules excuse every line");
  CHECK_THROWS_WITH(compare_texts("# a\n", "# a\n"),
                    "recorded: nothing was judged: the rules excuse every line");
  CHECK_THROWS_WITH(compare_texts("x\n", " \n"),
                    "actual: has no text: there is nothing to compare");
  CHECK_THROWS_WITH(compare_texts("", "x\n"),
                    "recorded: has no text: there is nothing to compare");
}

TEST_CASE("minus zero is noted, NaN's sign is not") {
  CHECK(compare_texts("x 0.0 1\n", "x -0.0 1\n").notes ==
        std::vector<std::string>{"zero changed its sign: top / line 1"});
  CHECK(compare_texts("x nan\n", "x -nan\n").notes.empty());
}

TEST_CASE("time is linear where every line differs") {
  const auto seconds = [](std::size_t lines, std::size_t numbers) {
    std::string recorded, actual;
    for (std::size_t i = 0; i < lines; ++i) {
      for (std::size_t k = 0; k < numbers; ++k) {
        recorded += fmt::format(" {}.5", i + k);
        actual += fmt::format(" {}.7", 2 * i + k + 1);
      }
      recorded += '\n';
      actual += '\n';
    }
    const auto begin = std::chrono::steady_clock::now();
    CHECK(compare_texts(recorded, actual).differing == lines * numbers);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
        .count();
  };
  CHECK(seconds(1000, 1000) < 10);  // less than a second, built for speed
  CHECK(seconds(100000, 10) < 10);
  CHECK(seconds(1, 1000000) < 10);
}

TEST_CASE("any two texts compare, and any text matches itself") {
  const auto text = [] {
    const auto pieces = rc::gen::elementOf(std::vector<std::string>{
        "# a\n", "## b\n", "\n", "| a | b |\n", "|---|---|\n", "x 1\n", "| 1 |", " 2.5",
        "nan ", "\xFF", "y\n", "-0.0 "});
    std::string all = "x 1\n";
    for (const auto& piece : *rc::gen::container<std::vector<std::string>>(pieces)) {
      all += piece;
    }
    return all;
  };
  CHECK(rc::check([&] {
    const std::string one = text(), other = text();
    RC_ASSERT(compare_texts(one, one).match());
    RC_ASSERT(compare_texts(one, other).match() == compare_texts(other, one).match() ||
              one.find("2.5") != std::string::npos ||
              one.find("0.0") != std::string::npos ||
              other.find("0.0") != std::string::npos);
  }));
}
