// One text against another: a cell, or a line of prose.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "number.h"

namespace transcript {

/// A number that left its tolerance: the `nth` of its text, from 1.
struct Disagreement {
  std::size_t nth = 0;
  Number recorded, actual;
};

/// What a comparison of two texts found.
struct Judgement {
  bool same_text = true;    // around the numbers, white space folded; else nothing else
  std::size_t numbers = 0;  // of the recorded text, as far as it was read
  bool zero_changed_sign = false;
  std::vector<Disagreement> disagreements;
};

Judgement judge(std::string_view recorded, std::string_view actual,
                const Tolerance& tolerance);

/// Whether a text may stand where a time or a ratio of times does: it has a number, and
/// none that is NaN or infinite, or it says "not timed" or "n/a".
bool is_reportable(std::string_view text);

std::size_t count_numbers(std::string_view text);

/// Equal for texts that differ in white space only ...
std::uint64_t hash_of(std::string_view text);
/// ... or in their numbers as well.
std::uint64_t shape_of(std::string_view text);

}  // namespace transcript
