#include "token.h"

#include <array>

#include "text.h"

namespace transcript {
namespace {

enum : std::uint8_t { kSpace = 1, kDigit = 2, kLetter = 4, kSign = 8, kPoint = 16 };

constexpr std::array<std::uint8_t, 256> classes() {
  std::array<std::uint8_t, 256> table{};
  for (int c = '\t'; c <= '\r'; ++c) table[static_cast<std::size_t>(c)] = kSpace;
  table[' '] = kSpace;
  for (int c = '0'; c <= '9'; ++c) table[static_cast<std::size_t>(c)] = kDigit;
  for (int c = 'a'; c <= 'z'; ++c) {
    table[static_cast<std::size_t>(c)] = kLetter;
    table[static_cast<std::size_t>(c - 'a' + 'A')] = kLetter;
  }
  table['_'] = kLetter;
  table['+'] = table['-'] = kSign;
  table['.'] = kPoint;
  return table;
}
constexpr std::array<std::uint8_t, 256> kClass = classes();

bool is(char c, std::uint8_t mask) {
  return (kClass[static_cast<unsigned char>(c)] & mask) != 0;
}

bool equal_ignoring_case(std::string_view text, std::string_view lower) {
  if (text.size() != lower.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((text[i] | 0x20) != lower[i]) return false;
  }
  return true;
}

}  // namespace

/// Where the number that starts at `at` ends; `at` itself when none does.
std::size_t Tokens::number_end(std::size_t at, Kind& kind) const {
  const std::size_t size = line_.size();
  const auto digits = [&](std::size_t i) {
    while (i < size && is(line_[i], kDigit)) ++i;
    return i;
  };
  std::size_t begin = at;
  if (is(line_[begin], kSign)) ++begin;
  std::size_t end = digits(begin);
  const bool whole = end > begin;
  kind = Kind::integer;
  if (end + 1 < size && line_[end] == '.' && is(line_[end + 1], kDigit)) {
    end = digits(end + 1);
    kind = Kind::real;
  }
  if (end == begin) return at;
  if (whole && end + 1 < size && line_[end] == '.' && is(line_[end + 1], kDigit)) {
    return at;  // a version, "1.2.3"
  }
  if (whole && end - begin == 1 && line_[begin] == '0' && end < size &&
      (line_[end] | 0x20) == 'x') {
    return at;  // hexadecimal
  }
  if (end < size && (line_[end] | 0x20) == 'e') {
    std::size_t exponent = end + 1;
    if (exponent < size && is(line_[exponent], kSign)) ++exponent;
    if (const std::size_t last = digits(exponent); last > exponent) {
      kind = Kind::real;
      end = last;
    }
  }
  return end;
}

std::size_t Tokens::special_end(std::size_t at) const {
  std::size_t begin = at;
  if (is(line_[begin], kSign)) ++begin;
  std::size_t end = begin;
  while (end < line_.size() && end - begin < 9 && is(line_[end], kLetter | kDigit)) {
    ++end;
  }
  const std::string_view word = line_.substr(begin, end - begin);
  const bool known = equal_ignoring_case(word, "nan") ||
                     equal_ignoring_case(word, "inf") ||
                     equal_ignoring_case(word, "infinity");
  return known ? end : at;
}

bool Tokens::next(Token& token) {
  const std::size_t size = line_.size();
  std::size_t begin = at_;
  while (begin < size && is(line_[begin], kSpace)) ++begin;
  if (begin == size) return false;
  token.spaced = begin > at_ && at_ > 0;
  token.begin = static_cast<std::uint32_t>(begin);
  bool glued = begin == at_;
  const bool times = glued && after_times_;
  const bool unit = glued && after_number_;
  after_number_ = after_times_ = false;

  // A word character before a number makes both one identifier.
  bool in_word = glued && begin > 0 && is(line_[begin - 1], kLetter | kDigit) && !times;
  std::size_t end = begin;
  while (end < size && !is(line_[end], kSpace)) {
    const char c = line_[end];
    const bool sign = is(c, kSign);
    if (!in_word && is(c, kDigit | kSign | kPoint | kLetter)) {
      const char before = end > begin || glued ? (end > 0 ? line_[end - 1] : ' ') : ' ';
      const bool bound = sign && (is(before, kLetter | kDigit | kSign | kPoint) ||
                                  before == ')' || before == ']');
      std::size_t last = end;
      Kind kind = Kind::special;
      if (!bound && !(c == '.' && is(before, kPoint))) {
        if (!is(c, kLetter)) last = number_end(end, kind);
        if (last == end && (sign || (c | 0x20) == 'n' || (c | 0x20) == 'i')) {
          kind = Kind::special;
          last = special_end(end);
        }
      }
      if (last > end) {
        if (end > begin) break;  // the text before it comes first
        token.end = static_cast<std::uint32_t>(last);
        token.kind = kind;
        after_number_ = true;
        at_ = last;
        return true;
      }
    }
    if (unit && end == begin && c == 'x' && end + 1 < size &&
        is(line_[end + 1], kDigit)) {
      ++end;
      after_times_ = true;
      break;
    }
    // Text that began with a digit, a version say, runs on over its points.
    in_word = is(c, kLetter | kDigit) || (in_word && c == '.');
    ++end;
  }
  token.end = static_cast<std::uint32_t>(end);
  token.kind = Kind::text;
  at_ = end;
  return true;
}

}  // namespace transcript
