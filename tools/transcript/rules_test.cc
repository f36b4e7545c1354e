#include "rules.h"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <string>

using namespace transcript;

namespace {

/// The errors that parsing `text` throws, or "".
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
      "block = 'case *'\n"
      "column = 'time (ms)'\n"
      "class = 'time'\n"
      "\n"
      "[[rule]]\n"
      "line = 'took *  s'\n"
      "figure = 2\n"
      "rel = 1e-2\n"
      "abs = 5\n",
      "rules.toml");
  REQUIRE(rules.rules.size() == 2);
  CHECK(rules.rules[0].block == "case *");
  CHECK(rules.rules[0].column == "time (ms)");
  CHECK(rules.rules[0].kind == Class::time);
  CHECK(rules.rules[0].source_line == 2);
  CHECK_FALSE(rules.rules[0].is_prose());
  CHECK(describe(rules.rules[0]) == "time");
  CHECK(rules.rules[1].line == "took * s");
  CHECK(rules.rules[1].figure == 2);
  CHECK(rules.rules[1].kind == Class::tolerance);
  CHECK(rules.rules[1].relative == 0.01);
  CHECK(rules.rules[1].absolute == 5);
  CHECK(describe(rules.rules[1]) == "rel = 0.01, abs = 5");
  CHECK(parse_rules("", "rules.toml").rules.empty());
}

TEST_CASE("every class has its name") {
  for (const char* name : {"exact", "time", "ratio", "device", "absent-ok"}) {
    const Rules rules =
        parse_rules("[[rule]]\nline = '*'\nclass = '" + std::string(name) + "'\n", "r");
    CHECK(describe(rules.rules[0]) == name);
  }
  CHECK(describe(parse_rules("[[rule]]\nrow = 'x'\nabs = 1e-6", "r").rules[0]) ==
        "abs = 1e-06");
  CHECK(describe(Rule{}) == "last place");
}

TEST_CASE("all that is wrong is told at once, with its place") {
  CHECK(errors("[[rule]]\n"
               "colum = 'x'\n"
               "class = 'tyme'\n"
               "[[rule]]\n"
               "row = 3\n"
               "rel = -1\n"
               "abs = nan\n"
               "[[rules]]\n") ==
        "rules.toml:2: unknown key 'colum'; did you mean 'column'?\n"
        "  colum = 'x'\n"
        "  ^\n"
        "rules.toml:3: unknown class; did you mean 'time'?\n"
        "  class = 'tyme'\n"
        "          ^\n"
        "rules.toml:5: 'row' must be a pattern in quotes\n"
        "  row = 3\n"
        "        ^\n"
        "rules.toml:6: 'rel' must be a finite number, zero or above\n"
        "  rel = -1\n"
        "        ^\n"
        "rules.toml:7: 'abs' must be a finite number, zero or above\n"
        "  abs = nan\n"
        "        ^\n"
        "rules.toml:8: unknown key 'rules'; did you mean 'rule'?\n"
        "  [[rules]]\n"
        "    ^\n");
}

TEST_CASE("a rule is about cells or about a line, and gives one class") {
  const auto rule = [](const std::string& text) { return errors("[[rule]]\n" + text); };
  CHECK(rule("row = 'a'\n") ==
        "rules.toml:1: a rule gives either 'class', or 'rel' and/or 'abs'\n"
        "  [[rule]]\n"
        "  ^\n");
  CHECK(rule("row = 'a'\nclass = 'exact'\nabs = 0\n") ==
        "rules.toml:1: a rule gives either 'class', or 'rel' and/or 'abs'\n"
        "  [[rule]]\n"
        "  ^\n");
  CHECK(rule("block = 'a'\nclass = 'exact'\n") ==
        "rules.toml:1: a rule names a 'row' and/or 'column', or a 'line'\n"
        "  [[rule]]\n"
        "  ^\n");
  CHECK(rule("line = 'a'\nrow = 'b'\nclass = 'exact'\n") ==
        "rules.toml:1: a rule names a 'line', or a 'row' and 'column', not both\n"
        "  [[rule]]\n"
        "  ^\n");
  CHECK(rule("row = 'a'\nfigure = 1\nclass = 'time'\n") ==
        "rules.toml:1: 'figure' counts the figures of a 'line'; none is given\n"
        "  [[rule]]\n"
        "  ^\n");
  CHECK(rule("line = 'a'\nfigure = 1\nclass = 'device'\n") ==
        "rules.toml:1: this class is about the whole line; leave 'figure' out\n"
        "  [[rule]]\n"
        "  ^\n");
  CHECK(rule("line = 'a'\nfigure = 0\nclass = 'time'\n") ==
        "rules.toml:3: 'figure' must be an integer from 1\n"
        "  figure = 0\n"
        "           ^\n");
  CHECK(rule("row = ''\nclass = 'time'\n") ==
        "rules.toml:2: 'row' must be a pattern in quotes\n"
        "  row = ''\n"
        "        ^\n");
  CHECK(rule("row = 'a{b'\nclass = 'time'\n") ==
        "rules.toml:2: 'row' has a '{' without its '}'\n"
        "  row = 'a{b'\n"
        "        ^\n");
  CHECK(rule("row = '{a}{b}{c}{d}{e}'\nclass = 'time'\n") ==
        "rules.toml:2: 'row' has more than four '{'\n"
        "  row = '{a}{b}{c}{d}{e}'\n"
        "        ^\n");
  CHECK(rule("row = 'a'\nclass = 'fuzzy'\n") ==
        "rules.toml:3: unknown class; it is one of exact, time, ratio, device, "
        "absent-ok\n"
        "  class = 'fuzzy'\n"
        "          ^\n");
}

