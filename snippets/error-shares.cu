// SPDX-License-Identifier: MIT
//
// Whose rounding is it? Predicted and measured worth of A's zero point, for two kinds
// of B.
//
//   nvcc -std=c++17 -O3 -arch=sm_75 -o error-shares error-shares.cu

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

// Rms error of the product once A and B are rounded.
double measuredRms(const Inputs& in, float stepA, const std::vector<float>& roundedB) {
  const int n = in.shape.n, k = in.shape.k;
  double squares = 0.0;
  for (int row = 0; row < in.shape.m; ++row) {
    std::vector<double> error(n, 0.0);
    for (int p = 0; p < k; ++p) {
      const float x = in.a[row * k + p];
      const double rounded = stepA * std::nearbyint(x / stepA);
      for (int col = 0; col < n; ++col) {
        const int i = p * n + col;
        error[col] += rounded * roundedB[i] - double(x) * in.b[i];
      }
    }
    for (double value : error) squares += value * value;
  }
  return std::sqrt(squares / (double(in.shape.m) * n));
}

void printRow(const char* name, const Inputs& in) {
  const int n = in.shape.n, k = in.shape.k;
  std::vector<float> stepB(n, 0.0f), roundedB = in.b;
  for (size_t i = 0; i < in.b.size(); ++i) {
    stepB[i % n] = std::max(stepB[i % n], std::fabs(in.b[i]) / 127.0f);
  }
  for (size_t i = 0; i < in.b.size(); ++i) {
    roundedB[i] = stepB[i % n] * std::nearbyint(in.b[i] / stepB[i % n]);
  }
  // A is never negative: symmetric codes have 127 steps for it. A zero point makes it
  // 255, and this is all that it does.
  const float maxA = *std::max_element(in.a.begin(), in.a.end());
  const float symmetric = maxA / 127.0f, asymmetric = maxA / 255.0f;

  // Variance of an output, averaged over a row: rounding noise of variance step^2/12 in
  // B is multiplied by A, and that in A by B.
  double meanA2 = 0.0, sumB2 = 0.0, fromB = 0.0;
  for (float value : in.a) meanA2 += double(value) * value / double(in.a.size());
  for (float value : in.b) sumB2 += double(value) * value;
  for (float step : stepB) fromB += meanA2 * k * double(step) * step / 12.0 / n;
  const auto fromA = [&](double step) { return sumB2 * step * step / 12.0 / n; };

  const double all = fromB + fromA(symmetric);
  std::printf(
      "| %-16s | %8.1f%% | %13.3fx | %12.3fx |\n", name, 100.0 * fromA(symmetric) / all,
      std::sqrt(all / (fromB + fromA(asymmetric))),
      measuredRms(in, symmetric, roundedB) / measuredRms(in, asymmetric, roundedB));
}

int main() {
  Inputs in = syntheticInputs({256, 256, 256});
  std::printf("# the zero point end to end (256x256x256)\n\n");
  std::printf("| B                | A's share | predicted gain | measured gain |\n");
  std::printf("| :--------------- | --------: | -------------: | ------------: |\n");
  printRow("with outliers", in);
  for (size_t i = 0; i < in.b.size(); i += 37) in.b[i] /= 8.0f;
  printRow("without outliers", in);
  std::printf("\nA's share of the noise variance, symmetric codes\n");
  if (std::fflush(stdout) == 0) return 0;
  std::perror("stdout");
  return 1;
}
