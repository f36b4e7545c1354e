// SPDX-License-Identifier: MIT
//
// The lesson's inputs: what A and B look like, and the same on every machine.
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

int main() {
  const Inputs in = syntheticInputs({256, 256, 256});
  const Shape s = in.shape;
  std::printf("# inputs (%s)\n\n", s.name().c_str());
  std::printf("A begins with %.4f %.4f %.4f\n", in.a[0], in.a[1], in.a[2]);
  std::printf("A lies between %.6f and %.6f\n",
              *std::min_element(in.a.begin(), in.a.end()),
              *std::max_element(in.a.begin(), in.a.end()));

  std::printf("\n# columns of B (of %d values each)\n\n", s.k);
  std::printf("| column |     gain | max without outliers |     max | outliers |\n");
  std::printf("| :----- | -------: | -------------------: | ------: | -------: |\n");
  for (int col = 0; col < 8; ++col) {
    float plain = 0.0f, all = 0.0f;
    int outliers = 0;
    for (size_t i = col; i < in.b.size(); i += s.n) {
      all = std::max(all, std::fabs(in.b[i]));
      if (i % 37 != 0) plain = std::max(plain, std::fabs(in.b[i]));
      outliers += i % 37 == 0;
    }
    std::printf("| %-6d | %8.6f | %20.4f | %7.4f | %8d |\n", col,
                std::ldexp(1.0, -(col % 7)), plain, all, outliers);
  }
  if (std::fflush(stdout) == 0) return 0;
  std::perror("stdout");
  return 1;
}
