#include "report.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

using namespace transcript;

namespace {

const char* const kRecorded =
    "case 2x2, max = 34.5857\n"
    "  kernel    max err  time (ms)\n"
    "  f32         0.100     1.5000\n"
    "  int8        0.300     2.5000\n"
    "\n"
    "all 3 cases passed\n";
const char* const kActual =
    "case 2x2, max = 34.5857\n"
    "  kernel    max err  time (ms)\n"
    "  f32         0.102     1.2000\n"
    "  an inserted <line>\n"
    "  int8        0.300     2.5000\n"
    "\n"
    "all 3 cases failed\n";

Compared compared(const char* actual) {
  static const Rules rules =
      parse_rules("[[rule]]\ncolumn = 'time (ms)'\nclass = 'time'\n", "rules.toml");
  const Transcript recorded(kRecorded, "h200.txt");
  return {"h200.txt", "the GPU build",
          compare(recorded, Transcript(actual, "a"), rules)};
}

}  // namespace

TEST_CASE("the human report is a diff grouped by block") {
  CHECK(human_report(compared(kActual), false) ==
        "--- h200.txt\n"
        "+++ the GPU build\n"
        "\n"
        "case 2x2\n"
        "  f32 / max err  (line 3)\n"
        "    -0.100\n"
        "    +0.102\n"
        "    change +0.002 (+2 %); class: last place, 0.001\n"
        "  line 4: extra  (actual line 4)\n"
        "    +an inserted <line>\n"
        "\n"
        "all 3 cases passed\n"
        "  line 1  (line 6)\n"
        "    -passed\n"
        "    +failed\n"
        "\n"
        "reported, not judged\n"
        "  case 2x2 / f32 / time (ms)\n"
        "    1.5000 -> 1.2000, -0.3 (-20 %)\n"
        "\n"
        "3 differences in 8 figures and 6 lines, 2 reported only (1 changed)\n");
}

TEST_CASE("a match is one line, notes above it") {
  CHECK(human_report(compared(kRecorded), false) ==
        "--- h200.txt\n"
        "+++ the GPU build\n"
        "\n"
        "match: 8 figures in 6 lines, 2 reported only (0 changed)\n");
  CHECK(human_report(
            {"a", "b", compare(Transcript("x 1\n", "a"), Transcript("x 1", "b"), {})},
            false) ==
        "--- a\n"
        "+++ b\n"
        "note: b: no newline at the end\n"
        "\n"
        "match: 1 figure in 1 line\n");
}

TEST_CASE("colour only when asked for") {
  CHECK(human_report(compared(kActual), false).find('\x1B') == std::string::npos);
  const std::string report = human_report(compared(kActual), true);
  CHECK(report.find("\x1B[31m-0.100\x1B[0m\n") != std::string::npos);
  CHECK(report.find("\x1B[32m+0.102\x1B[0m\n") != std::string::npos);
}

TEST_CASE("lines fit a terminal") {
  const std::string report = human_report(compared(kActual), false);
  std::size_t longest = 0;
  for (std::size_t at = 0; at < report.size(); at = report.find('\n', at) + 1) {
    longest = std::max(longest, report.find('\n', at) - at);
  }
  CHECK(longest <= 80);
}

TEST_CASE("JSON carries all of it") {
  const nlohmann::json report = json_report(compared(kActual));
  CHECK(report["match"] == false);
  CHECK(report["figures"] == 8);
  CHECK(report["lines"] == 6);
  CHECK(report["differing"] == 3);
  CHECK(report["reported"] == 2);
  CHECK(report["reported_changed"] == 1);
  CHECK(report["differences"][0] ==
        nlohmann::json{{"kind", "figure"},
                       {"block", "case 2x2"},
                       {"address", "case 2x2 / f32 / max err"},
                       {"recorded", "0.100"},
                       {"actual", "0.102"},
                       {"change", "+0.002 (+2 %)"},
                       {"tolerance", "last place, 0.001"},
                       {"recorded_line", 3},
                       {"actual_line", 3}});
  CHECK(report["differences"][1]["recorded_line"].is_null());
  CHECK(json_report(compared(kRecorded))["match"] == true);
}

TEST_CASE("JUnit fails a case for each difference") {
  CHECK(junit_report({compared(kActual), compared(kRecorded)}) ==
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<testsuites>\n"
        "  <testsuite name=\"h200.txt\" tests=\"3\" failures=\"3\">\n"
        "    <testcase name=\"case 2x2 / f32 / max err\"><failure type=\"figure\" "
        "message=\"last place, 0.001\">-0.100\n+0.102\n+0.002 (+2 "
        "%)</failure></testcase>\n"
        "    <testcase name=\"case 2x2 / line 4\"><failure type=\"extra\" "
        "message=\"\">-\n"
        "+an inserted &lt;line&gt;\n</failure></testcase>\n"
        "    <testcase name=\"all 3 cases passed / line 1\"><failure type=\"text\" "
        "message=\"\">-passed\n+failed\n</failure></testcase>\n"
        "  </testsuite>\n"
        "  <testsuite name=\"h200.txt\" tests=\"1\" failures=\"0\">\n"
        "    <testcase name=\"8 figures\"/>\n"
        "  </testsuite>\n"
        "</testsuites>\n");
}
