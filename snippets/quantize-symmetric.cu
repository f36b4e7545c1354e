// SPDX-License-Identifier: MIT
//
// Symmetric INT8 quantization by hand: one scale, codes -127..127, and what comes back.
//
//   nvcc -std=c++17 -O3 -arch=sm_75 -o quantize-symmetric quantize-symmetric.cu

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
  const std::vector<float> x = {0.023f, -0.498f, 1.27f, -0.005f};
  const float scale = symmetricScale(maxAbs(x));
  std::printf("# codes (scale = max|x| / 127 = %.4f)\n\n", scale);
  std::printf("| x       | code |    back |   error |\n");
  std::printf("| :------ | ---: | ------: | ------: |\n");
  for (float value : x) {
    const int code = quantize(value, scale, 0, -127);
    const float back = dequantize(code, scale, 0);
    std::printf("| %-7.4f | %4d | %7.4f | %7.4f |\n", value, code, back, back - value);
  }

  // The scale fits what it was taken from. A later value may lie beyond it.
  std::printf("\n# past the range\n\n");
  std::printf("-1.30 clamped at -127: code %d, and its negative %d is a code too\n",
              quantize(-1.30f, scale, 0, -127), -quantize(-1.30f, scale, 0, -127));
  std::printf("-1.30 clamped at -128: code %d, whose negative %d is none\n",
              quantize(-1.30f, scale, 0, -128), -quantize(-1.30f, scale, 0, -128));
  try {
    maxAbs({1.0f, NAN});
  } catch (const std::invalid_argument& error) {
    std::printf("no scale fits {1, NaN}: %s\n", error.what());
  }
  if (std::fflush(stdout) == 0) return 0;
  std::perror("stdout");
  return 1;
}
