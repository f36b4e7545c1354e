// "Did you mean ...": the known name that is nearest to an unknown one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace common {

/// The candidate with the smallest Levenshtein distance to `name`, if that is at most
/// a third of the name's length (and at least one edit is always forgiven); else an
/// empty string. Ties go to the first candidate.
std::string closest(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace common
