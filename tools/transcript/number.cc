#include "number.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include "text.h"

namespace transcript {
namespace {

constexpr auto npos = std::string_view::npos;

/// Superscript digits and signs, as UTF-8.
constexpr std::array<std::string_view, 12> kSuperscripts{"⁰", "¹", "²", "³", "⁴", "⁵",
                                                         "⁶", "⁷", "⁸", "⁹", "⁺", "⁻"};

bool is_sign(char c) {
  return c == '+' || c == '-';
}
char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
}
bool is_nan_or_infinity(std::string_view word) {
  std::string text;
  for (const char c : word.substr(0, 9)) text += lower(c);
  return text == "nan" || text == "inf" || text == "infinity";
}

/// A finite number taken apart: (-) mantissa * 10^exponent; of more than 18 digits the
/// first 18.
struct Decimal {
  bool negative = false, real = false;
  std::uint64_t mantissa = 0;
  int exponent = 0;
  int digits = 0;  // of the mantissa, leading zeros aside

  long double value() const {
    const long double size = static_cast<long double>(mantissa) *
                             powl(10, static_cast<long double>(exponent));
    return mantissa == 0 ? 0 : negative ? -size : size;
  }
};

Decimal parse(std::string_view text) {
  Decimal number;
  std::size_t i = 0;
  if (is_sign(text[0])) number.negative = text[i++] == '-';
  bool after_point = false;
  int places = 0, dropped = 0;
  for (; i < text.size() && (is_digit(text[i]) || text[i] == '.' || text[i] == ',');
       ++i) {
    if (text[i] == '.') after_point = true;
    if (!is_digit(text[i])) continue;
    places += after_point;
    if (number.digits == 0 && text[i] == '0') continue;
    if (++number.digits <= 18) {
      number.mantissa =
          number.mantissa * 10 + static_cast<std::uint64_t>(text[i] - '0');
    } else {
      ++dropped;
    }
  }
  // What is left is an exponent: its marks ("e", "*10^", none), then sign and digits.
  const std::size_t ten = text.find("10", i);
  if (i < text.size() && !is_sign(text[i]) && ten != npos && lower(text[i]) != 'e' &&
      lower(text[i]) != 'd') {
    i = ten + 2;
  }
  number.real = places > 0 || i < text.size();
  int exponent = 0;
  bool minus = false;
  while (i < text.size()) {
    std::size_t used = 1;
    int digit = is_digit(text[i]) ? text[i] - '0' : text[i] == '-' ? 11 : -1;
    for (std::size_t s = 0; s < kSuperscripts.size() && text[i] < 0; ++s) {
      if (text.substr(i, kSuperscripts[s].size()) != kSuperscripts[s]) continue;
      digit = static_cast<int>(s);
      used = kSuperscripts[s].size();
    }
    minus = minus || digit == 11;
    if (digit >= 0 && digit < 10 && exponent < 100000) exponent = exponent * 10 + digit;
    i += used;
  }
  number.exponent = (minus ? -exponent : exponent) - places + dropped;
  return number;
}

bool is_special(std::string_view text) {
  return is_nan_or_infinity(text.substr(is_sign(text[0])));
}

/// In whole units of the smaller exponent's power of ten wherever these fit.
bool within_last_place(std::string_view recorded_text, std::string_view actual_text) {
  const Decimal recorded = parse(recorded_text), actual = parse(actual_text);
  const int low = std::min(recorded.exponent, actual.exponent);
  const int high = std::max(recorded.exponent, actual.exponent);
  if (high - low > 18 || recorded.digits > 18 || actual.digits > 18) {
    if (!recorded.real && !actual.real) return recorded_text == actual_text;
    const long double unit =
        recorded.real ? powl(10, static_cast<long double>(recorded.exponent)) : 0;
    return std::abs(actual.value() - recorded.value()) <= unit;
  }
  __extension__ using Wide = __int128;
  const auto scaled = [&](const Decimal& number, std::uint64_t mantissa) {
    Wide value = mantissa;
    for (int e = low; e < number.exponent; ++e) value *= 10;
    return number.negative ? -value : value;
  };
  const Wide apart =
      scaled(actual, actual.mantissa) - scaled(recorded, recorded.mantissa);
  const Wide unit = recorded.real ? scaled(recorded, 1) : 0;
  return (apart < 0 ? -apart : apart) <= (unit < 0 ? -unit : unit);
}

}  // namespace

