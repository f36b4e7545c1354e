#include "rules.h"

#include <fmt/format.h>

#include <cstdint>
#include <stdexcept>

// Release 3.3.0 asserts, of some text that is no TOML, what it checks a line later.
constexpr void require_toml(bool holds) {
  if (!holds) throw std::logic_error("not TOML");
}
#define TOML_ASSERT(expression) require_toml(static_cast<bool>(expression))
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>

#include "suggest.h"
#include "text.h"

namespace transcript {
namespace {

constexpr std::size_t kLongest = 4096;  // bytes of a line

std::string_view source_line(std::string_view text, std::size_t line) {
  for (; line > 1 && !text.empty(); --line) {
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  }
  return trim(text.substr(0, text.find('\n')));
}

class Parser {
 public:
  Parser(std::string text, std::string name)
      : rules_{std::move(name), std::move(text), {}} {}

  Rules parse() {
    check_lines();
    toml::table root;
    try {
      if (faults_.empty()) root = toml::parse(uncommented_);
    } catch (const toml::parse_error& error) {
      fault(error.source().begin.line, std::string(error.description()));
    } catch (const std::logic_error&) {
      fault(1, "is not TOML: a name starts with an odd character");
    }
    for (const auto& [key, node] : root) {
      const toml::array* array = node.as_array();
      if (key.str() != "rule") {
        fault(key.source().begin.line, unknown("key", key.str(), {"rule"}));
      } else if (array == nullptr || !array->is_homogeneous<toml::table>()) {
        fault(key.source().begin.line,
              "'rule' must be an array of tables: write [[rule]]");
      } else {
        for (const toml::node& rule : *array) add(*rule.as_table());
      }
    }
    if (faults_.empty()) return std::move(rules_);
    std::stable_sort(faults_.begin(), faults_.end(),
                     [](const auto& a, const auto& b) { return a.line < b.line; });
    throw common::DiagnosticError(std::move(faults_));
  }

 private:
  void fault(std::size_t line, std::string message) {
    faults_.push_back({rules_.name, line, 1, std::move(message),
                       std::string(source_line(rules_.text, line))});
  }

  static std::string unknown(const char* what, std::string_view name,
                             const std::vector<std::string>& known) {
    const std::string near = common::closest(name, known);
    if (!near.empty()) {
      return fmt::format("unknown {} '{}'; did you mean '{}'?", what,
                         printable(name, 60), near);
    }
    std::string list;
    for (const std::string& one : known) list += (list.empty() ? "" : ", ") + one;
    return fmt::format("unknown {} '{}'; it is one of: {}", what, printable(name, 60),
                       list);
  }

  /// The library overflows its stack on a name of many thousand parts, and reads beyond
  /// its text on some characters beyond ASCII: of those, only comments may have some,
  /// and these it does not get to see.
  void check_lines() {
    std::string_view left = rules_.text;
    for (std::size_t number = 1; !left.empty(); ++number) {
      const std::string_view line = left.substr(0, left.find('\n'));
      left.remove_prefix(std::min(line.size() + 1, left.size()));
      const auto odd =
          std::find_if(line.begin(), line.end(), [](char c) { return c < 0; });
      const bool comment = trim(line).substr(0, 1) == "#";
      uncommented_ += (comment ? "" : std::string(line)) + "\n";
      if (line.size() > kLongest) {
        faults_.push_back(
            {rules_.name, number, 0, "a line of more than 4096 bytes", ""});
      } else if (odd != line.end() && !comment) {
        fault(
            number,
            "a character beyond ASCII; in a name write \"\\uXXXX\", and a comment on a "
            "line of its own");
      }
    }
  }

  std::string pattern(const toml::node& node, std::string_view key) {
    const std::string value = node.value_or(std::string());
    if (value.empty()) {
      fault(node.source().begin.line,
            fmt::format("'{}' must be a pattern in quotes", key));
    }
    int choices = 0, open = 0;
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (value[i] == '\\') {
        ++i;
      } else if (value[i] == '{') {
        ++open;
        ++choices;
      } else if (value[i] == '}' && open > 0) {
        --open;
      }
    }
    if (open > 0 || choices > 1) {
      fault(node.source().begin.line,
            fmt::format("'{}' may have one {{a,b}}; \"\\\\{{\" is the character", key));
    }
    return fold(value);
  }

