// Two transcripts compared, figure by figure, each as its class demands.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "diagnostic.h"
#include "model.h"
#include "rules.h"

namespace transcript {

enum class What {
  figure,   // a number, or a table's cell, changed beyond its class
  text,     // words changed
  line,     // a whole line is another one
  missing,  // a line, row or column of the recording is not there
  extra,    // one is there that the recording lacks
};

/// One place where the transcripts differ, or one figure that is reported only.
struct Entry {
  What what = What::figure;
  std::string block;     // of the recording (of the other side for an extra line)
  std::string address;   // see evidence.h; for a line or column, its place in words
  std::string recorded;  // empty where there is none
  std::string actual;
  std::string change;             // "+0.002 (+12.5 %)" between two numbers, or empty
  std::string tolerance;          // what the change broke, or the class that excuses it
  std::size_t recorded_line = 0;  // from 1, 0 where there is none
  std::size_t actual_line = 0;
};

struct Comparison {
  std::size_t lines = 0;    // of the recording
  std::size_t figures = 0;  // numbers of the recording
  std::size_t differing = 0;
  std::vector<Entry> differences;  // the first kListed of them, unless told otherwise
  std::size_t reported = 0;        // figures whose class is time, ratio or device ...
  std::size_t reported_changed = 0;
  std::vector<Entry> reports;      // ... and the first kListed of those that changed
  std::vector<std::string> notes;  // oddities that do not matter, -0 and absences

  static constexpr std::size_t kListed = 1000;
  bool match() const { return differing == 0; }
};

/// Compares in one pass, in memory proportional to the line index. Throws
/// common::DiagnosticError when either side has no text, or when a rule other than an
/// absent-ok one matched nothing in the recording.
Comparison compare(const Transcript& recorded, const Transcript& actual,
                   const Rules& rules, std::size_t listed = Comparison::kListed);

/// Which rules match something in a transcript, by index.
std::vector<bool> matched_rules(const Transcript& transcript, const Rules& rules);

}  // namespace transcript
