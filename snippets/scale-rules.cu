// SPDX-License-Identifier: MIT
//
// A scale for a block of 32 values: as an unconstrained float, as the power of two that
// the Microscaling specification prescribes (the largest elements may saturate), and as
// the next power of two where that would happen.
//
//   nvcc -std=c++17 -O3 -arch=sm_75 -o scale-rules scale-rules.cu

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

// A block of 32 values, evenly spread up to `largest`: one line of the table.
void printRow(const char* rule, float largest, ElementFormat element,
              float (*scaleOf)(float, ElementFormat)) {
  const float scale = scaleOf(largest, element);
  int saturated = 0;
  double squares = 0.0;
  for (int i = 1; i <= 32; ++i) {
    const float value = largest * static_cast<float>(i) / 32.0f;
    const double error = element.round(value / scale) * scale - value;
    squares += error * error;
    saturated += value / scale > element.largest * 1.000001f;
  }
  std::printf("| %-28s | %10.4e | %9.2f | %6.2f | %9d | %9.3e |\n", rule, scale,
              largest / scale, element.largest, saturated, std::sqrt(squares / 32.0));
}

int main() {
  for (float largest : {1.0f, 1.7f, 1.99f}) {
    std::printf("%s# block with maximum %.2f\n\n", largest > 1.0f ? "\n" : "", largest);
    std::printf(
        "| rule                         |      scale | max/scale |  holds | saturated "
        "| "
        "rms error |\n"
        "| :--------------------------- | ---------: | --------: | -----: | --------: "
        "| "
        "--------: |\n");
    printRow("E4M3, float scale", largest, kE4M3, floatScale);
    printRow("MXFP8, by the specification", largest, kE4M3, specificationScale);
    printRow("MXFP8, rounded up", largest, kE4M3, roundedUpScale);
    printRow("MXINT8, by the specification", largest, kMxInt8, specificationScale);
    printRow("MXFP4, by the specification", largest, kE2M1, specificationScale);
  }
  if (std::fflush(stdout) == 0) return 0;
  std::perror("stdout");
  return 1;
}
