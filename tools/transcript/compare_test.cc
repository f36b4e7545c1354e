#include "compare.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <rapidcheck.h>

#include "align.h"
#include "file.h"
#include "text.h"

using namespace transcript;

namespace {

Comparison compare_texts(const std::string& recorded, const std::string& actual,
                         const std::string& rules = "") {
  return compare(Transcript(recorded, "recorded"), Transcript(actual, "actual"),
                 parse_rules(rules, "rules.toml"));
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

std::string error(const std::string& recorded, const std::string& actual,
                  const std::string& rules = "") {
  try {
    compare_texts(recorded, actual, rules);
    return "";
  } catch (const common::DiagnosticError& error) {
    return error.what();
  }
}

std::string rule(const std::string& keys) {
  return "[[rule]]\n" + keys + "\n";
}

const std::string kTable =
    "run 1, of 1\n"
    "  kernel    max err  rms err  time (ms)\n"
    "  f32         0.100    0.020     1.5000\n"
    "  int8        0.300    0.040     2.5000\n";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("equal transcripts match, white space aside") {
  CHECK(differences(kTable, kTable).empty());
  CHECK(differences("a  b\n 1\n", "a b  \n\t1\n").empty());
  CHECK(differences("a b\n", "ab\n") == "a b / line 1: -a b +ab\n");
  CHECK(differences("n 5 x\n", "n 5x\n") == "n 5 x / line 1: -x +x\n");
  CHECK(compare_texts("n 5 x\n", "n 5x\n").differing == 1);
  CHECK(compare_texts(kTable, kTable).figures == 8);
  CHECK(compare_texts(kTable, kTable).lines == 4);
}

TEST_CASE("integers are exact, reals agree within their last place") {
  CHECK(differences("n 128\n", "n 129\n") == "n 128 / n / 1: -128 +129\n");
  CHECK(differences("n 128\n", "n 128.0\n") == "n 128 / n / 1: -128 +128.0\n");
  CHECK(differences("n 7\n", "n 07\n") == "n 7 / n / 1: -7 +07\n");
  CHECK(differences("x 1.50\n", "x 1.51\n").empty());
  CHECK(differences("x 1.50\n", "x 1.52\n") == "x 1.50 / x / 1: -1.50 +1.52\n");
  CHECK(differences("x 1.50\n", "x 1.5\n").empty());
  CHECK(differences("x 2.0\n", "x 2\n").empty());
}

TEST_CASE("NaN equals only NaN, infinity only the same infinity") {
  CHECK(differences("x nan\n", "x -NaN\n").empty());
  CHECK(differences("x inf\n", "x Infinity\n").empty());
  CHECK(differences("x inf\n", "x -inf\n") == "x inf / x / 1: -inf +-inf\n");
  CHECK(differences("x nan\n", "x inf\n") == "x nan / x / 1: -nan +inf\n");
  const std::string wide = rule("line = 'x *'\nabs = 1e300\nrel = 1e300");
  CHECK(differences("x 1.0\n", "x nan\n", wide) == "x 1.0 / x / 1: -1.0 +nan\n");
  CHECK(differences("x nan\n", "x 1.0\n", wide) == "x nan / x / 1: -nan +1.0\n");
  CHECK(differences("x 1.0\n", "x inf\n", wide) == "x 1.0 / x / 1: -1.0 +inf\n");
  CHECK(differences("x 1.0\n", "x 1e999\n", wide) == "x 1.0 / x / 1: -1.0 +1e999\n");
  CHECK(differences("x nan\n", "x nan\n", wide).empty());
  CHECK(differences("x inf\n", "x inf\n", wide).empty());
}

TEST_CASE("minus zero equals zero, and is noted") {
  const Comparison comparison = compare_texts("x 0.000 0 1\n", "x -0.000 -0 1\n");
  CHECK(comparison.match());
  CHECK(comparison.notes == std::vector<std::string>{"2 zeros changed sign"});
  CHECK(compare_texts("x 0.0\n", "x 0.0\n").notes.empty());
}

TEST_CASE("a tolerance replaces the last place, abs decides near zero") {
  const std::string one_percent = rule("line = 'x *'\nrel = 0.01");
  CHECK(differences("x 100.0\n", "x 100.9\n", one_percent).empty());
  CHECK(differences("x 100.0\n", "x 101.1\n", one_percent) ==
        "x 100.0 / x / 1: -100.0 +101.1\n");
  CHECK(differences("x 0.0\n", "x 0.1\n", one_percent) == "x 0.0 / x / 1: -0.0 +0.1\n");
  CHECK(differences("x 0.0\n", "x 0.1\n", rule("line = 'x *'\nrel = 0.01\nabs = 0.1"))
            .empty());
  CHECK(differences("x 100\n", "x 101\n", one_percent).empty());
  CHECK(differences("x 1.00\n", "x 1.01\n", rule("line = 'x *'\nclass = 'exact'")) ==
        "x 1.00 / x / 1: -1.00 +1.01\n");
}

TEST_CASE("the first rule that matches decides, and each must match something") {
  const std::string rules = rule("row = 'f32'\ncolumn = '* err'\nabs = 1") +
                            rule("row = '*'\ncolumn = 'rms err'\nclass = 'exact'");
  CHECK(differences(kTable, replaced(kTable, "0.020", "0.520"), rules).empty());
  CHECK(differences(kTable, replaced(kTable, "0.040", "0.041"), rules) ==
        "run 1 / int8 / rms err: -0.040 +0.041\n");
  CHECK(error(kTable, kTable, rule("row = 'f33'\nclass = 'exact'")) ==
        "rules.toml:1: this rule matches nothing in recorded that an earlier rule does "
        "not; correct it or remove it\n"
        "  [[rule]]\n"
        "  ^\n");
  CHECK(
      error(kTable, kTable,
            rule("column = 'max err'\nabs = 1") + rule("column = 'max *'\nabs = 2")) ==
      "rules.toml:4: this rule matches nothing in recorded that an earlier rule does "
      "not; correct it or remove it\n"
      "  [[rule]]\n"
      "  ^\n");
  CHECK(error(kTable, kTable, rule("block = 'run 2'\nrow = '*'\nabs = 1")).size() > 0);
  CHECK(error("took 1 s\n", "took 1 s\n", rule("line = 'took *'\nfigure = 2\nabs = 1"))
            .size() > 0);
}

TEST_CASE("times and ratios are reported when they are positive numbers") {
  const std::string time = rule("column = 'time (ms)'\nclass = 'time'");
  const Comparison faster =
      compare_texts(kTable, replaced(kTable, "1.5000", "0.7500"), time);
  CHECK(faster.match());
  CHECK(faster.reported == 2);
  CHECK(faster.reported_changed == 1);
  REQUIRE(faster.reports.size() == 1);
  CHECK(faster.reports[0].address == "run 1 / f32 / time (ms)");
  CHECK(faster.reports[0].recorded == "1.5000");
  CHECK(faster.reports[0].actual == "0.7500");
  CHECK(faster.reports[0].change == "-0.75 (-50 %)");
  CHECK(differences(kTable, replaced(kTable, "   1.5000", "not timed"), time).empty());
  for (const char* bad : {"   0.0000", "  -1.5000", "      nan", "      inf",
                          "     fast", "      n/a", "not tamed"}) {
    CHECK(differences(kTable, replaced(kTable, "   1.5000", bad), time) ==
          "run 1 / f32 / time (ms): -1.5000 +" + fold(bad) + "\n");
  }
  CHECK(differences(kTable, replaced(kTable, "     1.5000", ""), time) ==
        "run 1 / f32 / time (ms): -1.5000\n");
  const std::string ratio = rule("column = 'time (ms)'\nclass = 'ratio'");
  CHECK(differences(kTable, replaced(kTable, "1.5000", "   n/a"), ratio).empty());
}

TEST_CASE("what stood in for a time may become one, and nothing else") {
  const std::string rules = rule("column = 'time (ms)'\nclass = 'time'");
  const std::string untimed = replaced(kTable, "   1.5000", "not timed");
  CHECK(differences(untimed, kTable, rules).empty());
  CHECK(differences(untimed, untimed, rules).empty());
  CHECK(differences(untimed, replaced(kTable, "1.5000", "-1.500"), rules) ==
        "run 1 / f32 / time (ms): -not timed +-1.500\n");
}

TEST_CASE("times in prose keep their words") {
  const std::string rules =
      rule("line = 'took * ms, * runs'\nfigure = 1\nclass = 'time'");
  CHECK(differences("took 1.5 ms, 3 runs\n", "took 9.9 ms, 3 runs\n", rules).empty());
  CHECK(differences("took 1.5 ms, 3 runs\n", "took 9.9 ms, 4 runs\n", rules) ==
        "took 1.5 ms / ms, / 1: -3 +4\n");
  CHECK(differences("took 1.5 ms, 3 runs\n", "took 9.9 us, 3 runs\n", rules) ==
        "took 1.5 ms / line 1: -ms, +us,\n");
  CHECK(differences("took 1.5 ms, 3 runs\n", "took -9.9 ms, 3 runs\n", rules) ==
        "took 1.5 ms / took / 1: -1.5 +-9.9\n");
}

TEST_CASE("a device line keeps the form that its rule states") {
  const std::string rules =
      rule("line = 'GPU: * (compute capability *)'\nclass = 'device'");
  const Comparison other = compare_texts("GPU: A (compute capability 7.5)\n",
                                         "GPU: B b (compute capability 9.0)\n", rules);
  CHECK(other.match());
  CHECK(other.reported_changed == 1);
  CHECK(other.reports[0].actual == "GPU: B b (compute capability 9.0)");
  CHECK(differences("GPU: A (compute capability 7.5)\n", "GPU: B b (CC 9.0)\n",
                    rules) != "");
  CHECK(differences("GPU: A (compute capability 7.5)\nx\n", "x\n", rules) ==
        "GPU / line 1: -GPU: A (compute capability 7.5)\n");
}

TEST_CASE("lines, rows and columns may be absent where a rule says so") {
  const std::string line = rule("line = 'extra *'\nclass = 'absent-ok'");
  CHECK(differences("a\nextra 1\nb\n", "a\nb\n", line).empty());
  CHECK(differences("a\nb\n", "a\nextra 1\nb\n", line).empty());
  CHECK(differences("a\nextra 1\nb\n", "a\nextra 2\nb\n", line) ==
        "a / extra / 1: -1 +2\n");
  CHECK(differences("a\nb\n", "a\nmore 1\nb\n", line) == "a / line 2: +more 1\n");
  const std::string row = rule("row = 'int8'\nclass = 'absent-ok'");
  CHECK(differences(kTable,
                    replaced(kTable, "  int8        0.300    0.040     2.5000\n", ""),
                    row)
            .empty());
  CHECK(differences(kTable,
                    replaced(kTable, "  f32         0.100    0.020     1.5000\n", ""),
                    row) == "run 1 / f32: -f32 0.100 0.020 1.5000\n");
  const std::string column = rule("column = 'rms err'\nclass = 'absent-ok'");
  const std::string without =
      "run 1, of 1\n"
      "  kernel    max err  time (ms)\n"
      "  f32         0.100     1.5000\n"
      "  int8        0.300     2.5000\n";
  CHECK(differences(kTable, without, column).empty());
  CHECK(differences(without, kTable, column).empty());
  CHECK(differences(kTable, without) == "run 1 / column rms err: -rms err\n");
  const Comparison noted = compare_texts("a\nextra 1\nb\n", "a\nb\n", line);
  CHECK(noted.notes ==
        std::vector<std::string>{"1 line or column absent, as the rules allow"});
}

TEST_CASE("a figure under another column is another figure") {
  const std::string moved = replaced(kTable, "0.100    0.020", "         0.100");
  CHECK(differences(replaced(kTable, "0.100    0.020", "0.100         "), moved) ==
        "run 1 / f32 / max err: -0.100\n"
        "run 1 / f32 / rms err: +0.100\n");
}

TEST_CASE("columns in another order are one difference, their cells still compared") {
  const std::string swapped =
      "run 1, of 1\n"
      "  kernel    rms err  max err  time (ms)\n"
      "  f32         0.020    0.100     1.5000\n"
      "  int8        0.040    0.333     2.5000\n";
  CHECK(
      differences(kTable, swapped) ==
      "run 1 / order of columns: -kernel max err rms err time (ms) +kernel rms err max "
      "err time (ms)\n"
      "run 1 / int8 / max err: -0.300 +0.333\n");
}

TEST_CASE("a removed block is its lines, and moves nothing else") {
  const std::string a = "case a, 1\n  gate 0.5\n\n", b = "case b, 2\n  gate 0.7\n\n",
                    c = "case c, 3\n  gate 0.9\n";
  CHECK(differences(a + b + c, a + c) ==
        "case b / line 1: -case b, 2\n"
        "case b / line 2: -gate 0.7\n"
        "case b / line 3: -(blank line)\n");
  CHECK(differences(b + c, a + b + c) ==
        "case a / line 1: +case a, 1\n"
        "case a / line 2: +gate 0.5\n"
        "case a / line 3: +(blank line)\n");
}

TEST_CASE("an inserted line is one difference in a long numeric transcript") {
  std::string recorded, actual;
  for (int i = 0; i < 20000; ++i) {
    const std::string line = fmt::format("{}.5 {}.25\n", i * 7919 % 10007, i);
    recorded += line;
    actual += line;
    if (i == 10000) actual += "0.125 0.25\n";
  }
  const Comparison comparison = compare_texts(recorded, actual);
  REQUIRE(comparison.differing == 1);
  CHECK(comparison.differences[0].what == What::extra);
  CHECK(comparison.differences[0].actual_line == 10002);
  CHECK(compare_texts(actual, recorded).differing == 1);
}

TEST_CASE("a line of megabytes is compared figure by figure, too") {
  std::string recorded = "figures:", actual = "figures:";
  for (int i = 0; i < 50000; ++i) {
    recorded += fmt::format(" {}.25", i);
    actual += fmt::format(" {}.2{}", i, i == 20000 || i == 40000 ? 7 : 6);
  }
  CHECK(differences(recorded + "\n", actual + "\n") ==
        "figures / line 1 / 20001: -20000.25 +20000.27\n"
        "figures / line 1 / 40001: -40000.25 +40000.27\n");
  const std::string with_one_more = "figures: 0.5" + recorded.substr(8);
  const Comparison one = compare_texts(recorded + "\n", with_one_more + "\n");
  REQUIRE(one.differing == 1);
  CHECK(one.differences[0].actual == "0.5");
}

TEST_CASE("transcripts without anything in common end in bounded time") {
  std::string recorded, actual;
  for (int i = 0; i < 50000; ++i) {
    recorded += fmt::format("word{} {}\n", i, i);
    actual += fmt::format("other{} x{} {}\n", i, i, i + 1);
  }
  const Comparison comparison = compare_texts(recorded, actual);
  CHECK(comparison.differing >= 50000);
  CHECK(comparison.differences.size() == Comparison::kListed);
}

TEST_CASE("nothing is never compared") {
  CHECK(error("", "a\n") == "recorded: has no text: there is nothing to compare\n");
  CHECK(error("a\n", " \n\n") == "actual: has no text: there is nothing to compare\n");
}

TEST_CASE("oddities of either side are noted with its name") {
  const Comparison comparison = compare_texts("a 1\r\n", "\x1B[1ma 1");
  CHECK(comparison.match());
  CHECK(comparison.notes == std::vector<std::string>{"recorded: CRLF line endings",
                                                     "actual: ANSI escapes stripped",
                                                     "actual: no newline at the end"});
}

TEST_CASE("the CPU's evidence matches a GPU's but for times and device lines") {
  const std::string folder = SOURCE_ROOT "/transcripts/quant_matmul/";
  const std::string cpu = common::read_file(folder + "cpu.txt");
  const std::string gpu = common::read_file(folder + "nvidia-h200.txt");
  const std::string rules = common::read_file(folder + "rules.toml");
  const Comparison up = compare_texts(cpu, gpu, rules);
  CHECK(up.match());
  // Time and ratio of four rows in three cases, and the five lines about the device.
  CHECK(up.reported_changed == 3 * 4 * 2 + 5);
  CHECK(compare_texts(gpu, cpu, rules).match());
  CHECK(compare_texts(gpu, replaced(cpu, "2.468e-01", "2.470e-01"), rules).differing ==
        1);
  CHECK(compare_texts(gpu, replaced(cpu, "passed", "failed"), rules).differing == 1);
}

namespace {

/// Sequences of digits for align(), and what it made of them.
struct Digits {
  std::string from, to;
  std::string log;
  std::size_t missing_count = 0, extra_count = 0;
  std::size_t next_from = 0, next_to = 0;

  bool same(std::size_t i, std::size_t j) const { return from[i] == to[j]; }
  double likeness(std::size_t i, std::size_t j) const { return same(i, j) ? 2 : -1; }
  void pair(std::size_t i, std::size_t j) {
    RC_ASSERT(same(i, j));
    RC_ASSERT(i == next_from++);
    RC_ASSERT(j == next_to++);
  }
  void missing(std::size_t i) {
    RC_ASSERT(i == next_from++);
    ++missing_count;
  }
  void extra(std::size_t j) {
    RC_ASSERT(j == next_to++);
    ++extra_count;
  }
};

std::size_t longest_common(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1, 0);
  for (const char x : a) {
    std::size_t diagonal = 0;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t above = row[j + 1];
      row[j + 1] = x == b[j] ? diagonal + 1 : std::max(row[j], above);
      diagonal = above;
    }
  }
  return row.back();
}

}  // namespace

TEST_CASE(
    "alignment tells every element once, in order, and keeps the most in common") {
  CHECK(rc::check("short sequences", [] {
    const auto digits =
        rc::gen::container<std::string>(rc::gen::elementOf(std::string("012")));
    Digits side{*digits, *digits, "", 0, 0, 0, 0};
    align(side.from.size(), side.to.size(), side);
    RC_ASSERT(side.next_from == side.from.size());
    RC_ASSERT(side.next_to == side.to.size());
    // Walking equal prefixes in step costs nothing: some longest one starts with them.
    RC_ASSERT(side.from.size() - side.missing_count ==
              longest_common(side.from, side.to));
  }));
}
