#include "align.h"

#include <algorithm>
#include <unordered_map>

namespace transcript {
namespace {

constexpr std::size_t kSmall = std::size_t{1} << 20;  // pairs to look at
using Keys = std::vector<LineKey>;

/// The alignment of recorded lines from `i0` with actual ones from `j0` that pairs
/// most, equal lines before alike ones.
void align_small(const LineKey* recorded, std::uint32_t rows, const LineKey* actual,
                 std::uint32_t columns, std::uint32_t i0, std::uint32_t j0,
                 Pairs& pairs) {
  if (static_cast<std::size_t>(rows) * columns > kSmall) {
    for (std::uint32_t k = 0; k < std::max(rows, columns); ++k) {
      pairs.emplace_back(k < rows ? i0 + k : kAlone, k < columns ? j0 + k : kAlone);
    }
    return;
  }
  enum : std::uint8_t { kPair, kMissing, kExtra };
  std::vector<std::uint32_t> below(columns + 1, 0), row(columns + 1, 0);
  std::vector<std::uint8_t> step(static_cast<std::size_t>(rows) * columns);
  for (std::size_t i = rows; i-- > 0; std::swap(below, row)) {
    for (std::size_t j = columns; j-- > 0;) {
      const std::uint32_t worth = recorded[i].exact == actual[j].exact   ? 3
                                  : recorded[i].shape == actual[j].shape ? 2
                                                                         : 0;
      row[j] = std::max(below[j], row[j + 1]);
      step[i * columns + j] = below[j] >= row[j + 1] ? kMissing : kExtra;
      if (worth == 0 || below[j + 1] + worth < row[j]) continue;
      row[j] = below[j + 1] + worth;
      step[i * columns + j] = kPair;
    }
  }
  for (std::uint32_t i = 0, j = 0; i < rows || j < columns;) {
    const std::uint8_t way = i == rows      ? std::uint8_t{kExtra}
                             : j == columns ? std::uint8_t{kMissing}
                                            : step[std::size_t{i} * columns + j];
    pairs.emplace_back(way == kExtra ? kAlone : i0 + i,
                       way == kMissing ? kAlone : j0 + j);
    i += way != kExtra;
    j += way != kMissing;
  }
}

}  // namespace

Pairs align(std::uint32_t n, std::uint32_t m,
            const std::function<bool(std::uint32_t, std::uint32_t)>& same,
            const std::function<LineKey(bool, std::uint32_t)>& key) {
  Pairs pairs;
  pairs.reserve(std::max(n, m));
  std::uint32_t i = 0, j = 0, tail = 0;
  for (; i < n && j < m && same(i, j); ++i, ++j) pairs.emplace_back(i, j);
  while (tail < n - i && tail < m - j && same(n - tail - 1, m - tail - 1)) ++tail;
  const std::uint32_t rows = n - tail - i, columns = m - tail - j;
  const bool large = static_cast<std::size_t>(rows) * columns > kSmall;
  if (large && rows == columns) {  // changed in place, most likely: no keys are needed
    std::uint32_t equal = 0;
    for (std::uint32_t k = 0; k < rows; ++k) equal += same(i + k, j + k);
    if (equal == 0 || equal > rows / 2) {
      for (; i < n && j < m; ++i, ++j) pairs.emplace_back(i, j);
      return pairs;
    }
  }
  Keys recorded(columns > 0 ? rows : 0), actual(rows > 0 ? columns : 0);
  for (std::uint32_t k = 0; k < recorded.size(); ++k) recorded[k] = key(false, i + k);
  for (std::uint32_t k = 0; k < actual.size(); ++k) actual[k] = key(true, j + k);
  std::uint32_t r = 0, a = 0;  // up to here all are paired
  if (large) {
    std::unordered_map<std::uint64_t, std::pair<std::uint32_t, std::uint32_t>> once;
    for (const LineKey& one : recorded) ++once[one.exact].first;
    for (std::uint32_t k = 0; k < columns; ++k) {
      auto& [count, place] = once[actual[k].exact];
      count += count > 0 ? 1000 : 2;
      place = k;
    }
    for (std::uint32_t k = 0; k < rows; ++k) {
      const auto [count, place] = once[recorded[k].exact];
      if (count != 1001 || place < a) continue;
      align_small(&recorded[r], k - r, &actual[a], place - a, i + r, j + a, pairs);
      pairs.emplace_back(i + k, j + place);
      r = k + 1;
      a = place + 1;
    }
  }
  align_small(recorded.data() + (recorded.empty() ? 0 : r), rows - r,
              actual.data() + (actual.empty() ? 0 : a), columns - a, i + r, j + a,
              pairs);
  for (std::uint32_t k = tail; k > 0; --k) pairs.emplace_back(n - k, m - k);
  return pairs;
}

}  // namespace transcript
