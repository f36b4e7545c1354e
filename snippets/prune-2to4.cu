// SPDX-License-Identifier: MIT
//
// 2:4 pruning: of every four consecutive values along k the two largest magnitudes
// stay.
//
//   nvcc -std=c++17 -O3 -arch=sm_75 -o prune-2to4 prune-2to4.cu

// pull: src/quant_matmul.cu#includes
#include <cuda_fp8.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>
// end pull

// pull: src/quant_matmul.cu#prune-2to4
// Of every four consecutive values along k keeps the two largest magnitudes (the
// earlier one when they tie) and zeroes the rest. A last group of fewer than four
// keeps at most two as well.
void prune2to4(std::vector<float>& b, int k, int n) {
  for (int k0 = 0; k0 < k; k0 += 4) {
    const int group = std::min(4, k - k0);
    for (int col = 0; col < n; ++col) {
      const auto at = [&](int i) -> float& { return b[size_t(k0 + i) * n + col]; };
      bool keep[4] = {};
      for (int kept = 0; kept < 2; ++kept) {
        int best = -1;
        for (int i = 0; i < group; ++i) {
          const bool larger = best < 0 || std::fabs(at(i)) > std::fabs(at(best));
          if (!keep[i] && larger) best = i;
        }
        if (best >= 0) keep[best] = true;
      }
      for (int i = 0; i < group; ++i) {
        if (!keep[i]) at(i) = 0.0f;
      }
    }
  }
}
// end pull

void show(const std::vector<float>& b, int k, int n) {
  for (int p = 0; p < k; ++p) {
    if (p > 0 && p % 4 == 0) std::printf("\n");
    for (int col = 0; col < n; ++col) {
      const float value = b[size_t(p) * n + col];
      if (value == 0.0f) {
        std::printf("%8s", ".");
      } else {
        std::printf("%8.2f", value);
      }
    }
    std::printf("\n");
  }
}

int main() {
  const int k = 10, n = 3;  // the last group has two rows and keeps both
  std::vector<float> b = {0.1f, -0.9f, 0.5f,  0.4f, 0.8f,  0.5f,  -0.3f, 0.1f,
                          0.5f, -0.2f, 0.2f,  0.5f, 0.7f,  -0.1f, 0.0f,  -0.6f,
                          0.3f, 0.0f,  0.65f, 0.2f, -0.2f, 0.1f,  -0.4f, 0.0f,
                          0.3f, 0.9f,  0.1f,  0.2f, -0.8f, 0.4f};
  std::printf("before, k down and n across\n");
  show(b, k, n);
  prune2to4(b, k, n);
  std::printf("\nafter (the first of equal magnitudes stays)\n");
  show(b, k, n);
}
