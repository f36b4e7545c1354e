// SPDX-License-Identifier: MIT
//
// Four values through the block formats: what each rule for the scale makes of them.
//
//   nvcc -std=c++17 -O3 -arch=sm_75 -o one-block one-block.cu

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>

// Nearest integer, ties to even.
float roundEven(float x) {
  return std::nearbyint(x);
}

// pull: src/quant_matmul.cu#element-formats
// Nearest value with so many bits of mantissa, ties to even, up to `largest`; below
// `leastNormal` the steps get no smaller.
float roundToBits(float x, int mantissaBits, float leastNormal, float largest) {
  const uint32_t last = 1u << (23 - mantissaBits);  // of a float's 23, the last kept
  float magnitude = std::fabs(x);
  if (magnitude < leastNormal) {
    const float step = leastNormal / static_cast<float>(1 << mantissaBits);
    magnitude = roundEven(magnitude / step) * step;
  } else {
    uint32_t bits;
    std::memcpy(&bits, &magnitude, sizeof bits);
    bits = (bits + last / 2 - 1 + (bits / last & 1)) & ~(last - 1);
    std::memcpy(&magnitude, &bits, sizeof bits);
  }
  return std::copysign(std::min(magnitude, largest), x);
}

float roundE4M3(float x) {
  return roundToBits(x, 3, 1.0f / 64.0f, 448.0f);
}

float roundE2M1(float x) {  // 0 0.5 1 1.5 2 3 4 6
  return roundToBits(x, 1, 1.0f, 6.0f);
}

float roundMxInt8(float x) {  // 8 bits with an implied 2^-6; -2 stays unused
  return std::min(std::max(roundEven(x * 64.0f), -127.0f), 127.0f) / 64.0f;
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
// 2^-127 to 2^127. The largest elements of a block may saturate.
float specificationScale(float largest, ElementFormat element) {
  if (largest == 0.0f) return 1.0f;
  const int exponent = std::ilogb(largest) - element.largestExponent;
  return std::ldexp(1.0f, std::min(std::max(exponent, -127), 127));
}

// The smallest power of two with which no element saturates.
float roundedUpScale(float largest, ElementFormat element) {
  const float scale = specificationScale(largest, element);
  return largest > element.largest * scale ? 2.0f * scale : scale;
}

// The idea without a standard's constraint: a float that maps the maximum on the
// largest code.
float floatScale(float largest, ElementFormat element) {
  const float scale = largest / element.largest;
  return scale > 0.0f ? scale : 1.0f;
}
// end pull

void printRow(const char* name, ElementFormat element, float scale) {
  const auto stored = [&](float value) { return element.round(value / scale) * scale; };
  std::printf("| %-17s | %9g | %6.4g | %7.4g | %6.4g | %5.4g | %8.4g |\n", name, scale,
              7.9f / scale, stored(7.9f), stored(4.2f), stored(1.1f), stored(0.05f));
}

int main() {
  std::printf("# one block (the four values stand in the second line)\n\n");
  std::printf(
      "| format            |     scale | scaled | largest | second | third | smallest "
      "|\n"
      "| :---------------- | --------: | -----: | ------: | -----: | ----: | -------: "
      "|\n"
      "| none              |         1 |    7.9 |     7.9 |    4.2 |   1.1 |     0.05 "
      "|\n");
  printRow("MXFP8 by the spec", kE4M3, specificationScale(7.9f, kE4M3));
  printRow("MXFP8 rounded up", kE4M3, roundedUpScale(7.9f, kE4M3));
  printRow("FP8, float scale", kE4M3, floatScale(7.9f, kE4M3));
  printRow("MXINT8", kMxInt8, specificationScale(7.9f, kMxInt8));
  printRow("MXFP4", kE2M1, specificationScale(7.9f, kE2M1));
  // NVFP4: the tensor's largest value, say 8, sets a scale for the E4M3 scales.
  const float tensorScale = 8.0f / (448.0f * 6.0f);
  const float blockScale = roundE4M3(floatScale(7.9f / tensorScale, kE2M1));
  printRow("NVFP4", kE2M1, blockScale * tensorScale);
  if (std::fflush(stdout) == 0) return 0;
  std::perror("stdout");
  return 1;
}
