// SPDX-License-Identifier: MIT
//
// What a zero point buys on a tensor that is never negative: twice the codes, about a
// bit.
//
//   nvcc -std=c++17 -O3 -arch=sm_75 -o activation-census activation-census.cu

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

// pull: src/quant_matmul.cu#quantize-asymmetric
// Codes -128..127 over the range of the values *and zero*, so that zero is a code:
// the zero point. Without zero in the range, [1, 2] would need zero point -383.
QuantizedA quantizeAsymmetricA(const std::vector<float>& a) {
  maxAbs(a);  // refuses what is not finite
  float low = 0.0f, high = 0.0f;
  for (float value : a) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  QuantizedA q;
  q.scale = static_cast<float>((double(high) - low) / 255.0);
  if (q.scale <= 0.0f) q.scale = 1.0f;
  const double zeroPoint = std::nearbyint(-128.0 - double(low) / q.scale);
  q.zeroPoint = static_cast<int>(std::min(std::max(zeroPoint, -128.0), 127.0));
  q.codes = quantizeAll(a, q.scale, q.zeroPoint, -128);
  return q;
}
// end pull

// pull: src/quant_matmul.cu#format-error
// Error of a storage format over all values, and the values beyond its largest code.
struct FormatError {
  double maxErr = 0.0, sumSquares = 0.0;
  size_t values = 0, saturated = 0;

  void add(float value, float stored, bool beyond) {
    const double error = double(stored) - value;
    maxErr = std::max(maxErr, std::fabs(error));
    sumSquares += error * error;
    saturated += beyond;
    ++values;
  }
  double rms() const { return std::sqrt(sumSquares / double(values)); }
};
// end pull

// pull: src/quant_matmul.cu#activation-census
// What the codes alone do to the activations, as fractions of max|A|.
FormatError activationError(const std::vector<float>& a, const QuantizedA& q) {
  FormatError error;
  for (size_t i = 0; i < a.size(); ++i) {
    error.add(a[i], dequantize(q.codes[i], q.scale, q.zeroPoint), false);
  }
  return error;
}

// Returns whether the claim holds: on a non-negative tensor the zero point halves the
// step (127 steps become 255), so it buys 255/127 = 2.008 in rms, about a bit.
bool printActivationCensus(const std::vector<float>& a) {
  const float maxA = maxAbs(a);
  const FormatError symmetric = activationError(a, quantizeSymmetricA(a));
  const FormatError asymmetric = activationError(a, quantizeAsymmetricA(a));
  std::printf(
      "\nactivation census on A (%zu values in [0, 1)),\n"
      "errors as a fraction of max|A| = %.4f\n",
      a.size(), maxA);
  std::printf("  %-28s %16s %15s\n", "format", "max err", "rms err");
  std::printf("  %-28s %16.3e %15.3e\n", "INT8 symmetric, one scale",
              symmetric.maxErr / maxA, symmetric.rms() / maxA);
  std::printf("  %-28s %16.3e %15.3e\n", "INT8 asymmetric, zero point",
              asymmetric.maxErr / maxA, asymmetric.rms() / maxA);
  const double gain = symmetric.rms() / asymmetric.rms();
  const bool holds = gain > 1.9 && gain < 2.1;
  const bool judged = a.size() >= 4096;  // fewer values average too little
  std::printf("  claim: the zero point buys about a bit (255/127 = %.3fx): %.3fx, %s\n",
              255.0 / 127.0, gain,
              !judged ? "not judged"
              : holds ? "holds"
                      : "FALSE");
  return holds || !judged;
}
// end pull

int main() {
  Generator random;
  return printActivationCensus(makeA({256, 1, 256}, random)) ? 0 : 1;
}
