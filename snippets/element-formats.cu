// SPDX-License-Identifier: MIT
//
// The elements of the block formats: to which value each of them rounds a number.
//
//   nvcc -std=c++17 -O3 -arch=sm_75 -o element-formats element-formats.cu

#include <cuda_fp8.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

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
