#include "decimal.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>

#include "text.h"

namespace transcript {
namespace {

/// A decimal; its digits stay in the text.
struct Decimal {
  bool negative = false;
  std::string_view whole;         // digits before the point
  std::string_view fraction;      // digits after it
  std::int64_t last = 0;          // power of ten of the last digit, printed zeros too
  std::size_t leading_zeros = 0;  // among whole + fraction

  std::size_t size() const { return whole.size() + fraction.size() - leading_zeros; }
  bool zero() const { return size() == 0; }
  int digit(std::size_t i) const {  // from the most significant
    i += leading_zeros;
    return (i < whole.size() ? whole[i] : fraction[i - whole.size()]) - '0';
  }
  std::int64_t first() const {  // power of ten of the first digit
    return last + static_cast<std::int64_t>(size()) - 1;
  }
  /// The digit at a power of ten, zero beyond either end.
  int at(std::int64_t power) const {
    if (power < last || power > first()) return 0;
    return digit(static_cast<std::size_t>(first() - power));
  }
};

Decimal parse(std::string_view number) {
  Decimal decimal;
  if (!number.empty() && (number[0] == '-' || number[0] == '+')) {
    decimal.negative = number[0] == '-';
    number.remove_prefix(1);
  }
  const auto digits = [&](std::size_t from) {
    std::size_t i = from;
    while (i < number.size() && is_digit(number[i])) ++i;
    return i;
  };
  std::size_t end = digits(0);
  decimal.whole = number.substr(0, end);
  if (end < number.size() && number[end] == '.') {
    const std::size_t begin = end + 1;
    end = digits(begin);
    decimal.fraction = number.substr(begin, end - begin);
  }
  std::int64_t exponent = 0;
  if (end < number.size()) {  // an exponent; beyond a quadrillion it saturates
    ++end;
    const bool negative = end < number.size() && number[end] == '-';
    if (end < number.size() && !is_digit(number[end])) ++end;
    for (; end < number.size() && exponent < 1'000'000'000'000'000; ++end) {
      exponent = exponent * 10 + (number[end] - '0');
    }
    if (negative) exponent = -exponent;
  }
  decimal.last = exponent - static_cast<std::int64_t>(decimal.fraction.size());
  std::size_t zeros = 0;
  while (zeros < decimal.whole.size() && decimal.whole[zeros] == '0') ++zeros;
  if (zeros == decimal.whole.size()) {
    std::size_t more = 0;
    while (more < decimal.fraction.size() && decimal.fraction[more] == '0') ++more;
    zeros += more;
  }
  decimal.leading_zeros = zeros;
  return decimal;
}

std::string_view unsigned_part(std::string_view number) {
  if (!number.empty() && (number[0] == '-' || number[0] == '+'))
    number.remove_prefix(1);
  return number;
}

}  // namespace

bool is_zero(std::string_view number) {
  return parse(number).zero();
}

bool is_nan(std::string_view number) {
  number = unsigned_part(number);
  return !number.empty() && (number[0] | 0x20) == 'n';
}

bool is_infinite(std::string_view number) {
  number = unsigned_part(number);
  return !number.empty() && (number[0] | 0x20) == 'i';
}

bool is_negative(std::string_view number) {
  return !number.empty() && number[0] == '-';
}

bool within_last_place(std::string_view recorded_text, std::string_view actual_text) {
  if (recorded_text == actual_text) return true;
  const Decimal recorded = parse(recorded_text);
  const Decimal actual = parse(actual_text);
  const std::int64_t unit = recorded.last;
  if (actual.zero() && recorded.zero()) return true;
  if (recorded.zero()) {
    // |actual| <= 10^unit: smaller, or exactly that power of ten.
    if (actual.first() != unit) return actual.first() < unit;
    if (actual.digit(0) != 1) return false;
    for (std::size_t i = 1; i < actual.size(); ++i) {
      if (actual.digit(i) != 0) return false;
    }
    return true;
  }
  if (!actual.zero() && actual.first() > recorded.first() + 1) return false;

  // recorded - actual, digit by digit from the top, in units of the last place. The
  // running value decides as soon as it leaves the range that lower digits can mend.
  const std::int64_t top =
      actual.zero() ? recorded.first() : std::max(actual.first(), recorded.first());
  const int sign = recorded.negative == actual.negative ? -1 : 1;
  std::int64_t difference = 0;
  for (std::int64_t power = top; power >= unit; --power) {
    difference = difference * 10 + recorded.at(power) +
                 (actual.zero() ? 0 : sign * actual.at(power));
    if (difference > 20 || difference < -20) return false;
  }
  // Below the unit only the actual number has digits.
  bool below = false;
  if (!actual.zero() && actual.last < unit) {
    const std::size_t digits = actual.size();
    const std::int64_t skip = actual.first() - unit + 1;
    for (std::size_t i = skip > 0 ? static_cast<std::size_t>(skip) : 0; i < digits;
         ++i) {
      if (actual.digit(i) != 0) {
        below = true;
        break;
      }
    }
  }
  if (!below) return difference >= -1 && difference <= 1;
  return sign > 0 ? difference >= -1 && difference <= 0
                  : difference >= 0 && difference <= 1;
}

double to_double(std::string_view number) {
  const double sign = is_negative(number) ? -1.0 : 1.0;
  if (is_nan(number)) return std::numeric_limits<double>::quiet_NaN();
  if (is_infinite(number)) return sign * std::numeric_limits<double>::infinity();
  const std::string_view digits = unsigned_part(number);
  double value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc::result_out_of_range) {
    const Decimal decimal = parse(number);
    value = decimal.first() > 0 ? std::numeric_limits<double>::infinity() : 0.0;
  }
  return sign * value;
}

bool within(std::string_view recorded_text, std::string_view actual_text,
            double relative, double absolute) {
  const double recorded = to_double(recorded_text);
  const double actual = to_double(actual_text);
  if (!std::isfinite(recorded) || !std::isfinite(actual)) return false;
  return std::fabs(actual - recorded) <=
         std::max(absolute, relative * std::fabs(recorded));
}

std::string last_place(std::string_view recorded) {
  const Decimal decimal = parse(recorded);
  if (recorded.find_first_of("eE") == std::string_view::npos && decimal.last <= 0 &&
      decimal.last > -10) {
    std::string unit = "1";
    if (decimal.last < 0) {
      unit = "0." + std::string(static_cast<std::size_t>(-decimal.last - 1), '0') + "1";
    }
    return unit;
  }
  const std::string digits = std::to_string(std::abs(decimal.last));
  return std::string("1e") + (decimal.last < 0 ? "-" : "+") +
         (digits.size() < 2 ? "0" : "") + digits;
}

}  // namespace transcript
