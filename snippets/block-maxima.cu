// SPDX-License-Identifier: MIT
//
// How much of block formats' error the blocks' largest values make.
//
//   nvcc -std=c++17 -O3 -arch=sm_75 -o block-maxima block-maxima.cu

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

// pull: src/quant_matmul.cu#inputs
struct Shape {
  int m = 0, n = 0, k = 0;    // A is m x k, B is k x n, both row-major
  std::string name() const {  // "MxNxK"
    return std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k);
  }
};

// A 32-bit linear congruential generator: the same inputs on every machine.
struct Generator {
  uint32_t state = 20260901u;
  // Uniform in [0, 1): the top 24 bits, which a float holds exactly.
  float unit() {
    state = 1664525u * state + 1013904223u;
    return static_cast<float>(state >> 8) / 16777216.0f;
  }
};

struct Inputs {
  Shape shape;
  std::vector<float> a, b;
};

// A: activations after a ReLU, never negative. B, drawn after A: weights whose columns
// differ 64-fold in gain, with an outlier every 37th element.
Inputs syntheticInputs(Shape shape) {
  Inputs in = {shape, std::vector<float>(size_t(shape.m) * shape.k),
               std::vector<float>(size_t(shape.k) * shape.n)};
  Generator random;
  for (float& value : in.a) value = random.unit();
  for (size_t i = 0; i < in.b.size(); ++i) {
    const float gain = 1.0f / static_cast<float>(1 << (i % shape.n % 7));
    in.b[i] = (2.0f * random.unit() - 1.0f) * gain * (i % 37 == 0 ? 8.0f : 1.0f);
  }
  return in;
}
// end pull

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

// B in blocks of 32 values down a column: one line of the table.
void printRow(const char* name, const Inputs& in, ElementFormat element,
              float (*scaleOf)(float, ElementFormat)) {
  constexpr int block = 32;
  const int n = in.shape.n;
  double all = 0.0, ofLargest = 0.0;  // squared error
  long blocks = 0, saturated = 0;
  for (int k0 = 0; k0 < in.shape.k; k0 += block) {
    for (int col = 0; col < n; ++col, ++blocks) {
      const float* values = &in.b[size_t(k0) * n + col];  // n apart
      int largest = 0;
      for (int p = 1; p < block; ++p) {
        if (std::fabs(values[p * n]) > std::fabs(values[largest * n])) largest = p;
      }
      const float magnitude = std::fabs(values[largest * n]);
      const float scale = scaleOf(magnitude, element);
      for (int p = 0; p < block; ++p) {
        const double rounded = element.round(values[p * n] / scale) * scale;
        const double square = std::pow(rounded - values[p * n], 2);
        all += square;
        if (p == largest) ofLargest += square;
      }
      saturated += magnitude / scale > element.largest * 1.000001f;
    }
  }
  std::printf("| %-17s | %9.3e | %11.1f%% | %16.1f%% |\n", name,
              std::sqrt(all / double(in.b.size())), 100.0 * ofLargest / all,
              100.0 * double(saturated) / double(blocks));
}

int main() {
  const Inputs in = syntheticInputs({2048, 2048, 2048});
  std::printf("# error of the blocks' largest values (B of 2048x2048, blocks of 32)\n");
  std::printf(
      "\n| format            |   rms err | from largest | blocks saturating |\n");
  std::printf("| :---------------- | --------: | -----------: | ----------------: |\n");
  printRow("MXFP8 by the spec", in, kE4M3, specificationScale);
  printRow("MXFP8 rounded up", in, kE4M3, roundedUpScale);
  printRow("one scale, 1/32", in, kE4M3,
           [](float, ElementFormat) { return 1.0f / 32; });
  printRow("FP8, float scale", in, kE4M3, floatScale);
  printRow("MXINT8", in, kMxInt8, specificationScale);
  printRow("MXFP4", in, kE2M1, specificationScale);
  if (std::fflush(stdout) == 0) return 0;
  std::perror("stdout");
  return 1;
}
