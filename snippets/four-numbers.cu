// SPDX-License-Identifier: MIT
//
// Symmetric codes of four numbers, and what the clamp does past their range.
//
//   nvcc -std=c++17 -O3 -arch=sm_75 -o four-numbers four-numbers.cu

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

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

// Nearest integer, ties to even: the sum has no bit left for a fraction. What
// std::nearbyint does, without its call; of 2^22 and more, nothing is asked here.
float roundEven(float x) {
  return x + 12582912.0f - 12582912.0f;
}

// Round to nearest, ties to even, then shift by the zero point and clamp.
int8_t quantize(float x, float scale, int zeroPoint, int lowest) {
  const float code = roundEven(x / scale) + static_cast<float>(zeroPoint);
  return static_cast<int8_t>(
      std::min(std::max(code, static_cast<float>(lowest)), 127.0f));
}

float dequantize(int code, float scale, int zeroPoint) {
  return scale * static_cast<float>(code - zeroPoint);
}
// end pull

int main() {
  const std::vector<float> x = {63.5f, -20.0f, 1.25f, 0.2f};
  const float scale = symmetricScale(maxAbs(x));
  std::printf("# four numbers (scale %g)\n\n", scale);
  std::printf("| value | quotient | code | back | error |\n");
  std::printf("| :---- | -------: | ---: | ---: | ----: |\n");
  for (float value : x) {
    const int code = quantize(value, scale, 0, -127);
    const float back = dequantize(code, scale, 0);
    std::printf("| %-5g | %8g | %4d | %4g | %5g |\n", value, value / scale, code, back,
                back - value);
  }

  std::printf("\n# past the range (the same scale)\n\n");
  std::printf("| value | quotient | symmetric | all codes |\n");
  std::printf("| :---- | -------: | --------: | --------: |\n");
  for (float value : {63.7f, -64.0f, 70.0f, -500.0f}) {
    std::printf("| %-5g | %8g | %9d | %9d |\n", value, value / scale,
                quantize(value, scale, 0, -127), quantize(value, scale, 0, -128));
  }
  if (std::fflush(stdout) == 0) return 0;
  std::perror("stdout");
  return 1;
}
