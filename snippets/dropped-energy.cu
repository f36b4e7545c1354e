// SPDX-License-Identifier: MIT
//
// What 2:4 pruning drops of B, and the error of the product that follows from it.
//
//   nvcc -std=c++17 -O3 -arch=sm_75 -o dropped-energy dropped-energy.cu

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

// pull: src/quant_matmul.cu#inputs
struct Shape {
  int m = 0, n = 0, k = 0;    // A is m x k, B is k x n, both row-major
  std::string name() const {  // "MxNxK"
    return std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k);
  }
};

// A 32-bit linear congruential generator: the same inputs on every machine.
struct Generator {
  uint32_t state = 20260901u;
  // Uniform in [0, 1): the top 24 bits, which a float holds exactly.
  float unit() {
    state = 1664525u * state + 1013904223u;
    return static_cast<float>(state >> 8) / 16777216.0f;
  }
};

struct Inputs {
  Shape shape;
  std::vector<float> a, b;
};

// A: activations after a ReLU, never negative. B, drawn after A: weights whose columns
// differ 64-fold in gain, with an outlier every 37th element.
Inputs syntheticInputs(Shape shape) {
  Inputs in = {shape, std::vector<float>(size_t(shape.m) * shape.k),
               std::vector<float>(size_t(shape.k) * shape.n)};
  Generator random;
  for (float& value : in.a) value = random.unit();
  for (size_t i = 0; i < in.b.size(); ++i) {
    const float gain = 1.0f / static_cast<float>(1 << (i % shape.n % 7));
    in.b[i] = (2.0f * random.unit() - 1.0f) * gain * (i % 37 == 0 ? 8.0f : 1.0f);
  }
  return in;
}
// end pull

// pull: src/quant_matmul.cu#prune-2to4
// Of every four consecutive values along k keeps the two largest magnitudes (the
// earlier one when they tie) and zeroes the rest; so too in a shorter last group.
void prune2to4(std::vector<float>& b, int k, int n) {
  for (int k0 = 0; k0 < k; k0 += 4) {
    for (int col = 0; col < n; ++col) {
      float* group = &b[size_t(k0) * n + col];  // its values are n apart
      const int size = std::min(4, k - k0);
      float magnitude[4] = {};
      for (int i = 0; i < size; ++i) magnitude[i] = std::fabs(group[size_t(i) * n]);
      for (int i = 0; i < size; ++i) {
        int ahead = 0;
        for (int j = 0; j < size; ++j) {
          ahead +=
              magnitude[j] > magnitude[i] || (magnitude[j] == magnitude[i] && j < i);
        }
        if (ahead >= 2) group[size_t(i) * n] = 0.0f;
      }
    }
  }
}
// end pull

void printRow(const char* name, const Inputs& in, double meanA2) {
  std::vector<float> pruned = in.b;
  prune2to4(pruned, in.shape.k, in.shape.n);
  double all = 0.0, dropped = 0.0;
  for (size_t i = 0; i < in.b.size(); ++i) {
    all += double(in.b[i]) * in.b[i];
    dropped += double(in.b[i] - pruned[i]) * (in.b[i] - pruned[i]);
  }
  std::printf("| %-16s | %5.1f%% | %13.3f | %15.3f |\n", name, 100.0 * dropped / all,
              std::sqrt(meanA2 * dropped / in.shape.n), std::sqrt(dropped / all));
}

int main() {
  Inputs in = syntheticInputs({2048, 2048, 2048});
  double meanA2 = 0.0;
  for (float value : in.a) meanA2 += double(value) * value;
  meanA2 /= double(in.a.size());
  std::printf("# what pruning drops (2048x2048x2048)\n\n");
  std::printf("| B                | energy | rms predicted | share of output |\n");
  std::printf("| :--------------- | -----: | ------------: | --------------: |\n");
  printRow("with outliers", in, meanA2);
  for (size_t i = 0; i < in.b.size(); i += 37) in.b[i] /= 8.0f;
  printRow("without outliers", in, meanA2);
  if (std::fflush(stdout) == 0) return 0;
  std::perror("stdout");
  return 1;
}
