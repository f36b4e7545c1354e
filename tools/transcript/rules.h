// What each figure's class is: rules.toml, parsed and matched.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "diagnostic.h"

namespace transcript {

enum class Class {
  last_place,  // the default: integers and text exact, reals within their last place
  exact,       // as printed
  tolerance,   // |actual - recorded| <= max(abs, rel * |recorded|)
  time,        // reported, not judged: a positive number or "not timed"
  ratio,       // the same, and "n/a"
  device,      // text that names the machine: must be there
  absent_ok,   // the line, row or column may be missing; where it stands, the default
};

/// One [[rule]]. A pattern matches a whole folded name; "*" stands for any characters
/// and
/// "{a,b}" for one of the alternatives. An empty pattern matches everything.
struct Rule {
  std::string block;
  std::string row, column;  // cells of tables
  std::string line;         // or a prose line, all of it
  std::size_t figure = 0;   // only the n-th figure of that line, from 1; 0 means all
  Class kind = Class::last_place;
  double relative = 0;
  double absolute = 0;
  std::size_t source_line = 0;  // where it stands in the file

  bool is_prose() const { return !line.empty(); }
};

/// The rules of one file. The first rule that matches a figure decides.
struct Rules {
  std::string name;  // of the file
  std::string text;  // its bytes
  std::vector<Rule> rules;

  common::Diagnostic at(const Rule& rule, std::string message) const;
};

bool matches(std::string_view pattern, std::string_view name);

/// Reads `text`, TOML with an array of tables `rule`: keys `block`; `row` and `column`,
/// or `line` and `figure`; and `class`, or `rel` and/or `abs`. Throws
/// common::DiagnosticError with everything that is wrong.
Rules parse_rules(std::string text, std::string name);

/// "time", "rel = 0.01, abs = 1e-06", ...: as a rule writes it.
std::string describe(const Rule& rule);

}  // namespace transcript