  void add(const toml::table& table) {
    Rule rule;
    rule.source_line = table.source().begin.line;
    int classes = 0, bounds = 0;
    const std::size_t faults_before = faults_.size();
    for (const auto& [key, node] : table) {
      const std::string_view name = key.str();
      if (name == "section") {
        rule.section = pattern(node, name);
      } else if (name == "row") {
        rule.row = pattern(node, name);
      } else if (name == "column") {
        rule.column = pattern(node, name);
      } else if (name == "line") {
        rule.line = pattern(node, name);
      } else if (name == "class") {
        ++classes;
        read_class(node, rule);
      } else if (name == "rel" || name == "abs") {
        ++bounds;
        const double value = node.value_or(-1.0);
        if (!std::isfinite(value) || value < 0 || node.is_boolean()) {
          fault(node.source().begin.line,
                fmt::format("'{}' must be a finite number, zero or above", name));
        }
        (name == "rel" ? rule.tolerance.relative : rule.tolerance.absolute) = value;
        rule.tolerance.kind = Tolerance::Kind::bound;
      } else {
        fault(key.source().begin.line,
              unknown("key", name,
                      {"section", "row", "column", "line", "class", "rel", "abs"}));
      }
    }
    if (faults_.size() > faults_before) return;
    const bool cell = !rule.row.empty() || !rule.column.empty();
    if ((classes > 0) == (bounds > 0)) {
      fault(rule.source_line, "a rule gives either 'class', or 'rel' and/or 'abs'");
    } else if (cell && !rule.line.empty()) {
      fault(rule.source_line,
            "a rule names a 'line', or a 'row' and 'column', not both");
    } else if (!cell && rule.line.empty() && rule.section.empty()) {
      fault(rule.source_line, "a rule names a 'section', 'row', 'column' or 'line'");
    }
    rules_.rules.push_back(std::move(rule));
  }

  void read_class(const toml::node& node, Rule& rule) {
    const std::string name = node.value_or(std::string());
    if (name == "exact") {
      rule.tolerance.kind = Tolerance::Kind::exact;
    } else if (name == "reported") {
      rule.kind = Class::reported;
    } else if (name == "machine") {
      rule.kind = Class::machine;
    } else if (name == "optional") {
      rule.kind = Class::optional;
    } else {
      fault(node.source().begin.line,
            unknown("class", name, {"exact", "reported", "machine", "optional"}));
    }
  }

  Rules rules_;
  std::string uncommented_;  // its text, without lines of comment
  std::vector<common::Diagnostic> faults_;
};

/// Where the "}" of the "{" at `open` stands, or the next "," before it.
std::size_t choice_end(std::string_view pattern, std::size_t open) {
  std::size_t i = open + 1;
  while (i < pattern.size() && pattern[i] != '}' && pattern[i] != ',') {
    i += 1 + (pattern[i] == '\\');
  }
  return std::min(i, pattern.size());
}

}  // namespace

const char* const kRuleSyntax =
    "Rules (rules.toml beside the evidence, shared by all machines):\n"
    "  [[rule]]\n"
    "  section = \"case *\"         # a heading, whole or up to the first of , ( : =\n"
    "  row = \"int8 *\"             # a row's first cell, and/or\n"
    "  column = \"{time (ms),vs f32}\"\n"
    "  # or  line = \"# p on *\"    # a line of prose, or a heading with its #\n"
    "  class = \"reported\"         # or  rel = 0.01  and/or  abs = 1e-6\n"
    "Patterns match a whole name: * is anything, {a,b} a choice, a backslash takes "
    "the\n"
    "next character as it is. The first rule that matches decides. Classes: exact (as\n"
    "printed), reported (a number or 'not timed'; a change is shown), machine (names "
    "the\n"
    "machine; must be there), optional (may be missing or extra). By default integers\n"
    "and text are equal, reals within one unit of the last place that is recorded.\n";

Rules parse_rules(std::string text, std::string name) {
  return Parser(std::move(text), std::move(name)).parse();
}

common::Diagnostic matches_nothing(const Rules& rules, std::size_t rule) {
  const std::size_t line = rules.rules[rule].source_line;
  return {
      rules.name, line, 1,
      "this rule matches nothing, here or in evidence beside it; correct or remove it",
      std::string(source_line(rules.text, line))};
}

bool matches(std::string_view pattern, std::string_view name) {
  if (pattern.empty()) return true;
  for (std::size_t open = 0; open < pattern.size(); ++open) {
    if (pattern[open] == '\\') {
      ++open;
    } else if (pattern[open] == '{') {
      std::size_t close = open;
      while (close < pattern.size() && pattern[close] != '}') {
        close = choice_end(pattern, close);
      }
      const std::string tail(pattern.substr(std::min(close + 1, pattern.size())));
      for (std::size_t at = open; at < close;) {
        const std::size_t end = choice_end(pattern, at);
        std::string one(pattern.substr(0, open));
        one.append(trim(pattern.substr(at + 1, end - at - 1))).append(tail);
        if (one.empty() ? name.empty() : matches(one, name)) return true;
        at = end;
      }
      return false;
    }
  }
  // Greedy from the left, going back to the last star: linear memory, no recursion.
  std::size_t p = 0, n = 0, star = std::string_view::npos, resume = 0;
  while (n < name.size()) {
    const bool taken = p + 1 < pattern.size() && pattern[p] == '\\';
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = n;
    } else if (p < pattern.size() && pattern[p + taken] == name[n]) {
      p += 1 + taken;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

std::string describe(const Rule& rule) {
  const Tolerance& bound = rule.tolerance;
  if (rule.kind == Class::reported) return "reported";
  if (rule.kind == Class::machine) return "machine";
  if (rule.kind == Class::optional) return "optional";
  if (bound.kind == Tolerance::Kind::exact) return "exact";
  if (bound.absolute == 0) return fmt::format("rel = {:g}", bound.relative);
  if (bound.relative == 0) return fmt::format("abs = {:g}", bound.absolute);
  return fmt::format("rel = {:g}, abs = {:g}", bound.relative, bound.absolute);
}

}  // namespace transcript
