// What each figure must be: rules.toml, parsed and matched.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "diagnostic.h"
#include "number.h"

namespace transcript {

enum class Class {
  judged,    // within the rule's tolerance; the default is the last place
  reported,  // a time or a ratio of times: a finite number or "not timed", "n/a"
  machine,   // text that names the machine: must be there
  optional,  // may be missing, or there in addition; where it stands, it is judged
};

/// One [[rule]]. A pattern matches a whole name; "*" stands for any characters, "{a,b}"
/// for one of these, "\" takes the next character as it is. Empty matches everything.
struct Rule {
  std::string section, row, column, line;
  Class kind = Class::judged;
  Tolerance tolerance;
  std::size_t source_line = 0;
};

/// The rules of one file; of those that match a figure, the first decides.
struct Rules {
  std::string name;  // of the file
  std::string text;  // its bytes
  std::vector<Rule> rules;
};

/// For --help.
extern const char* const kRuleSyntax;

bool matches(std::string_view pattern, std::string_view name);

/// Throws common::DiagnosticError with everything that is wrong.
Rules parse_rules(std::string text, std::string name);

/// "this rule matches nothing ...", at the rule.
common::Diagnostic matches_nothing(const Rules& rules, std::size_t rule);

/// "reported", "rel = 0.01, abs = 1e-06", ...: as a rule writes it.
std::string describe(const Rule& rule);

}  // namespace transcript
