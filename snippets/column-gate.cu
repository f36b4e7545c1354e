// SPDX-License-Identifier: MIT
//
// The derived bound as a gate, and what passes it: it holds for every right kernel, and
// for plainly wrong ones as well. (The exact gate is the test; see exact-gate.cu.)
//
//   nvcc -std=c++17 -O3 -arch=sm_75 -o column-gate column-gate.cu

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

// pull: src/quant_matmul.cu#column-gate
// Bound on |error| in each column of the output. A code is off by half a step at most;
// if all k errors had one sign, they would reach k * max|A| * max|B[:,c]| / 127 and a
// little. Four times that is the gate: far above what happens, so wrong kernels pass
// it, and the exact gate is the test. With sqrt(k) for k it is a diagnostic.
std::vector<double> columnGate(int k, float maxA, const std::vector<float>& maxB) {
  std::vector<double> gate;
  for (float largest : maxB) gate.push_back(4.0 * k * maxA * largest / 127.0);
  return gate;
}
// end pull

// The first `terms` terms of a row of a product.
std::vector<double> productRow(const float* row, const std::vector<float>& b, int n,
                               int terms) {
  std::vector<double> sum(n, 0.0);
  for (int p = 0; p < terms; ++p) {
    for (int col = 0; col < n; ++col) sum[col] += double(row[p]) * b[p * n + col];
  }
  return sum;
}

int main() {
  const Inputs in = syntheticInputs({256, 256, 256});
  const int m = in.shape.m, n = in.shape.n, k = in.shape.k;
  const float maxA = *std::max_element(in.a.begin(), in.a.end());
  std::vector<float> maxB(n, 0.0f);
  for (size_t i = 0; i < in.b.size(); ++i) {
    maxB[i % n] = std::max(maxB[i % n], std::fabs(in.b[i]));
  }

  // Codes times their steps. A's codes are 0 to 255, less 128 to fit in a byte; a
  // kernel without its zero point forgets to add the 128 again.
  const float stepA = maxA / 255.0f;
  std::vector<float> a = in.a, shifted = in.a, b = in.b;
  for (size_t i = 0; i < a.size(); ++i) {
    const float code = std::nearbyint(a[i] / stepA);
    a[i] = stepA * code;
    shifted[i] = stepA * (code - 128.0f);
  }
  for (size_t i = 0; i < b.size(); ++i) {
    const float stepB = maxB[i % n] / 127.0f;
    b[i] = stepB * std::nearbyint(b[i] / stepB);
  }

  const std::vector<double> gate = columnGate(k, maxA, maxB);
  double right = 0.0, zeros = 0.0, neighbour = 0.0, uncorrected = 0.0, skipped = 0.0;
  for (int row = 0; row < m; ++row) {
    const std::vector<double> reference = productRow(&in.a[row * k], in.b, n, k);
    const auto score = [&](double& worst, const std::vector<double>& got) {
      for (int col = 0; col < n; ++col) {
        worst = std::max(worst, std::fabs(got[col] - reference[col]) / gate[col]);
      }
    };
    const int next = row + 1 < m ? row + 1 : row - 1;
    score(right, productRow(&a[row * k], b, n, k));
    score(zeros, std::vector<double>(n, 0.0));
    score(neighbour, productRow(&a[next * k], b, n, k));
    score(uncorrected, productRow(&shifted[row * k], b, n, k));
    score(skipped, productRow(&a[row * k], b, n, k - 16));
  }

  std::printf("# largest error as a fraction of the bound, 256x256x256\n\n");
  std::printf("| in the output of             | gate frac |\n");
  std::printf("| :--------------------------- | --------: |\n");
  std::printf("| a right kernel               | %9.3f |\n", right);
  std::printf("| one that writes zeros        | %9.3f |\n", zeros);
  std::printf("| one that reads the next row  | %9.3f |\n", neighbour);
  std::printf("| one without its zero point   | %9.3f |\n", uncorrected);
  std::printf("| one that skips its last tile | %9.3f |\n", skipped);
  std::printf("\nthe bound lets pass what is at most 1\n");
  if (std::fflush(stdout) == 0) return 0;
  std::perror("stdout");
  return 1;
}
