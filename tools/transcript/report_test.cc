#include "report.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "text.h"

using namespace transcript;

namespace {

const std::string kHead = "# p\n\n## case 2x2\n\n| k | err | time |\n|:--|---:|---:|\n";

Compared compared(const std::string& recorded, const std::string& actual) {
  const Rules rules =
      parse_rules("[[rule]]\ncolumn = 'time'\nclass = 'reported'\n", "rules.toml");
  const Document r(kHead + recorded, "a.md"), a(kHead + actual, "b.md");
  return {"a.md", "b.md", compare(r, a, rules)};
}

}  // namespace

TEST_CASE("a report is a diff by section, with a summary that counts apart") {
  CHECK(human_report(compared("| f | 0.300 | 1.5 |\n| g | 1 | 2 |\n\nx = 1\n",
                              "| f | 0.302 | 1.6 |\n| h | 1 | 2 |\n\nx = 1\ny\n"),
                     false) ==
        "--- a.md\n"
        "+++ b.md\n"
        "\n"
        "case 2x2\n"
        "  f / err  (line 7)\n"
        "    -0.300\n"
        "    +0.302\n"
        "    change +0.002 (+0.667 %); allowed: last place, 1e-03\n"
        "  g: missing  (line 8)\n"
        "    -| g | 1 | 2 |\n"
        "  h: extra  (actual line 8)\n"
        "    +| h | 1 | 2 |\n"
        "  line 2: extra  (actual line 11)\n"
        "    +y\n"
        "\n"
        "reported, not judged\n"
        "  case 2x2 / f / time\n"
        "    1.5 -> 1.6, +0.1 (+6.67 %)\n"
        "\n"
        "4 differences: 2 judged, 1 reported (1 changed), 0 excused\n");
  CHECK(human_report(compared("| f | 1 | 2 |\n", "| f | 1 | 2 |\n"), false) ==
        "--- a.md\n+++ b.md\n\nmatch: 1 judged, 1 reported (0 changed), 0 excused\n");
}

TEST_CASE("differences that print alike are spelled out; nothing commands a terminal") {
  const std::string report = human_report(compared("| f | 1 | 2 |\n\na b\n",
                                                   "| f | 1 | 2 |\n\na\xC2\xA0"
                                                   "b \x1B[31m \xC2\x9B\n"),
                                          false);
  CHECK(report.find("    -a b\n    +a<U+00A0>b \\x1B[31m <U+009B>\n") !=
        std::string::npos);
  const std::string mark = human_report(
      compared("| f | 1 | 2 |\n\nx\n", "| f | 1 | 2 |\n\n\xEF\xBB\xBFx\n"), false);
  CHECK(mark.find("    +<U+FEFF>x\n") != std::string::npos);
}

TEST_CASE("colour frames lines, and only if asked for") {
  const std::string report =
      human_report(compared("| f | 1 | 2 |\n", "| f | 3 | 2 |\n"), true);
  CHECK(report.find("\033[31m-1\033[0m\n    \033[32m+3\033[0m") != std::string::npos);
}

TEST_CASE("JSON has everything that the report has") {
  const nlohmann::json report =
      json_report(compared("| f | 0.300 | 1.5 |\n", "| f | 0.302 | 1.6 |\n"));
  CHECK(report["match"] == false);
  CHECK(report["judged"] == 1);
  CHECK(report["reported_changed"] == 1);
  const nlohmann::json& entry = report["differences"][0];
  CHECK(entry["address"].get<std::string>() == "case 2x2 / f / err");
  CHECK(entry["kind"].get<std::string>() == "figure");
  CHECK(entry["recorded_line"] == 7);
  CHECK(report["reports"][0]["actual"].get<std::string>() == "1.6");
  CHECK(to_text("\xFF") == "\"\xEF\xBF\xBD\"\n");
}
