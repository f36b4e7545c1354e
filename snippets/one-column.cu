// SPDX-License-Identifier: MIT
//
// What one scale for B leaves of a column whose gain is 64 times smaller.
//
//   nvcc -std=c++17 -O3 -arch=sm_75 -o one-column one-column.cu

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <set>
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

// Scale of symmetric codes -127..127.
float scaleOf(const std::vector<float>& x) {
  float largest = 0.0f;
  for (float value : x) largest = std::max(largest, std::fabs(value));
  return largest / 127.0f;
}

// Codes of the column with a scale, and what they lose. Returns how often each occurs.
std::multiset<int> printRow(const char* name, const std::vector<float>& column,
                            float scale) {
  std::multiset<int> codes;
  double error2 = 0.0, value2 = 0.0;
  for (float value : column) {
    const int code = static_cast<int>(std::nearbyint(value / scale));
    const double error = double(scale * static_cast<float>(code)) - value;
    codes.insert(code);
    error2 += error * error;
    value2 += double(value) * value;
  }
  const size_t distinct = std::set<int>(codes.begin(), codes.end()).size();
  const double zeros = 100.0 * double(codes.count(0)) / double(codes.size());
  std::printf("| %-9s | %9.3e | %5zu | %4.1f%% | %9.4f |\n", name, scale, distinct,
              zeros, std::sqrt(error2 / value2));
  return codes;
}

int main() {
  constexpr int n = 2048, col = 6;
  const Inputs in = syntheticInputs({n, n, n});
  std::vector<float> column;
  for (size_t i = col; i < in.b.size(); i += n) column.push_back(in.b[i]);

  std::printf("# column %d of B (%dx%d)\n\n", col, n, n);
  std::printf("| scale     |      step | codes | zeros | rms error |\n");
  std::printf("| :-------- | --------: | ----: | ----: | --------: |\n");
  const std::multiset<int> codes = printRow("one for B", column, scaleOf(in.b));
  printRow("its own", column, scaleOf(column));
  std::printf("\nthe rms error is a fraction of the column's rms value\n");

  std::printf("\n# codes of column %d (one scale for B)\n\n", col);
  std::printf("| code | values |\n| :--- | -----: |\n");
  for (int code = -2; code <= 2; ++code) {
    std::printf("| %-4d | %6zu |\n", code, codes.count(code));
  }
  if (std::fflush(stdout) == 0) return 0;
  std::perror("stdout");
  return 1;
}
