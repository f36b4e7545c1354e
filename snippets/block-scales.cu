// SPDX-License-Identifier: MIT
//
// A scale for a block of 32 values: as an unconstrained float, as the power of two that
// the Microscaling specification prescribes (the largest elements may saturate), and as
// the next power of two where that would happen.
//
//   nvcc -std=c++17 -O3 -arch=sm_75 -o block-scales block-scales.cu

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

void show(const char* rule, const std::vector<float>& block, ElementFormat element,
          float (*scaleOf)(float, ElementFormat)) {
  const float largest = block.back();
  const FormatError error =
      blockFormatError(block, static_cast<int>(block.size()), 1, 32, element, scaleOf);
  const float scale = scaleOf(largest, element);
  std::printf("  %-28s %11.4e %10.2f %9.2f %10zu %11.3e\n", rule, scale,
              largest / scale, element.largest, error.saturated, error.rms());
}

int main() {
  std::printf("  %-28s %11s %10s %9s %10s %11s\n", "", "scale", "max/scale", "holds",
              "saturated", "rms error");
  for (float largest : {1.0f, 1.7f, 1.99f}) {
    std::vector<float> block(32);  // evenly spread up to `largest`
    for (int i = 0; i < 32; ++i) block[i] = largest * static_cast<float>(i + 1) / 32.0f;
    std::printf("block with maximum %.2f\n", largest);
    show("E4M3, float scale", block, kE4M3, floatScale);
    show("MXFP8, by the specification", block, kE4M3, specificationScale);
    show("MXFP8, rounded up", block, kE4M3, roundedUpScale);
    show("MXINT8, by the specification", block, kMxInt8, specificationScale);
    show("MXFP4, by the specification", block, kE2M1, specificationScale);
  }
}
