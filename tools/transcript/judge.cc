#include "judge.h"

#include <cmath>

#include "text.h"

namespace transcript {
namespace {

constexpr std::uint64_t kSeed = 1469598103934665603u;

std::uint64_t hash_byte(std::uint64_t hash, char c) {
  return (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
}

std::uint64_t hash_folded(std::uint64_t hash, std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!is_space(text[i])) {
      hash = hash_byte(hash, text[i]);
    } else if (i == 0 || !is_space(text[i - 1])) {
      hash = hash_byte(hash, ' ');
    }
  }
  return hash;
}

}  // namespace

Judgement judge(std::string_view recorded, std::string_view actual,
                const Tolerance& tolerance) {
  Judgement result;
  recorded = trim(recorded);
  actual = trim(actual);
  Numbers recorded_numbers(recorded), actual_numbers(actual);
  Number r, a;
  std::size_t r_end = 0, a_end = 0;
  for (;;) {
    const bool r_more = recorded_numbers.next(r), a_more = actual_numbers.next(a);
    const std::size_t r_begin = r_more ? r.begin : recorded.size();
    const std::size_t a_begin = a_more ? a.begin : actual.size();
    if (r_more != a_more || !same_folded(recorded.substr(r_end, r_begin - r_end),
                                         actual.substr(a_end, a_begin - a_end))) {
      result.same_text = false;
      result.disagreements.clear();
      return result;
    }
    if (!r_more) return result;
    ++result.numbers;
    if (!agrees(r.in(recorded), a.in(actual), tolerance)) {
      result.disagreements.push_back({result.numbers, r, a});
    } else if (r.in(recorded) != a.in(actual) &&
               changed_sign_of_zero(r.in(recorded), a.in(actual))) {
      result.zero_changed_sign = true;
    }
    r_end = r.end;
    a_end = a.end;
  }
}

bool is_reportable(std::string_view text) {
  bool some = false;
  Numbers numbers(text);
  for (Number number; numbers.next(number); some = true) {
    if (!std::isfinite(to_double(number.in(text)))) return false;
  }
  return some || text.find("not timed") != std::string_view::npos ||
         text.find("n/a") != std::string_view::npos;
}

std::size_t count_numbers(std::string_view text) {
  std::size_t count = 0;
  Numbers numbers(text);
  for (Number number; numbers.next(number);) ++count;
  return count;
}

std::uint64_t hash_of(std::string_view text) {
  return hash_folded(kSeed, trim(text));
}

std::uint64_t shape_of(std::string_view text) {
  text = trim(text);
  std::uint64_t hash = kSeed;
  std::size_t end = 0;
  Numbers numbers(text);
  for (Number number; numbers.next(number); end = number.end) {
    hash = hash_byte(hash_folded(hash, text.substr(end, number.begin - end)), '\x01');
  }
  return hash_folded(hash, text.substr(end));
}

}  // namespace transcript
