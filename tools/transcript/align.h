// Pairing two sequences, lines or tokens, so that what was inserted or removed stands
// alone: a longest common subsequence, weighted by likeness.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace transcript {

/// What align() asks, and what it tells, in order. `likeness` is what pairing two
/// elements is worth, more than 1 if they are the same, or negative if they must not be
/// paired.
///
///   bool same(i, j);  double likeness(i, j);
///   void pair(i, j);  void missing(i);  void extra(j);
///
/// Equal stretches are walked in step. Where they part, the rest is aligned optimally
/// if it is small (at most kOptimal pairs), which makes the result a weighted LCS for
/// every transcript of a thousand lines; in longer ones, by the nearest place within
/// kWindow where three in a row are the same again. Inputs with nothing in common cost
/// a bounded number of comparisons: the search is given up for longer and longer
/// stretches, which are paired by position.
template <class Side>
class Aligner {
 public:
  Aligner(std::size_t n, std::size_t m, Side& side) : n_(n), m_(m), side_(side) {}

  void run() {
    std::size_t i = 0, j = 0, stretch = kWindow;
    while (i < n_ && j < m_) {
      if (side_.same(i, j)) {
        side_.pair(i++, j++);
      } else if ((n_ - i) <= kOptimal / (m_ - j)) {
        return optimal(i, n_, j, m_);
      } else if (const auto [di, dj] = resume(i, j); di + dj > 0) {
        optimal(i, i + di, j, j + dj);
        i += di;
        j += dj;
        stretch = kWindow;
      } else {
        const std::size_t length = std::min({stretch, n_ - i, m_ - j});
        for (std::size_t k = 0; k < length; ++k) side_.pair(i++, j++);
        stretch *= 2;
      }
    }
    while (i < n_) side_.missing(i++);
    while (j < m_) side_.extra(j++);
  }

 private:
  static constexpr std::size_t kOptimal = std::size_t{1} << 20;
  static constexpr std::size_t kWindow = 128;

  bool resumes_at(std::size_t i, std::size_t j) {
    for (std::size_t k = 0; k < 3; ++k, ++i, ++j) {
      if (i == n_ || j == m_) return k > 0;
      if (!side_.same(i, j)) return false;
    }
    return true;
  }

  /// The fewest elements to leave out before both sides go on together; (0, 0) if none.
  std::pair<std::size_t, std::size_t> resume(std::size_t i, std::size_t j) {
    for (std::size_t total = 1; total <= 2 * kWindow; ++total) {
      // As many on either side first: a changed line rather than a moved one.
      for (std::size_t k = 0; k <= total + 1; ++k) {
        const std::size_t di = k % 2 == 0 ? total / 2 + k / 2 : total / 2 - (k + 1) / 2;
        if (di > total || di > kWindow || total - di > kWindow) continue;
        if (i + di > n_ || j + total - di > m_) continue;
        if (resumes_at(i + di, j + total - di)) return {di, total - di};
      }
    }
    return {0, 0};
  }

  /// Needleman and Wunsch's alignment of [i0, i1) with [j0, j1): greatest sum of
  /// likeness.
  void optimal(std::size_t i0, std::size_t i1, std::size_t j0, std::size_t j1) {
    const std::size_t i_end = i1, j_end = j1;
    while (i1 > i0 && j1 > j0 && side_.same(i1 - 1, j1 - 1)) {
      --i1;
      --j1;
    }
    enum : std::uint8_t { kPair, kMissing, kExtra };
    const std::size_t rows = i1 - i0, columns = j1 - j0;
    std::vector<float> above(columns + 1, 0.0f), row(columns + 1, 0.0f);
    std::vector<std::uint8_t> step(rows * columns);
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < columns; ++j) {
        const double likeness = side_.likeness(i0 + i, j0 + j);
        std::uint8_t best = above[j + 1] >= row[j] ? kMissing : kExtra;
        float score = std::max(above[j + 1], row[j]);
        if (likeness >= 0 && above[j] + static_cast<float>(likeness) >= score) {
          best = kPair;
          score = above[j] + static_cast<float>(likeness);
        }
        row[j + 1] = score;
        step[i * columns + j] = best;
      }
      std::swap(above, row);
    }
    std::vector<std::uint8_t> steps;
    std::size_t i = rows, j = columns;
    while (i > 0 || j > 0) {
      const std::uint8_t way = i == 0   ? std::uint8_t{kExtra}
                               : j == 0 ? std::uint8_t{kMissing}
                                        : step[(i - 1) * columns + j - 1];
      steps.push_back(way);
      i -= way != kExtra;
      j -= way != kMissing;
    }
    for (auto way = steps.rbegin(); way != steps.rend(); ++way) {
      if (*way == kPair) side_.pair(i0 + i, j0 + j);
      if (*way == kMissing) side_.missing(i0 + i);
      if (*way == kExtra) side_.extra(j0 + j);
      i += *way != kExtra;
      j += *way != kMissing;
    }
    while (i1 < i_end && j1 < j_end) side_.pair(i1++, j1++);
  }

  std::size_t n_, m_;
  Side& side_;
};

template <class Side>
void align(std::size_t n, std::size_t m, Side& side) {
  Aligner<Side>(n, m, side).run();
}

}  // namespace transcript
