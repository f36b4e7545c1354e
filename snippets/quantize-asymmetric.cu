// SPDX-License-Identifier: MIT
//
// A zero point shifts the codes so that a range that is not centred on 0 fills them
// all. Zero itself must be in the range, or the zero point would be no 8-bit code.
//
//   nvcc -std=c++17 -O3 -arch=sm_75 -o quantize-asymmetric quantize-asymmetric.cu

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

void show(const char* what, const std::vector<float>& x) {
  const QuantizedA symmetric = quantizeSymmetricA(x), shifted = quantizeAsymmetricA(x);
  std::printf("%s\n  symmetric: scale %.5f, codes", what, symmetric.scale);
  for (int code : symmetric.codes) std::printf(" %4d", code);
  std::printf("\n  shifted:   scale %.5f, codes", shifted.scale);
  for (int code : shifted.codes) std::printf(" %4d", code);
  std::printf(", zero point %d\n  back:     ", shifted.zeroPoint);
  for (int code : shifted.codes) {
    std::printf(" %.4f", dequantize(code, shifted.scale, shifted.zeroPoint));
  }
  std::printf("\n\n");
}

int main() {
  show("activations after a ReLU: 0 0.25 0.5 1", {0.0f, 0.25f, 0.5f, 1.0f});
  show("all positive: 1 1.5 2 (the range is taken as 0 to 2)", {1.0f, 1.5f, 2.0f});
  show("mostly negative: -3 -1 0.5", {-3.0f, -1.0f, 0.5f});
  show("nothing but zeros", {0.0f, 0.0f});
}
