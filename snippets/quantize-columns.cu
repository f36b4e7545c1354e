// SPDX-License-Identifier: MIT
//
// A scale for each column of B: a column 64 times smaller gets its codes back.
//
//   nvcc -std=c++17 -O3 -arch=sm_75 -o quantize-columns quantize-columns.cu

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

// pull: src/quant_matmul.cu#quantize-columns
// Largest magnitude of each of B's n columns.
std::vector<float> columnMaxAbs(const std::vector<float>& b, int n) {
  maxAbs(b);  // refuses what is not finite
  std::vector<float> largest(n, 0.0f);
  for (size_t i = 0; i < b.size();) {
    for (float& value : largest) value = std::max(value, std::fabs(b[i])), ++i;
  }
  return largest;
}

// One symmetric scale for each column: its largest magnitude gets code 127 or -127.
Quantized quantizeColumns(const std::vector<float>& b, int n) {
  Quantized q;
  for (float largest : columnMaxAbs(b, n)) q.scales.push_back(symmetricScale(largest));
  q.encode(b, -127);
  return q;
}
// end pull

constexpr int kColumns = 3;  // the last is 64 times smaller than the first

void show(const char* what, const std::vector<float>& b, const Quantized& q) {
  std::printf("\n# %s\n\n", what);
  std::printf("| row | code 0 | code 1 | code 2 |   back 0 |   back 1 |   back 2 |\n");
  std::printf("| :-- | -----: | -----: | -----: | -------: | -------: | -------: |\n");
  for (size_t row = 0; row < b.size() / kColumns; ++row) {
    const int8_t* codes = &q.codes[row * kColumns];
    std::printf("| %-3zu", row);
    for (int col = 0; col < kColumns; ++col) std::printf(" | %6d", codes[col]);
    for (int col = 0; col < kColumns; ++col) {
      std::printf(" | %8.5f", dequantize(codes[col], q.scale(col), 0));
    }
    std::printf(" |\n");
  }
}

int main() {
  const std::vector<float> b = {+0.90f, -0.11f, +0.0141f, -0.35f, +0.02f, -0.0050f,
                                +1.00f, +0.09f, -0.0156f, -0.70f, -0.12f, +0.0094f};
  std::printf("# B (%zux%d)\n\n", b.size() / kColumns, kColumns);
  std::printf("| row | column 0 | column 1 | column 2 |\n");
  std::printf("| :-- | -------: | -------: | -------: |\n");
  for (size_t i = 0; i < b.size(); i += kColumns) {
    std::printf("| %-3zu | %8.5f | %8.5f | %8.5f |\n", i / kColumns, b[i], b[i + 1],
                b[i + 2]);
  }
  show("one scale for all of B", b, quantizeSymmetric(b));
  show("a scale for each column", b, quantizeColumns(b, kColumns));
  if (std::fflush(stdout) == 0) return 0;
  std::perror("stdout");
  return 1;
}
