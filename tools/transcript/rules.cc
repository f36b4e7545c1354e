#include "rules.h"

#include <fmt/format.h>

#include <stdexcept>

// Release 3.3.0 asserts, of some text that is no TOML, what it checks a line later.
constexpr void require_toml(bool holds) {
  if (!holds) throw std::logic_error("not TOML");
}
#define TOML_ASSERT(expression) require_toml(static_cast<bool>(expression))
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "suggest.h"
#include "text.h"

namespace transcript {
namespace {

constexpr std::array<std::pair<const char*, Class>, 5> kClasses{{
    {"exact", Class::exact},
    {"time", Class::time},
    {"ratio", Class::ratio},
    {"device", Class::device},
    {"absent-ok", Class::absent_ok},
}};

const std::vector<std::string> kKeys = {"block",  "row",   "column", "line",
                                        "figure", "class", "rel",    "abs"};

std::string_view source_line(std::string_view text, std::size_t line) {
  std::size_t begin = 0;
  for (std::size_t i = 1; i < line; ++i) {
    begin = text.find('\n', begin);
    if (begin == std::string_view::npos) return {};
    ++begin;
  }
  text = text.substr(begin, text.find('\n', begin) - begin);
  if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
  return text;
}

class Parser {
 public:
  Parser(std::string text, std::string name) {
    rules_.text = std::move(text);
    rules_.name = std::move(name);
  }

