// Pairing the lines of two texts, so that what was inserted or removed stands alone.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace transcript {

/// Lines in order: of both sides where they are paired, else one is kAlone.
constexpr std::uint32_t kAlone = static_cast<std::uint32_t>(-1);
using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

/// A line for the search: equal `exact` is an equal line, equal `shape` is one that may
/// be paired, its figures to be compared.
struct LineKey {
  std::uint64_t exact = 0, shape = 0;
};

/// Equal stretches are walked in step. Where they part, the rest is a longest common
/// subsequence if it is small (at most kOptimal pairs); in longer texts the nearest
/// place is taken, within kWindow lines, where three lines in a row are equal again.
/// Texts with nothing in common cost a bounded number of comparisons: the search is
/// given up for longer and longer stretches, which are paired by position.
class Aligner {
 public:
  using Same = std::function<bool(std::size_t, std::size_t)>;
  using Key = std::function<LineKey(bool actual, std::size_t)>;

  Aligner(std::size_t n, std::size_t m, Same same, Key key)
      : n_(n), m_(m), same_(std::move(same)), key_(std::move(key)) {}

  Pairs run() {
    std::size_t i = 0, j = 0, stretch = kWindow;
    pairs_.reserve(std::max(n_, m_));
    while (i < n_ || j < m_) {
      if (i < n_ && j < m_ && same_(i, j)) {
        pair(i++, j++);
      } else if (i == n_ || j == m_ || n_ - i <= kOptimal / (m_ - j)) {
        optimal(i, n_, j, m_);
        break;
      } else if (const auto [di, dj] = resume(i, j); di + dj > 0) {
        optimal(i, i + di, j, j + dj);
        i += di;
        j += dj;
        stretch = kWindow;
      } else {
        const std::size_t length = std::min({stretch, n_ - i, m_ - j});
        for (std::size_t k = 0; k < length; ++k) pair(i++, j++);
        stretch *= 2;
      }
    }
    return std::move(pairs_);
  }

 private:
  static constexpr std::size_t kOptimal = std::size_t{1} << 20;
  static constexpr std::size_t kWindow = 128;

  void pair(std::size_t i, std::size_t j) {
    pairs_.emplace_back(static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j));
  }

  bool resumes_at(std::size_t i, std::size_t j) {
    std::size_t k = 0;
    while (k < 3 && i + k < n_ && j + k < m_ && same_(i + k, j + k)) ++k;
    return k == 3 || (k > 0 && (i + k == n_ || j + k == m_));
  }

  /// The fewest lines to leave out before both sides go on together; (0, 0) if none.
  std::pair<std::size_t, std::size_t> resume(std::size_t i, std::size_t j) {
    for (std::size_t total = 1; total <= 2 * kWindow; ++total) {
      // As many on either side first: changed lines rather than moved ones.
      for (std::size_t k = 0; k <= total + 1; ++k) {
        const std::size_t di = k % 2 == 0 ? total / 2 + k / 2 : total / 2 - (k + 1) / 2;
        if (di > total || di > kWindow || total - di > kWindow) continue;
        if (i + di > n_ || j + total - di > m_) continue;
        if (resumes_at(i + di, j + total - di)) return {di, total - di};
      }
    }
    return {0, 0};
  }

  /// The alignment of [i0, i1) with [j0, j1) that pairs most, equal lines before alike.
  void optimal(std::size_t i0, std::size_t i1, std::size_t j0, std::size_t j1) {
    const std::size_t rows = i1 - i0, columns = j1 - j0;
    std::vector<LineKey> recorded(rows), actual(columns);
    for (std::size_t i = 0; i < rows && columns > 0; ++i)
      recorded[i] = key_(false, i0 + i);
    for (std::size_t j = 0; j < columns && rows > 0; ++j)
      actual[j] = key_(true, j0 + j);
    enum : std::uint8_t { kPair, kMissing, kExtra };
    std::vector<std::uint32_t> below(columns + 1, 0), row(columns + 1, 0);
    std::vector<std::uint8_t> step(rows * columns);
    for (std::size_t i = rows; i-- > 0; std::swap(below, row)) {
      row[columns] = 0;
      for (std::size_t j = columns; j-- > 0;) {
        const std::uint32_t worth = recorded[i].exact == actual[j].exact   ? 3
                                    : recorded[i].shape == actual[j].shape ? 2
                                                                           : 0;
        row[j] = std::max(below[j], row[j + 1]);
        step[i * columns + j] = below[j] >= row[j + 1] ? kMissing : kExtra;
        if (worth > 0 && below[j + 1] + worth >= row[j]) {
          row[j] = below[j + 1] + worth;
          step[i * columns + j] = kPair;
        }
      }
    }
    std::size_t i = 0, j = 0;
    while (i < rows || j < columns) {
      const std::uint8_t way = i == rows      ? std::uint8_t{kExtra}
                               : j == columns ? std::uint8_t{kMissing}
                                              : step[i * columns + j];
      pairs_.emplace_back(
          way == kExtra ? kAlone : static_cast<std::uint32_t>(i0 + i),
          way == kMissing ? kAlone : static_cast<std::uint32_t>(j0 + j));
      i += way != kExtra;
      j += way != kMissing;
    }
  }

  std::size_t n_, m_;
  Same same_;
  Key key_;
  Pairs pairs_;
};

using Names = std::vector<std::string>;

/// Pairs equal names, the second of a name with the second. False if the pairs stand in
/// another order.
template <class Pair, class Missing, class Extra>
bool by_name(const Names& recorded, const Names& actual, Pair pair, Missing missing,
             Extra extra) {
  std::size_t i = 0;
  for (; i < recorded.size() && i < actual.size() && recorded[i] == actual[i]; ++i) {
    pair(i, i);
  }
  std::unordered_map<std::string_view, std::vector<std::size_t>> places;
  for (std::size_t j = actual.size(); j-- > i;) places[actual[j]].push_back(j);
  std::vector<bool> taken(actual.size(), false);
  for (std::size_t j = 0; j < i; ++j) taken[j] = true;
  std::size_t last = 0;
  bool ordered = true;
  for (; i < recorded.size(); ++i) {
    const auto found = places.find(recorded[i]);
    if (found == places.end() || found->second.empty()) {
      missing(i);
      continue;
    }
    const std::size_t j = found->second.back();
    found->second.pop_back();
    taken[j] = true;
    ordered = ordered && j >= last;
    last = j;
    pair(i, j);
  }
  for (std::size_t j = 0; j < actual.size(); ++j) {
    if (!taken[j]) extra(j);
  }
  return ordered;
}

}  // namespace transcript
