// A line cut into numbers and the text around them, without copying.
#pragma once

#include <cstdint>
#include <string_view>

namespace transcript {

enum class Kind : std::uint8_t {
  text,     // any run of characters other than white space and numbers
  integer,  // -128
  real,     // 0.016, 1.907e-05: has a point or an exponent
  special,  // nan, inf, infinity, in any case and with a sign
};

struct Token {
  std::uint32_t begin = 0;  // bytes from the start of the line
  std::uint32_t end = 0;
  Kind kind = Kind::text;
  bool spaced = false;  // white space stands before it (never for a line's first)

  bool is_number() const { return kind != Kind::text; }
  std::string_view in(std::string_view line) const {
    return line.substr(begin, end - begin);
  }
};

/// Reads a line's tokens in order, in one pass. A number starts where no letter, digit
/// or underscore stands before it, or after the "x" that follows a number: "40.45x" is
/// a number and "x", "256x256x256" three numbers, while the digits of "sm_75" and
/// "int8", hexadecimal numbers and versions such as "1.2.3" are text.
class Tokens {
 public:
  explicit Tokens(std::string_view line) : line_(line) {}
  /// False at the end of the line.
  bool next(Token& token);

 private:
  std::size_t number_end(std::size_t at, Kind& kind) const;
  std::size_t special_end(std::size_t at) const;

  std::string_view line_;
  std::size_t at_ = 0;
  bool after_number_ = false;  // the token before was a number that ends at at_
  bool after_times_ = false;   // ... and so was the one before the "x" that ends there
};

}  // namespace transcript
