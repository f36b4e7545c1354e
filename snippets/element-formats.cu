// SPDX-License-Identifier: MIT
//
// The elements of the block formats: to which value each of them rounds a number.
//
//   nvcc -std=c++17 -O3 -arch=sm_75 -o element-formats element-formats.cu

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

int main() {
  std::printf("# element formats\n\n");
  std::printf("| x         |       E4M3 |      E2M1 |    MXINT8 |\n");
  std::printf("| :-------- | ---------: | --------: | --------: |\n");
  for (float x : {0.0009f, 0.02f, 0.26f, 0.75f, 1.25f, 1.76f, -2.5f, 3.4f, 5.0f, 17.0f,
                  300.0f, 464.0f, 1000.0f}) {
    std::printf("| %-9.4f | %10.6f | %9.6f | %9.6f |\n", x, kE4M3.round(x),
                kE2M1.round(x), kMxInt8.round(x));
  }
  std::printf("| largest   | %10.6f | %9.6f | %9.6f |\n", kE4M3.largest, kE2M1.largest,
              kMxInt8.largest);
  if (std::fflush(stdout) == 0) return 0;
  std::perror("stdout");
  return 1;
}
