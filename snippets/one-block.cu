// SPDX-License-Identifier: MIT
//
// Four values through the block formats: what each rule for the scale makes of them.
//
//   nvcc -std=c++17 -O3 -arch=sm_75 -o one-block one-block.cu

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

// pull: src/quant_matmul.cu#scale-rules
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
// end pull

void printRow(const char* name, ElementFormat element, float scale) {
  std::printf("  %-17s%11g%9.4g", name, scale, 7.9f / scale);
  for (float value : {7.9f, 4.2f, 1.1f, 0.05f}) {
    std::printf(value < 1.0f ? "%10.4g" : "%9.4g",
                element.round(value / scale) * scale);
  }
  std::printf("\n");
}

int main() {
  std::printf("one block (the four values stand in the second line)\n");
  std::printf("  %-17s%11s%9s%9s%9s%9s%10s\n", "format", "scale", "scaled", "largest",
              "second", "third", "smallest");
  std::printf("  %-17s%11d%9g%9g%9g%9g%10g\n", "none", 1, 7.9, 7.9, 4.2, 1.1, 0.05);
  printRow("MXFP8 by the spec", kE4M3, specificationScale(7.9f, kE4M3));
  printRow("MXFP8 rounded up", kE4M3, roundedUpScale(7.9f, kE4M3));
  printRow("FP8, float scale", kE4M3, floatScale(7.9f, kE4M3));
  printRow("MXINT8", kMxInt8, specificationScale(7.9f, kMxInt8));
  printRow("MXFP4", kE2M1, specificationScale(7.9f, kE2M1));
  // NVFP4: the tensor's largest value, say 8, sets a scale for the E4M3 scales.
  const float tensorScale = 8.0f / (448.0f * 6.0f);
  const float blockScale = roundE4M3(floatScale(7.9f / tensorScale, kE2M1));
  printRow("NVFP4", kE2M1, blockScale * tensorScale);
}
