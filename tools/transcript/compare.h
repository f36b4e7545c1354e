// Two documents compared, figure by figure, each as its rule demands.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "document.h"
#include "rules.h"

namespace transcript {

enum class What {
  figure,   // a number or a cell changed beyond its rule
  text,     // a line's words changed
  missing,  // a section, table, row, column or line of the recording is not there
  extra,    // one is there that the recording lacks
};

/// One place where they differ, or one figure whose change is reported only.
struct Entry {
  What what = What::figure;
  std::string section;  // as an address names it
  std::string address;  // see evidence.h; of a line or column, its place in words
  std::string recorded, actual;   // empty where there is none
  std::string change;             // "+0.002 (+12.5 %)" between two numbers, or empty
  std::string tolerance;          // what the change broke, or why it is excused
  std::size_t recorded_line = 0;  // from 1, 0 where there is none
  std::size_t actual_line = 0;
};

struct Comparison {
  std::size_t judged =
      0;  // figures, and lines and cells without one, that had to agree
  std::size_t reported = 0;  // figures of class reported ...
  std::size_t reported_changed = 0;
  std::size_t excused = 0;  // lines and cells of class machine, and what is optional
  std::size_t differing = 0;
  std::vector<Entry> differences;  // the first kListed of them, unless told otherwise
  std::vector<Entry> reports;      // ... and the first kListed of those that changed
  std::vector<std::string> notes;  // oddities that do not matter
  std::vector<bool> used;          // which rules matched something, on either side

  static constexpr std::size_t kListed = 1000;
  bool match() const { return differing == 0; }
};

/// Throws std::runtime_error when a side has no text, or when they match and nothing
/// was judged. Whether a rule that matched nothing here is of use elsewhere is for the
/// caller to know.
Comparison compare(const Document& recorded, const Document& actual, const Rules& rules,
                   std::size_t listed = Comparison::kListed);

/// Which rules match something in a document.
std::vector<bool> rules_used(const Document& document, const Rules& rules);

}  // namespace transcript
