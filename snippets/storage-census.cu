// SPDX-License-Identifier: MIT
//
// The same weights in nine storage formats: how large the error is, and what clips.
//
//   nvcc -std=c++17 -O3 -arch=sm_75 -o storage-census storage-census.cu

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

// pull: src/quant_matmul.cu#one-scale
QuantizedB quantizeOneScaleB(const std::vector<float>& b) {
  QuantizedB q;
  q.scales.assign(1, symmetricScale(maxAbs(b)));
  q.codes = quantizeAll(b, q.scales[0], 0, -127);
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

// pull: src/quant_matmul.cu#formatted
std::string formatted(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return std::isfinite(value) ? text : "n/a";  // a ratio to an error of 0
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

// pull: src/quant_matmul.cu#element-formats
// The elements of block formats: nearest representable value, ties to even, saturating.
float roundE4M3(float x) {
  return static_cast<float>(__nv_fp8_e4m3(x));
}

float roundE2M1(float x) {  // 0 0.5 1 1.5 2 3 4 6
  const float magnitude = std::min(std::fabs(x), 6.0f);
  const int doublings = (magnitude >= 2.0f) + 2 * (magnitude >= 4.0f);
  const float step = 0.5f * static_cast<float>(1 + doublings);  // 0.5, 1 or 2
  return std::copysign(std::nearbyint(magnitude / step) * step, x);
}

float roundMxInt8(float x) {  // 8 bits with an implied 2^-6; -2 stays unused
  return std::min(std::max(std::nearbyint(x * 64.0f), -127.0f), 127.0f) / 64.0f;
}

struct ElementFormat {
  float (*round)(float);
  float largest;        // largest magnitude that it holds
  int largestExponent;  // floor(log2(largest))
};
constexpr ElementFormat kE4M3 = {roundE4M3, 448.0f, 8};
constexpr ElementFormat kE2M1 = {roundE2M1, 6.0f, 2};
constexpr ElementFormat kMxInt8 = {roundMxInt8, 127.0f / 64.0f, 0};
// end pull

// pull: src/quant_matmul.cu#block-scales
// E8M0, the scale of the OCP Microscaling formats (v1.0, section 6.3): a power of two,
// 2^-127 to 2^127. `roundUp` takes the smallest one that lets no element saturate.
float powerOfTwoScale(float largest, ElementFormat element, bool roundUp) {
  if (largest == 0.0f) return 1.0f;
  int exponent = std::ilogb(largest) - element.largestExponent;
  if (roundUp && largest > std::ldexp(element.largest, exponent)) ++exponent;
  return std::ldexp(1.0f, std::min(std::max(exponent, -127), 127));
}

float specificationScale(float largest, ElementFormat element) {
  return powerOfTwoScale(largest, element, false);
}

float roundedUpScale(float largest, ElementFormat element) {
  return powerOfTwoScale(largest, element, true);
}

// The idea without a standard's constraint: a float that maps the maximum on the
// largest code.
float floatScale(float largest, ElementFormat element) {
  const float scale = largest / element.largest;
  return scale > 0.0f ? scale : 1.0f;
}

// Stores B in blocks of `block` values down a column (k x n, the last block of a
// column may be short). `tensorScale` applies to all; `e4m3Scale` rounds each block's
// scale to E4M3 as NVFP4 does.
FormatError blockFormatError(const std::vector<float>& b, int k, int n, int block,
                             ElementFormat element,
                             float (*scaleOf)(float, ElementFormat),
                             float tensorScale = 1.0f, bool e4m3Scale = false) {
  FormatError error;
  std::vector<float> largest(n), scale(n);  // of each column's block
  for (int k0 = 0; k0 < k; k0 += block) {
    const size_t begin = size_t(k0) * n, end = size_t(std::min(k0 + block, k)) * n;
    largest.assign(n, 0.0f);
    forEach(end - begin, n, [&](size_t i, int col) {
      largest[col] = std::max(largest[col], std::fabs(b[begin + i]));
    });
    for (int col = 0; col < n; ++col) {
      scale[col] = scaleOf(largest[col] / tensorScale, element);
      if (e4m3Scale) scale[col] = roundE4M3(scale[col]);
      scale[col] *= tensorScale;
    }
    forEach(end - begin, n, [&](size_t i, int col) {
      const float value = b[begin + i];
      const float scaled = scale[col] > 0.0f ? value / scale[col] : 0.0f;
      // The slack is the rounding of a float scale, not of a value.
      error.add(value, element.round(scaled) * scale[col],
                std::fabs(scaled) > element.largest * (1.0f + 2.5e-7f));
    });
  }
  return error;
}
// end pull

// pull: src/quant_matmul.cu#storage-census
// What each storage format does to the same weights, and how many values it clips.
struct StorageRow {
  const char* name;
  double bits;  // a value, its share of the scales included
  FormatError error;
};

FormatError int8Error(const std::vector<float>& b, const QuantizedB& q, int n) {
  FormatError error;
  forEach(b.size(), n, [&](size_t i, int col) {
    const float scale = q.scales[q.scales.size() == 1 ? 0 : col];
    error.add(b[i], dequantize(q.codes[i], scale, 0), false);
  });
  return error;
}

std::vector<StorageRow> storageCensus(const std::vector<float>& b, int k, int n) {
  const float maxB = maxAbs(b);
  const auto blocks = [&](int block, ElementFormat element,
                          float (*scaleOf)(float, ElementFormat)) {
    return blockFormatError(b, k, n, block, element, scaleOf);
  };
  const float fp8Scale = floatScale(maxB, kE4M3);
  const float nvfp4Scale = floatScale(maxB, {nullptr, 448.0f * 6.0f, 0});
  const auto unit = [](float, ElementFormat) { return 1.0f; };
  return {
      {"INT8, one scale for B", 8, int8Error(b, quantizeOneScaleB(b), n)},
      {"INT8, one scale per column", 8 + 32.0 / k,
       int8Error(b, quantizeColumnsB(b, n), n)},
      {"FP8 e4m3, one scale for B", 8,
       blockFormatError(b, k, n, k, kE4M3, unit, fp8Scale)},
      {"FP8 e4m3, one scale per 32", 9, blocks(32, kE4M3, floatScale)},
      {"MXFP8, scale by the spec", 8.25, blocks(32, kE4M3, specificationScale)},
      {"MXFP8, scale rounded up", 8.25, blocks(32, kE4M3, roundedUpScale)},
      {"MXINT8", 8.25, blocks(32, kMxInt8, specificationScale)},
      {"MXFP4", 4.25, blocks(32, kE2M1, specificationScale)},
      {"NVFP4", 4.5,
       blockFormatError(b, k, n, 16, kE2M1, floatScale, nvfp4Scale, true)},
  };
}

void printStorageCensus(const std::vector<float>& b, int k, int n) {
  const float maxB = maxAbs(b);
  std::printf("\nstorage census on B (%dx%d), errors as a fraction of max|B| = %.4f\n",
              k, n, maxB);
  std::printf("  %-28s %16s %15s %6s %9s\n", "format", "max err", "rms err", "bits",
              "saturated");
  const std::vector<StorageRow> rows = storageCensus(b, k, n);
  for (const StorageRow& row : rows) {
    std::printf("  %-28s %16.3e %15.3e %6.2f %8.3f%%\n", row.name,
                row.error.maxErr / maxB, row.error.rms() / maxB, row.bits,
                100.0 * double(row.error.saturated) / double(row.error.values));
  }
  const auto ratio = [&](int row) {
    return formatted("%.3fx", rows[row].error.rms() / rows[2].error.rms());
  };
  std::printf(
      "  'per 32' is block scaling as an idea, with a float scale; the MX rows\n"
      "  (OCP v1.0) and NVFP4 are the standards, with rounded scales\n"
      "  rms against one FP8 scale: float scales %s, by the spec %s, up %s\n",
      ratio(3).c_str(), ratio(4).c_str(), ratio(5).c_str());
}
// end pull

int main() {
  const Shape shape = {1, 256, 256};
  Generator random;
  makeA(shape, random);
  printStorageCensus(makeB(shape, random), shape.k, shape.n);
}
