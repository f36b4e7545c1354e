// SPDX-License-Identifier: MIT
//
// Where the error of block formats sits: how much of it the blocks' largest values
// make.
//
//   nvcc -std=c++17 -O3 -arch=sm_75 -o block-maxima block-maxima.cu

// pull: src/quant_matmul.cu#includes
#include <cuda_fp8.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>
// end pull

// pull: src/quant_matmul.cu#for-each
// Calls visit(i, column) for each of `count` values of a row-major matrix.
template <typename Visit>
void forEach(size_t count, int columns, const Visit& visit) {
  for (size_t i = 0; i < count;) {
    for (int column = 0; column < columns; ++column, ++i) visit(i, column);
  }
}
// end pull

// pull: src/quant_matmul.cu#inputs
struct Shape {
  int m = 0, n = 0, k = 0;  // A is m x k, B is k x n, both row-major
  double work() const { return double(m) * n * k; }
};

// A 32-bit linear congruential generator: the same inputs on every machine.
class Generator {
 public:
  // Uniform in [0, 1): the top 24 bits, which a float holds exactly.
  float unit() {
    state_ = 1664525u * state_ + 1013904223u;
    return static_cast<float>(state_ >> 8) / 16777216.0f;
  }

 private:
  uint32_t state_ = 20260901u;
};

// Activations after a ReLU: never negative.
std::vector<float> makeA(Shape shape, Generator& random) {
  std::vector<float> a(size_t(shape.m) * shape.k);
  for (float& value : a) value = random.unit();
  return a;
}

// Weights whose columns differ 64-fold in gain, with an outlier every 37th element.
std::vector<float> makeB(Shape shape, Generator& random) {
  std::vector<float> b(size_t(shape.k) * shape.n);
  forEach(b.size(), shape.n, [&](size_t i, int col) {
    const float gain = 1.0f / static_cast<float>(1 << (col % 7));
    b[i] = (2.0f * random.unit() - 1.0f) * gain * (i % 37 == 0 ? 8.0f : 1.0f);
  });
  return b;
}
// end pull

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

// pull: src/quant_matmul.cu#scale-rules
// E8M0, the scale of the OCP Microscaling formats (v1.0, section 6.3): a power of two,
// 2^-127 to 2^127. `roundUp` takes the smallest one that lets no element saturate.
float powerOfTwoScale(float largest, ElementFormat element, bool roundUp) {
  if (largest == 0.0f) return 1.0f;
  int exponent = std::ilogb(largest) - element.largestExponent;
  if (roundUp && largest > std::ldexp(element.largest, exponent)) ++exponent;
  return std::ldexp(1.0f, std::min(std::max(exponent, -127), 127));
}

float specificationScale(float largest, ElementFormat element) {
  return powerOfTwoScale(largest, element, false);
}

float roundedUpScale(float largest, ElementFormat element) {
  return powerOfTwoScale(largest, element, true);
}

// The idea without a standard's constraint: a float that maps the maximum on the
// largest code.
float floatScale(float largest, ElementFormat element) {
  const float scale = largest / element.largest;
  return scale > 0.0f ? scale : 1.0f;
}
// end pull

constexpr int kSize = 2048, kBlock = 32;

struct Sums {
  double all = 0.0, ofLargest = 0.0;  // squared error
  long blocks = 0, saturated = 0;
};

Sums sumErrors(const std::vector<float>& b, ElementFormat element,
               float (*scaleOf)(float, ElementFormat)) {
  Sums sums;
  for (int k0 = 0; k0 < kSize; k0 += kBlock) {
    for (int col = 0; col < kSize; ++col) {
      const auto at = [&](int p) { return b[size_t(k0 + p) * kSize + col]; };
      int largest = 0;
      for (int p = 1; p < kBlock; ++p) {
        if (std::fabs(at(p)) > std::fabs(at(largest))) largest = p;
      }
      const float scale = scaleOf(std::fabs(at(largest)), element);
      for (int p = 0; p < kBlock; ++p) {
        const double error = element.round(at(p) / scale) * scale - at(p);
        sums.all += error * error;
        if (p == largest) sums.ofLargest += error * error;
      }
      ++sums.blocks;
      sums.saturated += std::fabs(at(largest)) / scale > element.largest * 1.000001f;
    }
  }
  return sums;
}

void printRow(const char* name, const std::vector<float>& b, ElementFormat element,
              float (*scaleOf)(float, ElementFormat)) {
  const Sums sums = sumErrors(b, element, scaleOf);
  std::printf("  %-19s%12.3e%14.1f%%%19.1f%%\n", name,
              std::sqrt(sums.all / double(b.size())), 100.0 * sums.ofLargest / sums.all,
              100.0 * double(sums.saturated) / double(sums.blocks));
}

int main() {
  constexpr Shape shape = {kSize, kSize, kSize};
  Generator random;
  makeA(shape, random);
  const std::vector<float> b = makeB(shape, random);
  std::printf("error of the blocks' largest values (B of 2048x2048, blocks of 32)\n");
  std::printf("  %-19s%12s%15s%20s\n", "format", "rms err", "from largest",
              "blocks saturating");
  printRow("MXFP8 by the spec", b, kE4M3, specificationScale);
  printRow("MXFP8 rounded up", b, kE4M3, roundedUpScale);
  printRow("one scale, 1/32", b, kE4M3, [](float, ElementFormat) { return 1.0f / 32; });
  printRow("FP8, float scale", b, kE4M3, floatScale);
  printRow("MXINT8", b, kMxInt8, specificationScale);
  printRow("MXFP4", b, kE2M1, specificationScale);
}