std::size_t Numbers::digits(std::size_t at) const {
  while (at < line_.size() && is_digit(line_[at])) ++at;
  return at;
}

/// The end of "*10^-3" or "×10⁻³" at `at`, spaces around the sign allowed; or `at`.
std::size_t Numbers::power_of_ten(std::size_t at) const {
  std::size_t i = at + (this->at(at) == ' ');
  const std::string_view left = line_.substr(std::min(i, line_.size()));
  if (left.substr(0, 1) == "*") {
    ++i;
  } else if (left.substr(0, 2) == "×" || left.substr(0, 2) == "·") {
    i += 2;
  } else {
    return at;
  }
  i += this->at(i) == ' ';
  if (this->at(i) != '1' || this->at(i + 1) != '0') return at;
  i += 2;
  if (this->at(i) == '^') {
    const std::size_t exponent = i + 1 + is_sign(this->at(i + 1));
    return digits(exponent) > exponent ? digits(exponent) : at;
  }
  const std::size_t begin = i;
  for (bool more = true; more;) {
    more = false;
    for (const std::string_view one : kSuperscripts) {
      if (line_.substr(std::min(i, line_.size()), one.size()) != one) continue;
      i += one.size();
      more = true;
    }
  }
  return i > begin ? i : at;
}

/// Reads the number at number.begin, where a digit stands, or a sign or point before
/// one. False, with `at_` behind it, if what stands there is a name made of digits too.
bool Numbers::read(Number& number) {
  std::size_t i = number.begin;
  if (is_sign(line_[i])) ++i;
  const std::size_t whole = i;
  i = digits(i);
  const bool grouped = i > whole && i - whole <= 3;
  while (grouped && at(i) == ',' && digits(i + 1) == i + 4) i += 4;  // "1,001"
  bool point = false, exponent = false, name = false;
  number.kind = Number::Kind::integer;
  if (at(i) == '.' && is_digit(at(i + 1))) {
    point = true;
    i = digits(i + 1);
    name = at(i) == '.' && is_digit(at(i + 1));  // a version
  } else if (at(i) == '.' && at(i + 1) != '.' && !is_word(at(i + 1))) {
    ++i;  // "65."
  } else if (at(i) == '.' && (lower(at(i + 1)) == 'e' || lower(at(i + 1)) == 'd') &&
             is_sign(at(i + 2)) && is_digit(at(i + 3))) {
    point = true;
    ++i;  // "1.e-05"
  } else if (at(i) == '.' && is_word(at(i + 1))) {
    name = true;  // a file
  }
  const char mark = lower(at(i));
  const bool sign = is_sign(at(i + 1));
  if ((mark == 'e' || (mark == 'd' && (point || sign))) && is_digit(at(i + 1 + sign))) {
    exponent = true;
    i = digits(i + 1 + sign);
    name = name || (is_word(at(i)) && !point && !sign);
  } else if (point && is_sign(at(i)) && digits(i + 1) == i + 4 && !is_word(at(i + 4)) &&
             at(i + 4) != '.') {
    exponent = true;
    i += 4;
  } else if (const std::size_t end = power_of_ten(i); end > i) {
    exponent = true;
    i = end;
  }
  if (point || exponent) number.kind = Number::Kind::real;
  const bool hexadecimal = i == whole + 1 && line_[whole] == '0' &&
                           lower(at(i)) == 'x' && is_word(at(i + 1));
  std::size_t unit = i;
  while (is_word(at(unit)) && !is_digit(at(unit)) && at(unit) != '_') ++unit;
  const bool times = unit == i + 1 && at(i) == 'x' && is_digit(at(unit));
  if (hexadecimal || (is_word(at(unit)) && !times)) name = true;
  number.end = i;
  at_ = times && !name ? unit : i;
  while (name && (is_word(at(at_)) || (at(at_) == '.' && is_word(at(at_ + 1))))) ++at_;
  return !name;
}

