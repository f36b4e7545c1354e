// What a comparison found, for people and for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "compare.h"

namespace transcript {

/// One comparison and what it was between.
struct Compared {
  std::string recorded;  // names of the two sides
  std::string actual;
  Comparison comparison;
};

/// A diff, `-recorded +actual`, grouped by block, and one summary line; lines stay
/// within 80 columns unless a value itself is longer.
std::string human_report(const Compared& compared, bool color);

/// An object with "match", "recorded", "actual", counts, "differences", "reports",
/// "notes".
nlohmann::json json_report(const Compared& compared);

/// A JUnit document: a suite for each comparison, a failing test case for each
/// difference.
std::string junit_report(const std::vector<Compared>& all);

}  // namespace transcript
