// SPDX-License-Identifier: MIT
//
// The synthetic inputs: what the columns of B are like, and how far its outliers reach
// beyond them.
//
//   nvcc -std=c++17 -O3 -arch=sm_75 -o inputs inputs.cu

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

// pull: src/quant_matmul.cu#inputs
struct Shape {
  int m = 0, n = 0, k = 0;  // A is m x k, B is k x n, both row-major

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

int main() {
  const Inputs in = syntheticInputs({256, 256, 256});
  const int n = in.shape.n;
  double mean = 0.0;
  for (float value : in.a) mean += value / double(in.a.size());
  std::printf("# inputs %s\n\n", in.shape.name().c_str());
  std::printf("first values of A: %.6f %.6f %.6f\n", in.a[0], in.a[1], in.a[2]);
  std::printf("first values of B: %.6f %.6f %.6f\n", in.b[0], in.b[1], in.b[2]);
  std::printf("A: %.4f to %.4f, mean %.4f\n",
              *std::min_element(in.a.begin(), in.a.end()),
              *std::max_element(in.a.begin(), in.a.end()), mean);

  std::printf("\n# columns of B\n\n");
  std::printf(
      "| column |     gain | largest, ordinary | largest, outlier | outliers |\n");
  std::printf(
      "| :----- | -------: | ----------------: | ---------------: | -------: |\n");
  for (int col = 0; col < 8; ++col) {
    float ordinary = 0.0f, outlier = 0.0f;
    int outliers = 0;
    for (size_t i = col; i < in.b.size(); i += n) {
      float& largest = i % 37 == 0 ? outlier : ordinary;
      largest = std::max(largest, std::fabs(in.b[i]));
      outliers += i % 37 == 0;
    }
    std::printf("| %-6d | %8.6f | %17.6f | %16.6f | %8d |\n", col, 1.0 / (1 << col % 7),
                ordinary, outlier, outliers);
  }
  if (std::fflush(stdout) == 0) return 0;
  std::perror("stdout");
  return 1;
}
