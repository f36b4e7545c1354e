// SPDX-License-Identifier: MIT
//
// Whether the rounding errors of a column of B add up as independent noise would.
//
//   nvcc -std=c++17 -O3 -arch=sm_75 -o column-noise column-noise.cu

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

// Were a column's k rounding errors independent and uniform over one step, their sum
// would have variance k step^2 / 12. Prints the sums' rms against that, over all
// columns together, and the worst column's sum in standard deviations.
void printRow(const char* name, int n, int k) {
  const std::vector<float> b = syntheticInputs({k, n, k}).b;
  std::vector<float> step(n, 0.0f);
  for (size_t i = 0; i < b.size();) {
    for (float& largest : step) largest = std::max(largest, std::fabs(b[i++]));
  }
  for (float& value : step) value /= 127.0f;
  std::vector<double> sum(n, 0.0);
  for (size_t i = 0; i < b.size();) {
    for (int col = 0; col < n; ++col, ++i) {
      sum[col] += double(step[col]) * std::nearbyint(b[i] / step[col]) - b[i];
    }
  }

  double squares = 0.0, expected = 0.0, worst = 0.0;
  int worstColumn = 0;
  for (int col = 0; col < n; ++col) {
    const double variance = k * double(step[col]) * step[col] / 12.0;
    squares += sum[col] * sum[col];
    expected += variance;
    const double sigmas = std::fabs(sum[col]) / std::sqrt(variance);
    if (sigmas > worst) worstColumn = col;
    worst = std::max(worst, sigmas);
  }
  std::printf("| %-12s | %12.3f | %5.1f | %6d |\n", name, std::sqrt(squares / expected),
              worst, worstColumn);
}

// How far the values of a column lie from those `distance` rows above: the least and
// the largest move, where values run round in the unit interval.
void printRepeats(int distance) {
  constexpr int size = 2048, column = 1078;
  Generator random;
  for (long i = 0; i < long(size) * size; ++i) random.unit();  // where A stands
  std::vector<double> values;
  for (long i = 0; i < long(size) * size; ++i) {
    const float value = random.unit();
    if (i % size == column) values.push_back(value);
  }
  double least = 1.0, largest = -1.0;
  for (size_t p = distance; p < values.size(); ++p) {
    const double move = values[p] - values[p - distance];
    const double round = move - std::nearbyint(move);
    least = std::min(least, round);
    largest = std::max(largest, round);
  }
  std::printf("| %-10d | %10.5f | %12.5f |\n", distance, least, largest);
}

int main() {
  std::printf(
      "# summed rounding errors of B's columns (K is 2048 but in the last)\n\n"
      "| B            | rms/expected | worst | column |\n"
      "| :----------- | -----------: | ----: | -----: |\n");
  printRow("N = 2000", 2000, 2048);
  printRow("N = 2003", 2003, 2048);
  printRow("N = 2047", 2047, 2048);
  printRow("N = 2048", 2048, 2048);
  printRow("N = K = 1024", 1024, 1024);
  std::printf("\nindependent errors: about 1, and a worst of 3 to 4 sigmas\n");

  std::printf(
      "\n# repeats of column 1078 (N and K are 2048)\n\n"
      "| rows later | least move | largest move |\n"
      "| :--------- | ---------: | -----------: |\n");
  for (int distance : {255, 256, 257}) printRepeats(distance);
  if (std::fflush(stdout) == 0) return 0;
  std::perror("stdout");
  return 1;
}