TEST_CASE("what is not TOML, or not an array of tables, is told so") {
  CHECK(errors("[[rule]\n").substr(0, 14) == "rules.toml:1: ");
  // Found by fuzzing: the parser asserts here.
  CHECK(errors("[[\x01rule]]\n") ==
        "rules.toml: is not TOML: a name starts with an odd character\n");
  CHECK(errors("rule = 3\n") ==
        "rules.toml:1: 'rule' must be an array of tables: write [[rule]]\n"
        "  rule = 3\n"
        "  ^\n");
  CHECK(errors("rule = [1, {row = 'a'}]\n") ==
        "rules.toml:1: 'rule' must be an array of tables: write [[rule]]\n"
        "  rule = [1, {row = 'a'}]\n"
        "  ^\n");
}

TEST_CASE("a star stands for anything, braces for one of several") {
  CHECK(matches("case *", "case 2x2"));
  CHECK_FALSE(matches("case *", "a case 2x2"));
  CHECK(matches("*x*", "axb"));
  CHECK(matches("*", ""));
  CHECK(matches("", "anything"));
  CHECK(matches("a*b*c", "aXbXbXc"));
  CHECK_FALSE(matches("a*b*c", "aXbXb"));
  CHECK(matches("{yes,no}", "no"));
  CHECK_FALSE(matches("{yes,no}", "maybe"));
  CHECK(matches("INT8 {yes, no} *{a,b}", "INT8 no xb"));
  CHECK(matches("a{,b}", "a"));
  CHECK_FALSE(matches("a", "ab"));
}

TEST_CASE("a pattern made from a name matches it") {
  CHECK(rc::check("pieces replaced by stars", [] {
    const auto name =
        *rc::gen::container<std::string>(rc::gen::elementOf(std::string("abc ")));
    std::string pattern;
    for (std::size_t i = 0; i < name.size(); ++i) {
      pattern += *rc::gen::arbitrary<bool>() ? std::string(1, name[i]) : "*";
    }
    if (!pattern.empty()) RC_ASSERT(matches(pattern, name));
  }));
}

TEST_CASE("a name of many parts does not end on the stack") {
  std::string parts = "#\n";
  for (int i = 0; i < 100000; ++i) parts += "a.";
  CHECK(errors(parts + "b = 1\n") ==
        "rules.toml:2: a line of 200005 bytes; no rule needs more than 4096\n");
}

TEST_CASE("a bound that no double holds is refused") {
  CHECK(errors("[[rule]]\nrow = 'a'\nabs = 9007199254740993\n") ==
        "rules.toml:3: 'abs' must be a finite number, zero or above\n"
        "  abs = 9007199254740993\n"
        "        ^\n");
}

TEST_CASE("characters beyond ASCII are written as escapes, but in comment lines") {
  const Rules rules = parse_rules(
      "\xEF\xBB\xBF# \u00E9\n[[rule]]\n \t# \u0437\nline = \"*\\u00B5s\"\n"
      "class = 'exact'\n",
      "r");
  REQUIRE(rules.rules.size() == 1);
  CHECK(rules.rules[0].line == "*\u00B5s");
  CHECK(errors("[[rule]]\nrow\u0437 = 'a'\n") ==
        "rules.toml:2: a character beyond ASCII; in a name write \"\\uXXXX\", and a "
        "comment on a line of its own\n"
        "  row\u0437 = 'a'\n"
        "     ^\n");
  for (const std::string bad : {"\u00E9 = 1", "a = '\u00E9'", "a = 0\"\uFEBF\"",
                                "a = 1 # \u00E9", "a = '''\n'''\u00E9"}) {
    CAPTURE(bad);
    CHECK(errors(bad).find(": a character beyond ASCII; ") != std::string::npos);
  }
}
