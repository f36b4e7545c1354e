// Numbers as programs print them: found in a line, and compared as printed.
//
// One number: 65, 65., 65.0, .5, -1.e-05, 1E-5, 1.0D+10, 1.234-100
// (Fortran), 2.0*10^10, 2.0×10⁻³, 1,001, nan, -inf. A unit may follow at once: 40.45x,
// 64%, 0.25ms; so may another number after an "x": 256x256x256. Digits of a name, a
// hash or a version are text: sm_75, m16n8k32, 7e3fa, 0x1F, 1.2.3.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace transcript {

struct Number {
  enum class Kind { integer, real, special };  // special: NaN or infinity
  std::size_t begin = 0, end = 0;              // in its line
  Kind kind = Kind::integer;

  std::string_view in(std::string_view line) const {
    return line.substr(begin, end - begin);
  }
};

/// The numbers of a line, one after the other.
class Numbers {
 public:
  explicit Numbers(std::string_view line) : line_(line) {}
  bool next(Number& number);

 private:
  std::size_t digits(std::size_t at) const;
  std::size_t power_of_ten(std::size_t at) const;
  bool read(Number& number);
  char at(std::size_t i) const { return i < line_.size() ? line_[i] : ' '; }

  std::string_view line_;
  std::size_t at_ = 0;
};

/// How far a number may be from the recorded one.
struct Tolerance {
  enum class Kind { last_place, exact, bound } kind = Kind::last_place;
  double relative = 0, absolute = 0;  // of a bound: the larger allowance counts
};

/// Whether `actual` is within the tolerance of `recorded`. By the last place that the
/// recorded form prints: integers are equal, reals at most one unit of it apart. NaN
/// agrees with NaN only, infinity with the same one only, by any tolerance.
bool agrees(std::string_view recorded, std::string_view actual,
            const Tolerance& tolerance);

/// Whether both are zero, one of them with a minus sign.
bool changed_sign_of_zero(std::string_view recorded, std::string_view actual);

double to_double(std::string_view number);

/// "+0.002 (+12.5 %)"; empty unless both are finite.
std::string change_between(std::string_view recorded, std::string_view actual);

/// "last place, 0.001": the unit of the last place that a real prints.
std::string last_place(std::string_view number);

}  // namespace transcript