bool Numbers::next(Number& number) {
  // Behind the "x" of "256x256" the digits are not a name's.
  bool fresh = at_ > 0 && at_ < line_.size() && is_digit(line_[at_]);
  for (; at_ < line_.size(); fresh = false) {
    const char c = line_[at_];
    const char before = at_ == 0 || fresh ? ' ' : line_[at_ - 1];
    const bool sign = is_sign(c) && !is_word(before) && before != ')' &&
                      before != ']' && before != '.' && !is_sign(before);
    const std::size_t start = at_ + sign;
    if (is_digit(at(start)) || (at(start) == '.' && is_digit(at(start + 1)) &&
                                before != '.' && !is_word(before))) {
      number.begin = at_;
      if (read(number)) return true;
      continue;
    }
    if (!is_word(at(start))) {
      ++at_;
      continue;
    }
    std::size_t end = start;  // a word
    while (end < line_.size() &&
           (is_word(line_[end]) || (line_[end] == '.' && is_word(at(end + 1))))) {
      ++end;
    }
    number = {at_, end, Number::Kind::special};
    at_ = end;
    const char first = lower(line_[start]);
    if ((first == 'n' || first == 'i') && !is_word(before) &&
        is_nan_or_infinity(line_.substr(start, end - start))) {
      return true;
    }
  }
  return false;
}

bool agrees(std::string_view recorded, std::string_view actual,
            const Tolerance& tolerance) {
  if (recorded == actual) return true;
  if (is_special(recorded) || is_special(actual)) {
    const double r = to_double(recorded), a = to_double(actual);
    return r == a || (std::isnan(r) && std::isnan(a));
  }
  if (tolerance.kind == Tolerance::Kind::exact) return false;
  if (tolerance.kind == Tolerance::Kind::last_place) {
    return within_last_place(recorded, actual);
  }
  const Decimal r = parse(recorded), a = parse(actual);
  // The bound itself was rounded when it was read.
  const long double allowed = std::max<long double>(
      tolerance.absolute, tolerance.relative * std::abs(r.value()));
  const long double apart = std::abs(a.value() - r.value());
  return apart <= allowed * (1 + std::numeric_limits<double>::epsilon());
}

bool changed_sign_of_zero(std::string_view recorded, std::string_view actual) {
  if (is_special(recorded) || is_special(actual)) return false;
  const Decimal r = parse(recorded), a = parse(actual);
  return r.digits == 0 && a.digits == 0 && r.negative != a.negative;
}

double to_double(std::string_view number) {
  if (!is_special(number)) return static_cast<double>(parse(number).value());
  const double size = lower(number[is_sign(number[0])]) == 'n'
                          ? std::numeric_limits<double>::quiet_NaN()
                          : std::numeric_limits<double>::infinity();
  return number[0] == '-' ? -size : size;
}

std::string change_between(std::string_view recorded, std::string_view actual) {
  const double r = to_double(recorded), a = to_double(actual);
  if (!std::isfinite(r) || !std::isfinite(a)) return "";
  const std::string change = fmt::format("{:+.3g}", a - r);
  if (r == 0 || r == a) return change;
  return change + fmt::format(" ({:+.3g} %)", 100 * (a - r) / std::abs(r));
}

std::string last_place(std::string_view number) {
  const Decimal decimal = parse(number);
  return decimal.real ? fmt::format("last place, 1e{:+03d}", decimal.exponent)
                      : "an integer, exact";
}

}  // namespace transcript
