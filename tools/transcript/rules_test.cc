#include "rules.h"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <string>

using namespace transcript;

namespace {

std::string errors(const std::string& text) {
  try {
    parse_rules(text, "rules.toml");
    return "";
  } catch (const common::DiagnosticError& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("a rule names figures and gives their class") {
  const Rules rules = parse_rules(
      "# times\n"
      "[[rule]]\n"
      "section = 'case *'\n"
      "column = 'time (ms)'\n"
      "class = 'reported'\n"
      "\n"
      "[[rule]]\n"
      "line = 'took *  s'\n"
      "rel = 1e-2\n"
      "abs = 5\n",
      "rules.toml");
  REQUIRE(rules.rules.size() == 2);
  CHECK(rules.rules[0].section == "case *");
  CHECK(rules.rules[0].column == "time (ms)");
  CHECK(rules.rules[0].kind == Class::reported);
  CHECK(rules.rules[0].source_line == 2);
  CHECK(rules.rules[1].line == "took * s");
  CHECK(rules.rules[1].tolerance.relative == 0.01);
  CHECK(rules.rules[1].tolerance.absolute == 5);
  CHECK(describe(rules.rules[1]) == "rel = 0.01, abs = 5");
  CHECK(parse_rules("", "rules.toml").rules.empty());
  for (const char* name : {"exact", "reported", "machine", "optional"}) {
    CHECK(
        describe(parse_rules(
                     "[[rule]]\nline = '*'\nclass = '" + std::string(name) + "'\n", "r")
                     .rules[0]) == name);
  }
}

TEST_CASE("all that is wrong is told at once, with its place and remedy") {
  CHECK(errors("[[rule]]\n"
               "colum = 'x'\n"
               "class = 'reportd'\n"
               "[[rule]]\n"
               "row = 3\n"
               "rel = -1\n"
               "abs = nan\n"
               "[[rules]]\n") ==
        "rules.toml:2: unknown key 'colum'; did you mean 'column'?\n"
        "  colum = 'x'\n"
        "  ^\n"
        "rules.toml:3: unknown class 'reportd'; did you mean 'reported'?\n"
        "  class = 'reportd'\n"
        "  ^\n"
        "rules.toml:5: 'row' must be a pattern in quotes\n"
        "  row = 3\n"
        "  ^\n"
        "rules.toml:6: 'rel' must be a finite number, zero or above\n"
        "  rel = -1\n"
        "  ^\n"
        "rules.toml:7: 'abs' must be a finite number, zero or above\n"
        "  abs = nan\n"
        "  ^\n"
        "rules.toml:8: unknown key 'rules'; did you mean 'rule'?\n"
        "  [[rules]]\n"
        "  ^\n");
}

TEST_CASE("what a rule lacks, or has too much of") {
  const std::string end = "\n  [[rule]]\n  ^\n";
  CHECK(errors("[[rule]]\nrow = 'a'\n") ==
        "rules.toml:1: a rule gives either 'class', or 'rel' and/or 'abs'" + end);
  CHECK(errors("[[rule]]\nrow = 'a'\nclass = 'exact'\nrel = 1\n") ==
        "rules.toml:1: a rule gives either 'class', or 'rel' and/or 'abs'" + end);
  CHECK(errors("[[rule]]\nrel = 1\n") ==
        "rules.toml:1: a rule names a 'section', 'row', 'column' or 'line'" + end);
  CHECK(errors("[[rule]]\nrow = 'a'\nline = 'b'\nrel = 1\n") ==
        "rules.toml:1: a rule names a 'line', or a 'row' and 'column', not both" + end);
  CHECK(errors("rule = 3\n") ==
        "rules.toml:1: 'rule' must be an array of tables: write [[rule]]\n  rule = 3\n "
        " ^\n");
  CHECK(errors("[[rule]]\nrow = '{a'\nrel = 1\n") ==
        "rules.toml:2: 'row' may have one {a,b}; \"\\\\{\" is the character\n"
        "  row = '{a'\n  ^\n");
  CHECK(errors("[[rule]\n").substr(0, 13) == "rules.toml:1:");
  CHECK(errors("a = \"\xC3\xBC\"\n").find("a character beyond ASCII") !=
        std::string::npos);
  CHECK(errors("# \xC3\xBC\n") == "");
  CHECK(errors(std::string(5000, 'a')).find("more than 4096 bytes") !=
        std::string::npos);
}

TEST_CASE("patterns: anything, choices, and what they use taken as it is") {
  CHECK(matches("", "anything"));
  CHECK(matches("*", ""));
  CHECK(matches("a*c", "abbc"));
  CHECK_FALSE(matches("a*c", "abcd"));
  CHECK(matches("{time (ms),vs f32}", "vs f32"));
  CHECK(matches("case * {raw,fused} x", "case 1 fused x"));
  CHECK_FALSE(matches("case * {raw,fused} x", "case 1 other x"));
  CHECK(matches("a{,b}", "a"));
  CHECK(matches("{,b}", ""));
  CHECK(matches("\\*", "*"));
  CHECK_FALSE(matches("\\*", "a"));
  CHECK(matches("\\{a,b\\}", "{a,b}"));
  CHECK(matches("{a\\,b,c}", "a,b"));
  CHECK(matches("*\\\\", "x\\"));
}

TEST_CASE("a name matches itself, escaped") {
  CHECK(rc::check([](const std::string& name) {
    std::string escaped;
    for (const char c : name) escaped += std::string("\\") + c;
    RC_ASSERT(matches(escaped, name));
    RC_ASSERT(name.empty() || !matches(escaped, name + "x"));
  }));
}

TEST_CASE("the help shows a rule that parses") {
  const std::string help = kRuleSyntax;
  const std::size_t begin = help.find("  [[rule]]"), end = help.find("Patterns match");
  std::string example = help.substr(begin, end - begin);
  example.erase(example.find("  # or"),
                example.find("  class") - example.find("  # or"));
  CHECK(errors(example) == "");
}

// Found by fuzzing: the library reads beyond its text on such a line in open quotes.
TEST_CASE("a line of comment beyond ASCII is no part of what is read") {
  CHECK(transcript::parse_rules("# gr\u00f6\u00dfer\n[[rule]]\nline = \"a\"\nabs = 1\n",
                                "r")
            .rules.size() == 1);
  CHECK_THROWS_AS(transcript::parse_rules("\"\"\"\":\n#\\ \xef\xb3\xbfl =m", "r"),
                  common::DiagnosticError);
}
