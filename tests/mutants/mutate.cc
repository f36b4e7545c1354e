#include "mutate.h"

#include <algorithm>
#include <stdexcept>

namespace mutants {

const std::vector<Mutant>& all() {
  const auto exact = Killer::exact_gate;
  const auto f32 = Killer::f32_gate;
  // The FP32 kernel stands first; a text that both kernels share counts twice.
  static const std::vector<Mutant> list = {
      {"all-zero-output", "static_cast<float>(accumulator) *", "0.0f *", 1, 1, exact,
       ""},
      {"dropped-correction",
       "if (asymA) accumulator -=", "if (false) accumulator -=", 1, 1, exact, ""},
      {"flipped-correction",
       "if (asymA) accumulator -=", "if (asymA) accumulator +=", 1, 1, exact, ""},
      {"neighbour-row", "a[size_t(row) * k + ka]",
       "a[size_t(row ? row - 1 : 0) * k + ka]", 2, 2, exact, ""},
      {"skipped-last-tile", "for (int k0 = 0; k0 < k; k0 += kTile) {",
       "for (int k0 = 0; k0 + kTile < k; k0 += kTile) {", 2, 2, exact, ""},
      {"zero-point-off-by-one", "zeroPointA * columnSumB[col]",
       "(zeroPointA + 1) * columnSumB[col]", 1, 1, exact, ""},
      {"wrong-column-scale", "outputScale[perChannelB ? col : 0]",
       "outputScale[perChannelB ? (col + 1) % n : 0]", 1, 1, exact, ""},
      {"f32-skipped-last-tile", "for (int k0 = 0; k0 < k; k0 += kTile) {",
       "for (int k0 = 0; k0 + kTile < k; k0 += kTile) {", 2, 1, f32, ""},
      {"f32-no-barrier-after-load", "__syncthreads();", ";", 4, 1, f32, ""},
      {"f32-no-barrier-before-overwrite", "__syncthreads();", ";", 4, 2, f32, ""},
      {"int8-no-barrier-after-load", "__syncthreads();", ";", 4, 3, exact, ""},
      {"int8-no-barrier-before-overwrite", "__syncthreads();", ";", 4, 4, exact, ""},
      // The oracle starts from the same codes: the exact gate cannot see these.
      {"truncating-quantizer", "std::nearbyint(x / scale)", "std::trunc(x / scale)", 1,
       1, Killer::predicted_rms, "codes round to nearest, ties to even, and clamp"},
      {"unclamped-quantizer",
       "std::min(std::max(code, static_cast<float>(lowest)), 127.0f)",
       "(static_cast<void>(lowest), code)", 1, 1, Killer::doctest,
       "codes round to nearest, ties to even, and clamp"},
      {"pruning-keeps-three", "kept < 2", "kept < 3", 1, 1, Killer::doctest,
       "2:4 pruning keeps the two largest of four, the earlier when they tie"},
  };
  return list;
}

std::string mutate(std::string_view source, const Mutant& mutant) {
  std::vector<std::size_t> places;
  for (std::size_t at = 0;
       (at = source.find(mutant.from, at)) != std::string_view::npos;
       at += mutant.from.size()) {
    places.push_back(at);
  }
  if (static_cast<int>(places.size()) != mutant.count) {
    throw std::runtime_error("mutant " + mutant.name + ": expected " +
                             std::to_string(mutant.count) + " of `" + mutant.from +
                             "`, found " + std::to_string(places.size()) +
                             "; adapt tests/mutants/mutate.cc to the program");
  }
  std::string changed(source);
  return changed.replace(places[mutant.occurrence - 1], mutant.from.size(), mutant.to);
}

}  // namespace mutants
