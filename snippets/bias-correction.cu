// SPDX-License-Identifier: MIT
//
// Takes the columns' bias, mean(A) times their summed rounding errors, out again.
//
//   nvcc -std=c++17 -O3 -arch=sm_75 -o bias-correction bias-correction.cu

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

// Symmetric codes times their step, which is 1/127 of a column's largest magnitude.
struct Rounded {
  std::vector<float> values, steps;
};

Rounded roundColumns(const std::vector<float>& x, int columns) {
  Rounded r = {x, std::vector<float>(columns, 0.0f)};
  for (size_t i = 0; i < x.size(); ++i) {
    float& largest = r.steps[i % columns];
    largest = std::max(largest, std::fabs(x[i]));
  }
  for (float& step : r.steps) step /= 127.0f;
  for (size_t i = 0; i < x.size(); ++i) {
    const float step = r.steps[i % columns];
    r.values[i] = step * std::nearbyint(x[i] / step);
  }
  return r;
}

// Row `row` of A times B, in double.
std::vector<double> productRow(const std::vector<float>& a, const std::vector<float>& b,
                               Shape shape, int row) {
  std::vector<double> sum(shape.n, 0.0);
  for (int p = 0; p < shape.k; ++p) {
    const double x = a[row * shape.k + p];
    for (int col = 0; col < shape.n; ++col) sum[col] += x * b[p * shape.n + col];
  }
  return sum;
}

int main() {
  const Inputs in = syntheticInputs({256, 256, 256});
  const int n = in.shape.n, k = in.shape.k;
  const Rounded a = roundColumns(in.a, 1), b = roundColumns(in.b, n);

  double meanA = 0.0, meanA2 = 0.0;  // in a network, from calibration
  for (float value : in.a) {
    meanA += value / double(in.a.size());
    meanA2 += double(value) * value / double(in.a.size());
  }
  std::vector<double> bias(n, 0.0);
  for (size_t i = 0; i < in.b.size(); ++i) {
    bias[i % n] += meanA * (double(b.values[i]) - in.b[i]);
  }

  double plain = 0.0, corrected = 0.0;  // squared errors
  for (int row = 0; row < in.shape.m; ++row) {
    const std::vector<double> want = productRow(in.a, in.b, in.shape, row);
    const std::vector<double> got = productRow(a.values, b.values, in.shape, row);
    for (int col = 0; col < n; ++col) {
      const double error = got[col] - want[col];
      plain += error * error;
      corrected += (error - bias[col]) * (error - bias[col]);
    }
  }
  // What is expected of an output: noise of variance step^2/12 in every value, but of
  // B's share only what A's spread makes of it, and beside that the bias.
  double expected = 0.0;
  for (float value : in.b) expected += value * value * a.steps[0] * a.steps[0] / 12.0;
  for (int col = 0; col < n; ++col) {
    expected += (meanA2 - meanA * meanA) * k * b.steps[col] * b.steps[col] / 12.0 +
                bias[col] * bias[col];
  }

  const double outputs = double(in.shape.m) * n;
  std::printf("# bias correction (256x256x256, a scale for each column)\n\n");
  std::printf("| output    |   rms err | predicted |\n");
  std::printf("| :-------- | --------: | --------: |\n");
  std::printf("| as it is  | %9.3e | %9.3e |\n", std::sqrt(plain / outputs),
              std::sqrt(expected / n));
  std::printf("| corrected | %9.3e |         - |\n\n", std::sqrt(corrected / outputs));
  std::printf("one number for each column cuts the rms error by %.2fx\n",
              std::sqrt(plain / corrected));
  if (std::fflush(stdout) == 0) return 0;
  std::perror("stdout");
  return 1;
}
