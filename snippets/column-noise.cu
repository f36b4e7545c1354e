// SPDX-License-Identifier: MIT
//
// Whether the rounding errors of a column of B add up as independent noise would.
//
//   nvcc -std=c++17 -O3 -arch=sm_75 -o column-noise column-noise.cu

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

// pull: src/quant_matmul.cu#quantize-symmetric
// Largest magnitude; refuses NaN and infinity by index, since no scale fits them.
float maxAbs(const std::vector<float>& x) {
  float largest = 0.0f;
  for (size_t i = 0; i < x.size(); ++i) {
    if (!std::isfinite(x[i])) {
      throw std::invalid_argument("value " + std::to_string(i) + " is not finite");
    }
    largest = std::max(largest, std::fabs(x[i]));
  }
  return largest;
}

// Scale of symmetric codes -127..127. Zeros alone (or values too small for a scale)
// take scale 1: every code is 0 and dequantizes to 0.
float symmetricScale(float largest) {
  const float scale = largest / 127.0f;
  return scale > 0.0f ? scale : 1.0f;
}

// Round to nearest, ties to even, then shift by the zero point and clamp.
int8_t quantize(float x, float scale, int zeroPoint, int lowest) {
  const float code = std::nearbyint(x / scale) + static_cast<float>(zeroPoint);
  return static_cast<int8_t>(
      std::min(std::max(code, static_cast<float>(lowest)), 127.0f));
}

float dequantize(int code, float scale, int zeroPoint) {
  return scale * static_cast<float>(code - zeroPoint);
}
// end pull

// pull: src/quant_matmul.cu#quantized-codes
// Wider versions of a host loop, chosen when the program starts. The results are the
// same bits: these loops round nothing but single operations, or add exact products in
// a fixed order, so that even a fused multiply-add rounds as a product and a sum would.
#if defined(__linux__) && defined(__x86_64__) && !defined(__clang__) && \
    !defined(__AVX2__) && !defined(__SANITIZE_THREAD__)
#define HOST_SIMD                              \
  __attribute__((optimize("fp-contract=fast"), \
                 target_clones("avx512f", "arch=haswell", "default")))
#else
#define HOST_SIMD
#endif

// Codes of all values, with one scale. (An int8_t may alias everything; only what is
// held in local variables stays put while codes are written.)
HOST_SIMD std::vector<int8_t> quantizeAll(const std::vector<float>& x, float scale,
                                          int zeroPoint, int lowest) {
  const size_t count = x.size();
  std::vector<int8_t> codes(count);
  const float* in = x.data();
  int8_t* out = codes.data();
  for (size_t i = 0; i < count; ++i) out[i] = quantize(in[i], scale, zeroPoint, lowest);
  return codes;
}

// Symmetric codes of a row-major matrix, with a scale for each column.
HOST_SIMD std::vector<int8_t> quantizeByColumn(const std::vector<float>& x,
                                               const std::vector<float>& scales) {
  std::vector<int8_t> codes(x.size());
  const size_t columns = scales.size();
  for (size_t row = 0; row < x.size(); row += columns) {
    const float *in = &x[row], *scale = scales.data();
    int8_t* out = &codes[row];
    for (size_t i = 0; i < columns; ++i) out[i] = quantize(in[i], scale[i], 0, -127);
  }
  return codes;
}

struct QuantizedA {
  std::vector<int8_t> codes;  // m x k
  float scale = 1.0f;
  int zeroPoint = 0;
};

struct QuantizedB {
  std::vector<int8_t> codes;  // k x n
  std::vector<float> scales;  // 1, or one for each column
};

QuantizedA quantizeSymmetricA(const std::vector<float>& a) {
  QuantizedA q;
  q.scale = symmetricScale(maxAbs(a));
  q.codes = quantizeAll(a, q.scale, 0, -127);
  return q;
}
// end pull

// pull: src/quant_matmul.cu#quantize-columns
// Largest magnitude of each of B's n columns.
std::vector<float> columnMaxAbs(const std::vector<float>& b, int n) {
  maxAbs(b);  // refuses what is not finite
  std::vector<float> largest(n, 0.0f);
  forEach(b.size(), n, [&](size_t i, int col) {
    largest[col] = std::max(largest[col], std::fabs(b[i]));
  });
  return largest;
}

// One symmetric scale for each column: its largest magnitude gets code 127 or -127.
QuantizedB quantizeColumnsB(const std::vector<float>& b, int n) {
  QuantizedB q;
  for (float largest : columnMaxAbs(b, n)) q.scales.push_back(symmetricScale(largest));
  q.codes = quantizeByColumn(b, q.scales);
  return q;
}
// end pull

// Were a column's k rounding errors independent and uniform over one step, their sum
// would have variance k step^2 / 12. Prints the sums' rms against that, over all
// columns together, and the worst column's sum in standard deviations.
void printRow(const char* name, int n, int k) {
  Generator random;
  for (long i = 0; i < long(k) * k; ++i) random.unit();  // where A would stand
  const std::vector<float> b = makeB({k, n, k}, random);
  const QuantizedB q = quantizeColumnsB(b, n);
  std::vector<double> sum(n, 0.0);
  for (size_t i = 0; i < b.size(); ++i) {
    sum[i % n] += double(q.codes[i]) * q.scales[i % n] - b[i];
  }
  double squares = 0.0, expected = 0.0, worst = 0.0;
  int worstColumn = 0;
  for (int col = 0; col < n; ++col) {
    const double variance = k * double(q.scales[col]) * q.scales[col] / 12.0;
    squares += sum[col] * sum[col];
    expected += variance;
    const double sigmas = std::fabs(sum[col]) / std::sqrt(variance);
    if (sigmas > worst) worstColumn = col;
    worst = std::max(worst, sigmas);
  }
  std::printf("  %-13s%13.3f%8.1f%8d\n", name, std::sqrt(squares / expected), worst,
              worstColumn);
}

// How far the values of a column lie from those `distance` rows above: the least and
// the largest move, where values run round in the unit interval.
void printRepeats(int distance) {
  constexpr int size = 2048, col = 1078;
  Generator random;
  for (long i = 0; i < long(size) * size; ++i) random.unit();
  std::vector<double> column;
  for (long i = 0; i < long(size) * size; ++i) {
    const float value = random.unit();
    if (i % size == col) column.push_back(value);
  }
  double least = 1.0, largest = -1.0;
  for (size_t p = distance; p < column.size(); ++p) {
    const double move = column[p] - column[p - distance];
    const double round = move - std::nearbyint(move);
    least = std::min(least, round);
    largest = std::max(largest, round);
  }
  std::printf("  %-11d%13.5f%14.5f\n", distance, least, largest);
}

int main() {
  std::printf("summed rounding errors of B's columns (K is 2048 but in the last)\n");
  std::printf("  %-13s%13s%8s%8s\n", "B", "rms/expected", "worst", "column");
  printRow("N = 2000", 2000, 2048);
  printRow("N = 2003", 2003, 2048);
  printRow("N = 2047", 2047, 2048);
  printRow("N = 2048", 2048, 2048);
  printRow("N = K = 1024", 1024, 1024);
  std::printf("  independent errors: about 1, and a worst of 3 to 4 sigmas\n");

  std::printf("\nrepeats of column 1078 (N and K are 2048)\n");
  std::printf("  %-11s%13s%14s\n", "rows later", "least move", "largest move");
  for (int distance : {255, 256, 257}) printRepeats(distance);
}
