// Printed numbers compared as what they are, decimals: no rounding, any length.
#pragma once

#include <string>
#include <string_view>

namespace transcript {

/// True for "0", "-0", "0.000", "0e5".
bool is_zero(std::string_view number);
/// True for "nan", "-NaN", "inf", "+Infinity": what Kind::special holds.
bool is_nan(std::string_view number);
bool is_infinite(std::string_view number);
bool is_negative(std::string_view number);

/// |actual - recorded| <= one unit of the last place that `recorded` prints (of "0.016"
/// 0.001, of "1.907e-05" 1e-08). Exact and linear in the digits; finite numbers only.
bool within_last_place(std::string_view recorded, std::string_view actual);

/// |actual - recorded| <= max(absolute, relative * |recorded|), in double precision.
/// A number beyond double's range, or not finite, is never within.
bool within(std::string_view recorded, std::string_view actual, double relative,
            double absolute);

/// The nearest double, infinite beyond its range; NaN and infinities as printed.
double to_double(std::string_view number);

/// "0.001" for "0.016", "1e-08" for "1.907e-05": one unit of the last place.
std::string last_place(std::string_view recorded);

}  // namespace transcript
