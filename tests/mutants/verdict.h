// Who noticed a wrong program, read from what it printed.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "mutant.h"

namespace mutants {

/// What one check saw, by the cases of the run.
struct Seen {
  std::set<std::string> judged, noticed;

  /// "all" of the cases in which the check was made, the names of some, or "-".
  std::string text() const;
};

struct Verdict {
  std::vector<Seen> checks;     // as List::checks
  std::set<std::string> other;  // what else failed, in the program's words
};

/// `report` is Markdown; `cases` is the list that the program ran, comma-separated.
Verdict read_verdict(const std::string& report, const std::vector<Check>& checks,
                     const std::string& cases);

/// The cells of a table row, or nothing where the line is none.
std::vector<std::string> cells(const std::string& line);

/// Joined by ", ".
std::string joined(const std::set<std::string>& words);

}  // namespace mutants
