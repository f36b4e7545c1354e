// SPDX-License-Identifier: MIT
//
// What 2:4 pruning drops of B, and the error of the product that follows from it.
//
//   nvcc -std=c++17 -O3 -arch=sm_75 -o dropped-energy dropped-energy.cu

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

// pull: src/quant_matmul.cu#for-each
// Calls visit(i, column) for each of `count` values of a row-major matrix.
template <typename Visit>
void forEach(size_t count, int columns, const Visit& visit) {
  for (size_t i = 0; i < count;) {
    for (int column = 0; column < columns; ++column, ++i) visit(i, column);
  }
}
// end pull

// pull: src/quant_matmul.cu#inputs
struct Shape {
  int m = 0, n = 0, k = 0;  // A is m x k, B is k x n, both row-major
  double work() const { return double(m) * n * k; }
};

// A 32-bit linear congruential generator: the same inputs on every machine.
class Generator {
 public:
  // Uniform in [0, 1): the top 24 bits, which a float holds exactly.
  float unit() {
    state_ = 1664525u * state_ + 1013904223u;
    return static_cast<float>(state_ >> 8) / 16777216.0f;
  }

 private:
  uint32_t state_ = 20260901u;
};

// Activations after a ReLU: never negative.
std::vector<float> makeA(Shape shape, Generator& random) {
  std::vector<float> a(size_t(shape.m) * shape.k);
  for (float& value : a) value = random.unit();
  return a;
}

// Weights whose columns differ 64-fold in gain, with an outlier every 37th element.
std::vector<float> makeB(Shape shape, Generator& random) {
  std::vector<float> b(size_t(shape.k) * shape.n);
  forEach(b.size(), shape.n, [&](size_t i, int col) {
    const float gain = 1.0f / static_cast<float>(1 << (col % 7));
    b[i] = (2.0f * random.unit() - 1.0f) * gain * (i % 37 == 0 ? 8.0f : 1.0f);
  });
  return b;
}
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

void printRow(const char* name, const std::vector<float>& b, Shape shape,
              double meanA2) {
  std::vector<float> pruned = b;
  prune2to4(pruned, shape.k, shape.n);
  double all = 0.0, dropped = 0.0;
  for (size_t i = 0; i < b.size(); ++i) {
    all += double(b[i]) * b[i];
    dropped += double(b[i] - pruned[i]) * (b[i] - pruned[i]);
  }
  std::printf("  %-17s%8.1f%%%15.3f%17.3f\n", name, 100.0 * dropped / all,
              std::sqrt(meanA2 * dropped / shape.n), std::sqrt(dropped / all));
}

int main() {
  constexpr Shape shape = {2048, 2048, 2048};
  Generator random;
  double meanA2 = 0.0;
  for (float value : makeA(shape, random)) meanA2 += double(value) * value;
  meanA2 /= double(shape.m) * shape.k;
  std::vector<float> b = makeB(shape, random);
  std::printf("what pruning drops (2048x2048x2048)\n");
  std::printf("  %-17s%9s%15s%17s\n", "B", "energy", "rms predicted",
              "share of output");
  printRow("with outliers", b, shape, meanA2);
  for (size_t i = 0; i < b.size(); i += 37) b[i] /= 8.0f;
  printRow("without outliers", b, shape, meanA2);
}
