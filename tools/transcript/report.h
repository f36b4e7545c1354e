// What a comparison found, for people and for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "compare.h"

namespace transcript {

/// One comparison and what it was between.
struct Compared {
  std::string recorded, actual;  // names of the two sides
  Comparison comparison;
};

/// A diff, `-recorded +actual`, grouped by section, and one summary line.
std::string human_report(const Compared& compared, bool color);

/// An object with "match", "recorded", "actual", counts, "differences", "reports",
/// "notes".
nlohmann::json json_report(const Compared& compared);

/// A JSON document as text; bytes that are no UTF-8 are replaced.
std::string to_text(const nlohmann::json& document);

}  // namespace transcript
