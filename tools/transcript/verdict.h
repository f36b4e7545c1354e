// One recorded figure against one printed one, as a rule has it.
#pragma once

#include <string>
#include <string_view>

#include "rules.h"
#include "token.h"

namespace transcript {

/// Classes that are reported and not judged.
bool is_report(Class kind);

/// Whether a number is within its class; `rule` is null for the default. Written so
/// that NaN fails everywhere but against NaN, and infinity but against the same one.
bool agrees(std::string_view recorded, Kind recorded_kind, std::string_view actual,
            Kind actual_kind, const Rule* rule);

/// Whether a number is finite and above zero, as times and ratios must be.
bool is_positive(std::string_view number);

/// Whether a cell's text may stand where a time or a ratio would.
bool excused(std::string_view cell, Class kind);

/// Whether both are zeros, and one of them has a minus sign.
bool changed_sign_of_zero(std::string_view recorded, std::string_view actual);

/// "+0.002 (+12.5 %)" for the first numbers of two texts; empty unless both begin with
/// a finite one.
std::string change_between(std::string_view recorded, std::string_view actual);

/// What the change of a figure broke: "last place, 0.001", "rel = 0.01", "exact", ...
std::string tolerance_of(const Rule* rule, std::string_view recorded);

}  // namespace transcript
