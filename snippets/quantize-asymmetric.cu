// SPDX-License-Identifier: MIT
//
// A zero point shifts the codes so that a range that is not centred on 0 fills them
// all. Zero itself must be in the range, or the zero point would be no 8-bit code.
//
//   nvcc -std=c++17 -O3 -arch=sm_75 -o quantize-asymmetric quantize-asymmetric.cu

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

// pull: src/quant_matmul.cu#quantized-codes
struct Quantized {
  std::vector<int8_t> codes;  // row-major, as the values
  std::vector<float> scales;  // 1, or one for each column
  int zeroPoint = 0;

  float scale(size_t col) const { return scales[scales.size() == 1 ? 0 : col]; }

  // Codes of x with the scales and the zero point that are set, row after row.
  void encode(const std::vector<float>& x, int lowest) {
    codes.resize(x.size());
    for (size_t i = 0, col = 0; i < x.size(); ++i) {
      codes[i] = quantize(x[i], scales[col], zeroPoint, lowest);
      col = col + 1 < scales.size() ? col + 1 : 0;
    }
  }
};

Quantized quantizeSymmetric(const std::vector<float>& x) {
  Quantized q;
  q.scales = {symmetricScale(maxAbs(x))};
  q.encode(x, -127);
  return q;
}
// end pull

// pull: src/quant_matmul.cu#quantize-asymmetric
// Codes -128..127 over the range of the values *and zero*, so that zero is a code:
// the zero point. Without zero in the range, [1, 2] would need zero point -383.
Quantized quantizeAsymmetric(const std::vector<float>& x) {
  maxAbs(x);  // refuses what is not finite
  float low = 0.0f, high = 0.0f;
  for (float value : x) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  Quantized q;
  q.scales = {static_cast<float>((double(high) - low) / 255.0)};
  if (q.scales[0] <= 0.0f) q.scales[0] = 1.0f;
  const double zeroPoint = std::nearbyint(-128.0 - double(low) / q.scales[0]);
  q.zeroPoint = static_cast<int>(std::min(std::max(zeroPoint, -128.0), 127.0));
  q.encode(x, -128);
  return q;
}
// end pull

// Scale and zero point of two values, lower one first.
void printRange(const char* name, const std::vector<float>& x) {
  const Quantized q = quantizeAsymmetric(x);
  const float low = x.front(), high = x.back();
  std::string naive = "n/a";  // a range of no width has no scale
  if (high > low) {
    const double zeroPoint = std::nearbyint(-128.0 - low / ((high - low) / 255.0));
    naive = std::to_string(std::lround(zeroPoint));
  }
  std::printf("| %-10s | %5s | %9.3e | %10d | %8d | %9d |\n", name, naive.c_str(),
              q.scales[0], q.zeroPoint, q.codes.front(), q.codes.back());
}

// Symmetric and shifted codes, and what the shifted ones give back.
void printCodes(const char* what, const std::vector<float>& x) {
  const Quantized symmetric = quantizeSymmetric(x), shifted = quantizeAsymmetric(x);
  std::printf("\n# %s (scales %.5f and %.5f, zero point %d)\n\n", what,
              symmetric.scales[0], shifted.scales[0], shifted.zeroPoint);
  std::printf("| value | symmetric | shifted |    back |\n");
  std::printf("| :---- | --------: | ------: | ------: |\n");
  for (size_t i = 0; i < x.size(); ++i) {
    std::printf("| %-5g | %9d | %7d | %7.4f |\n", x[i], symmetric.codes[i],
                shifted.codes[i],
                dequantize(shifted.codes[i], shifted.scales[0], shifted.zeroPoint));
  }
}

int main() {
  std::printf("# zero points (of two values each)\n\n");
  std::printf(
      "| values     | naive |     scale | zero point | code low | code high |\n");
  std::printf(
      "| :--------- | ----: | --------: | ---------: | -------: | --------: |\n");
  printRange("zero one", {0.0f, 1.0f});
  printRange("one two", {1.0f, 2.0f});
  printRange("minus plus", {-1.0f, 3.0f});
  printRange("negative", {-5.0f, -3.0f});
  printRange("all seven", {7.0f, 7.0f});
  printRange("all zero", {0.0f, 0.0f});
  std::printf("\n'naive' leaves zero out of the range: -128 - low / step, unclamped\n");

  printCodes("activations after a ReLU", {0.0f, 0.25f, 0.5f, 1.0f});
  printCodes("all positive", {1.0f, 1.5f, 2.0f});
  printCodes("mostly negative", {-3.0f, -1.0f, 0.5f});
  if (std::fflush(stdout) == 0) return 0;
  std::perror("stdout");
  return 1;
}