  Rules parse() {
    refuse_what_leads_astray();
    toml::table root;
    try {
      root = toml::parse(rules_.text);
    } catch (const toml::parse_error& error) {
      fault(error.source(), std::string(error.description()));
      throw common::DiagnosticError(std::move(faults_));
    } catch (const std::logic_error&) {
      throw common::DiagnosticError(
          {{rules_.name, 0, 0, "is not TOML: a name starts with an odd character",
            ""}});
    }
    for (const auto& [key, node] : root) {
      if (key.str() != "rule") {
        fault(key.source(), unknown(key.str(), {"rule"}));
      } else if (const toml::array* array = node.as_array();
                 array == nullptr || !array->is_homogeneous<toml::table>()) {
        fault(key.source(), "'rule' must be an array of tables: write [[rule]]");
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
  void fault(const toml::source_region& at, std::string message) {
    const std::size_t line = at.begin.line;
    faults_.push_back({rules_.name, line, at.begin.column, std::move(message),
                       std::string(source_line(rules_.text, line))});
  }

  static std::string unknown(std::string_view key,
                             const std::vector<std::string>& known) {
    const std::string near = common::closest(key, known);
    return fmt::format("unknown key '{}'{}", printable(key, 60),
                       near.empty() ? "" : fmt::format("; did you mean '{}'?", near));
  }

  std::string pattern(const toml::table& table, const char* key) {
    const toml::node* node = table.get(key);
    if (node == nullptr) return "";
    const auto value = node->value<std::string>();
    if (!node->is_string() || value->empty()) {
      fault(node->source(), fmt::format("'{}' must be a pattern in quotes", key));
      return "";
    }
    std::size_t braces = 0;
    for (std::size_t open = value->find('{'); open != std::string::npos;
         open = value->find('{', open + 1)) {
      const std::size_t close = value->find_first_of("{}", open + 1);
      if (close == std::string::npos || (*value)[close] != '}') {
        fault(node->source(), fmt::format("'{}' has a '{{' without its '}}'", key));
        return "";
      }
      ++braces;
    }
    if (braces > 4) {  // each doubles the work, or worse
      fault(node->source(), fmt::format("'{}' has more than four '{{'", key));
    }
    return fold(*value);
  }

  /// What release 3.3.0 of the library goes astray on: a name of many thousand parts
  /// nests as many tables, more than the stack holds; and of characters beyond ASCII it
  /// asks whether they are white space, wherever it expects some.
  void refuse_what_leads_astray() {
    constexpr std::size_t kLongest = 4096;
    std::string_view left = rules_.text;
    if (left.substr(0, 3) == "\xEF\xBB\xBF") left.remove_prefix(3);
    for (std::size_t line = 1; !left.empty(); ++line) {
      const std::string_view text = left.substr(0, left.find('\n'));
      left.remove_prefix(std::min(text.size() + 1, left.size()));
      if (text.size() > kLongest) {
        throw common::DiagnosticError(
            {{rules_.name, line, 0,
              fmt::format("a line of {} bytes; no rule needs more than {}", text.size(),
                          kLongest),
              ""}});
      }
      const std::size_t first = text.find_first_not_of(" \t");
      if (first == std::string_view::npos || text[first] == '#') continue;
      const auto odd = std::find_if(text.begin(), text.end(), [](char c) {
        return static_cast<unsigned char>(c) >= 0x80;
      });
      if (odd == text.end()) continue;
      throw common::DiagnosticError(
          {{rules_.name, line, static_cast<std::size_t>(odd - text.begin()) + 1,
            "a character beyond ASCII; in a name write \"\\uXXXX\", and a comment on a "
            "line of its own",
            std::string(text)}});
    }
  }

  std::optional<double> bound(const toml::table& table, const char* key) {
    const toml::node* node = table.get(key);
    if (node == nullptr) return std::nullopt;
    const auto value = node->value<double>();
    // An integer that no double holds has no value here.
    if (!value || !std::isfinite(*value) || !(*value >= 0)) {
      fault(node->source(),
            fmt::format("'{}' must be a finite number, zero or above", key));
      return std::nullopt;
    }
    return value;
  }

  void add(const toml::table& table) {
    const std::size_t faults_before = faults_.size();
    for (const auto& [key, node] : table) {
      if (std::find(kKeys.begin(), kKeys.end(), key.str()) == kKeys.end()) {
        fault(key.source(), unknown(key.str(), kKeys));
      }
    }
    Rule rule;
    rule.source_line = table.source().begin.line;
    rule.block = pattern(table, "block");
    rule.row = pattern(table, "row");
    rule.column = pattern(table, "column");
    rule.line = pattern(table, "line");
    if (const toml::node* figure = table.get("figure")) {
      const auto value = figure->value<std::int64_t>();
      if (!figure->is_integer() || *value < 1) {
        fault(figure->source(), "'figure' must be an integer from 1");
      } else {
        rule.figure = static_cast<std::size_t>(*value);
      }
    }
    const auto relative = bound(table, "rel");
    const auto absolute = bound(table, "abs");
    const toml::node* kind = table.get("class");
    if (kind != nullptr) read_class(*kind, rule);
    if (faults_.size() > faults_before) return;

    if (relative || absolute) {
      rule.kind = Class::tolerance;
      rule.relative = relative.value_or(0);
      rule.absolute = absolute.value_or(0);
    }
    const bool tolerant = relative || absolute;
    if (tolerant == (kind != nullptr)) {
      fault(table.source(), "a rule gives either 'class', or 'rel' and/or 'abs'");
    } else if (rule.line.empty() && rule.row.empty() && rule.column.empty()) {
      fault(table.source(), "a rule names a 'row' and/or 'column', or a 'line'");
    } else if (!rule.line.empty() && (!rule.row.empty() || !rule.column.empty())) {
      fault(table.source(), "a rule names a 'line', or a 'row' and 'column', not both");
    } else if (rule.figure > 0 && rule.line.empty()) {
      fault(table.source(), "'figure' counts the figures of a 'line'; none is given");
    } else if (rule.figure > 0 &&
               (rule.kind == Class::device || rule.kind == Class::absent_ok)) {
      fault(table.source(), "this class is about the whole line; leave 'figure' out");
    }
    rules_.rules.push_back(std::move(rule));
  }

  void read_class(const toml::node& node, Rule& rule) {
    const auto value = node.value<std::string>();
    std::vector<std::string> names;
    std::string list;
    for (const auto& [name, kind] : kClasses) {
      if (node.is_string() && *value == name) {
        rule.kind = kind;
        return;
      }
      names.push_back(name);
      list += (list.empty() ? "" : ", ") + names.back();
    }
    const std::string near = node.is_string() ? common::closest(*value, names) : "";
    fault(node.source(),
          "unknown class" + (near.empty() ? "; it is one of " + list
                                          : fmt::format("; did you mean '{}'?", near)));
  }

  Rules rules_;
  std::vector<common::Diagnostic> faults_;
};

}  // namespace

Rules parse_rules(std::string text, std::string name) {
  return Parser(std::move(text), std::move(name)).parse();
}

common::Diagnostic Rules::at(const Rule& rule, std::string message) const {
  return {name, rule.source_line, 1, std::move(message),
          std::string(transcript::source_line(text, rule.source_line))};
}

bool matches(std::string_view pattern, std::string_view name) {
  if (pattern.empty()) return true;
  if (const std::size_t open = pattern.find('{'); open != std::string_view::npos) {
    const std::size_t close = pattern.find('}', open);
    const std::string head(pattern.substr(0, open));
    const std::string tail(pattern.substr(close + 1));
    std::string_view choices = pattern.substr(open + 1, close - open - 1);
    for (;;) {
      const std::size_t comma = choices.find(',');
      const std::string one = head + std::string(trim(choices.substr(0, comma))) + tail;
      if (one.empty() ? name.empty() : matches(one, name)) return true;
      if (comma == std::string_view::npos) return false;
      choices.remove_prefix(comma + 1);
    }
  }
  // Greedy from the left, going back to the last star: linear memory, no recursion.
  std::size_t p = 0, n = 0, star = std::string_view::npos, resume = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p;
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
  if (rule.kind == Class::tolerance) {
    return rule.relative > 0 && rule.absolute > 0
               ? fmt::format("rel = {:g}, abs = {:g}", rule.relative, rule.absolute)
           : rule.relative > 0 ? fmt::format("rel = {:g}", rule.relative)
                               : fmt::format("abs = {:g}", rule.absolute);
  }
  for (const auto& [name, kind] : kClasses) {
    if (kind == rule.kind) return name;
  }
  return "last place";
}

}  // namespace transcript
