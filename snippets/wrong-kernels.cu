// SPDX-License-Identifier: MIT
//
// Wrong INT8 kernels, each as a host loop that makes its mistake, before every gate.
//
//   nvcc -std=c++17 -O3 -arch=sm_75 -o wrong-kernels wrong-kernels.cu

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

constexpr int kSize = 256, kValues = kSize * kSize;  // m = n = k
constexpr int kZeroPoint = -128;                     // A lies in [0, 1): 0 is code -128

// pull: src/quant_matmul.cu#column-gate
// Bound on |error| in each column of the output. A code is off by half a step at most;
// if all k errors had one sign, they would reach k * max|A| * max|B[:,c]| / 127 and a
// little. Four times that is the gate: far above what happens, so wrong kernels pass
// it, and the exact gate is the test. With sqrt(k) for k it is a diagnostic.
std::vector<double> columnGate(int k, float maxA, const std::vector<float>& maxB) {
  std::vector<double> gate;
  for (float largest : maxB) gate.push_back(4.0 * k * maxA * largest / 127.0);
  return gate;
}
// end pull

struct Case {
  std::vector<float> a, b, maxB;  // maxB: of each column
  float maxA = 0.0f;
  std::vector<int> codesA, codesB;

  float scaleA() const { return maxA / 255.0f; }
  float scaleB(int col) const { return maxB[col] / 127.0f; }
};

// The program's inputs at 256x256x256, and their codes.
Case makeCase() {
  uint32_t state = 20260901u;
  const auto unit = [&] {
    state = 1664525u * state + 1013904223u;
    return static_cast<float>(state >> 8) / 16777216.0f;
  };
  Case c;
  c.maxB.assign(kSize, 0.0f);
  for (int i = 0; i < kValues; ++i) {
    c.a.push_back(unit());
    c.maxA = std::max(c.maxA, c.a[i]);
  }
  for (int i = 0; i < kValues; ++i) {
    const float gain = 1.0f / static_cast<float>(1 << (i % kSize % 7));
    c.b.push_back((2.0f * unit() - 1.0f) * gain * (i % 37 == 0 ? 8.0f : 1.0f));
    c.maxB[i % kSize] = std::max(c.maxB[i % kSize], std::fabs(c.b[i]));
  }
  for (int i = 0; i < kValues; ++i) {
    c.codesA.push_back(int(std::nearbyint(c.a[i] / c.scaleA())) + kZeroPoint);
    c.codesB.push_back(int(std::nearbyint(c.b[i] / c.scaleB(i % kSize))));
  }
  return c;
}

// The output of a kernel that is right but for what its arguments get wrong.
std::vector<float> product(const Case& c, int zeroPoint, int terms, int rowOffset = 0,
                           int scaleOffset = 0) {
  std::vector<float> out;
  for (int row = 0; row < kSize; ++row) {
    const int* a = &c.codesA[(row + rowOffset) % kSize * kSize];
    std::vector<int> sum(kSize, 0);
    for (int i = 0; i < terms * kSize; ++i) {
      sum[i % kSize] += (a[i / kSize] - zeroPoint) * c.codesB[i];
    }
    for (int col = 0; col < kSize; ++col) {
      const float scale = c.scaleA() * c.scaleB((col + scaleOffset) % kSize);
      out.push_back(static_cast<float>(sum[col]) * scale);
    }
  }
  return out;
}

// The rms error that rounding to these codes predicts, with each column's bias.
double predictedRms(const Case& c) {
  double meanA = 0.0, meanA2 = 0.0, variance = 0.0;
  for (float a : c.a) {
    meanA += a / double(kValues);
    meanA2 += double(a) * a / double(kValues);
  }
  for (int col = 0; col < kSize; ++col) {
    const double stepA = c.scaleA(), stepB = c.scaleB(col);
    double bias = 0.0;
    for (int i = col; i < kValues; i += kSize) {
      bias += c.codesB[i] * stepB - c.b[i];
      variance += double(c.b[i]) * c.b[i] * stepA * stepA / 12.0 / kSize;
    }
    variance += (meanA2 - meanA * meanA) * stepB * stepB / 12.0 +
                meanA * meanA * bias * bias / kSize;
  }
  return std::sqrt(variance);
}

int main() {
  const Case c = makeCase();
  const std::vector<float> right = product(c, kZeroPoint, kSize);
  struct Kernel {
    const char* mistake;
    std::vector<float> output;
  } kernels[] = {
      {"none: it is right", right},
      {"writes zeros", std::vector<float>(kValues, 0.0f)},
      {"drops the correction", product(c, 0, kSize)},
      {"flips its sign", product(c, -kZeroPoint, kSize)},
      {"zero point off by one", product(c, kZeroPoint + 1, kSize)},
      {"reads the next row", product(c, kZeroPoint, kSize, 1)},
      {"skips the last tile", product(c, kZeroPoint, kSize - 16)},
      {"skips the last term", product(c, kZeroPoint, kSize - 1)},
      {"next column's scale", product(c, kZeroPoint, kSize, 0, 1)},
      {"one output, last bit", right},
  };
  float& output = kernels[9].output[5 * kSize + 7];
  output = std::nextafter(output, 1e30f);

  std::vector<double> reference(kValues, 0.0);
  for (int i = 0; i < kValues; ++i) {
    const int row = i / kSize, col = i % kSize;
    for (int p = 0; p < kSize; ++p) {
      reference[i] += double(c.a[row * kSize + p]) * c.b[p * kSize + col];
    }
  }
  const std::vector<double> gate = columnGate(kSize, c.maxA, c.maxB);
  const double predicted = predictedRms(c), band = 0.01 + 2.5 / kSize;
  const auto verdict = [](bool passes) { return passes ? "passes" : "FAILS"; };
  std::string verdicts;
  std::printf(
      "# wrong kernels (256x256x256, per-column scales and a zero point)\n\n"
      "| mistake               | gate frac | sqrtK frac | meas/biased | differing |\n"
      "| :-------------------- | --------: | ---------: | ----------: | --------: |\n");
  for (const Kernel& kernel : kernels) {
    double squares = 0.0, fraction = 0.0;
    int differing = 0;
    for (int i = 0; i < kValues; ++i) {
      const double error = std::fabs(kernel.output[i] - reference[i]);
      squares += error * error;
      fraction = std::max(fraction, error / gate[i % kSize]);
      differing += std::memcmp(&kernel.output[i], &right[i], sizeof(float)) != 0;
    }
    const double sqrtK = fraction * std::sqrt(double(kSize));
    const double ratio = std::sqrt(squares / kValues) / predicted;
    std::printf("| %-21s | %9.3f | %10.3f | %11.4f | %9d |\n", kernel.mistake, fraction,
                sqrtK, ratio, differing);
    char line[100];
    std::snprintf(line, sizeof line, "| %-21s | %6s | %7s | %9s | %6s |\n",
                  kernel.mistake, verdict(fraction <= 1.0), verdict(sqrtK <= 1.0),
                  verdict(std::fabs(ratio - 1.0) <= band), verdict(differing == 0));
    verdicts += line;
  }
  std::printf(
      "\n# verdicts (predicted: within %.4f of 1)\n\n"
      "| mistake               |  bound | sqrt(K) | predicted |  exact |\n"
      "| :-------------------- | -----: | ------: | --------: | -----: |\n%s",
      band, verdicts.c_str());
  if (std::fflush(stdout) == 0) return 0;
  std::perror("stdout");
  return 1;
}
