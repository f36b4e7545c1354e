// Pairing the lines of two texts, so that what was inserted or removed stands alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace transcript {

/// A line for the search: equal `exact` is an equal line, equal `shape` is one that may
/// be paired, its figures to be compared.
struct LineKey {
  std::uint64_t exact = 0, shape = 0;
};

/// Lines in order: of both sides where they are paired, else one is kAlone.
constexpr std::uint32_t kAlone = static_cast<std::uint32_t>(-1);
using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

/// Pairs `n` lines with `m`. What both begin and end with is walked in step. Between, a
/// longest common subsequence is found where it is small; a longer text is first cut at
/// lines that are equal and occur once on either side, in order. Stretches too long
/// even then are paired by position. Linear in n + m.
Pairs align(std::uint32_t n, std::uint32_t m,
            const std::function<bool(std::uint32_t, std::uint32_t)>& same,
            const std::function<LineKey(bool actual, std::uint32_t)>& key);

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
