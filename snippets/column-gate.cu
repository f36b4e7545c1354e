// SPDX-License-Identifier: MIT
//
// The derived bound as a gate, and what passes it: it holds for every right kernel, and
// for plainly wrong ones as well. (The exact gate is the test; see exact-gate.cu.)
//
//   nvcc -std=c++17 -O3 -arch=sm_75 -o column-gate column-gate.cu

// pull: src/quant_matmul.cu#prelude
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

constexpr int kTile = 16;  // a block computes kTile x kTile outputs, one a thread

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

// Round to nearest, ties to even, then shift by the zero point and clamp.
int8_t quantize(float x, float scale, int zeroPoint, int lowest) {
  const float code = std::nearbyint(x / scale) + static_cast<float>(zeroPoint);
  return static_cast<int8_t>(
      std::min(std::max(code, static_cast<float>(lowest)), 127.0f));
}

float dequantize(int code, float scale, int zeroPoint) {
  return scale * static_cast<float>(code - zeroPoint);
}
// end pull

// pull: src/quant_matmul.cu#quantized-codes
// Wider versions of a host loop, chosen when the program starts. The results are the
// same bits: these loops round nothing but single operations, or add exact products in
// a fixed order, so that even a fused multiply-add rounds as a product and a sum would.
#if defined(__linux__) && defined(__x86_64__) && !defined(__clang__) && \
    !defined(__AVX2__) && !defined(__SANITIZE_THREAD__)
#define HOST_SIMD                              \
  __attribute__((optimize("fp-contract=fast"), \
                 target_clones("avx512f", "arch=haswell", "default")))
#else
#define HOST_SIMD
#endif

// Codes of all values, with one scale. (An int8_t may alias everything; only what is
// held in local variables stays put while codes are written.)
HOST_SIMD std::vector<int8_t> quantizeAll(const std::vector<float>& x, float scale,
                                          int zeroPoint, int lowest) {
  const size_t count = x.size();
  std::vector<int8_t> codes(count);
  const float* in = x.data();
  int8_t* out = codes.data();
  for (size_t i = 0; i < count; ++i) out[i] = quantize(in[i], scale, zeroPoint, lowest);
  return codes;
}

// Symmetric codes of a row-major matrix, with a scale for each column.
HOST_SIMD std::vector<int8_t> quantizeByColumn(const std::vector<float>& x,
                                               const std::vector<float>& scales) {
  std::vector<int8_t> codes(x.size());
  const size_t columns = scales.size();
  for (size_t row = 0; row < x.size(); row += columns) {
    const float *in = &x[row], *scale = scales.data();
    int8_t* out = &codes[row];
    for (size_t i = 0; i < columns; ++i) out[i] = quantize(in[i], scale[i], 0, -127);
  }
  return codes;
}

struct QuantizedA {
  std::vector<int8_t> codes;  // m x k
  float scale = 1.0f;
  int zeroPoint = 0;
};

struct QuantizedB {
  std::vector<int8_t> codes;  // k x n
  std::vector<float> scales;  // 1, or one for each column
};

QuantizedA quantizeSymmetricA(const std::vector<float>& a) {
  QuantizedA q;
  q.scale = symmetricScale(maxAbs(a));
  q.codes = quantizeAll(a, q.scale, 0, -127);
  return q;
}
// end pull

// pull: src/quant_matmul.cu#quantize-asymmetric
// Codes -128..127 over the range of the values *and zero*, so that zero is a code:
// the zero point. Without zero in the range, [1, 2] would need zero point -383.
QuantizedA quantizeAsymmetricA(const std::vector<float>& a) {
  maxAbs(a);  // refuses what is not finite
  float low = 0.0f, high = 0.0f;
  for (float value : a) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  QuantizedA q;
  q.scale = static_cast<float>((double(high) - low) / 255.0);
  if (q.scale <= 0.0f) q.scale = 1.0f;
  const double zeroPoint = std::nearbyint(-128.0 - double(low) / q.scale);
  q.zeroPoint = static_cast<int>(std::min(std::max(zeroPoint, -128.0), 127.0));
  q.codes = quantizeAll(a, q.scale, q.zeroPoint, -128);
  return q;
}
// end pull

// pull: src/quant_matmul.cu#quantize-columns
// Largest magnitude of each of B's n columns.
std::vector<float> columnMaxAbs(const std::vector<float>& b, int n) {
  maxAbs(b);  // refuses what is not finite
  std::vector<float> largest(n, 0.0f);
  forEach(b.size(), n, [&](size_t i, int col) {
    largest[col] = std::max(largest[col], std::fabs(b[i]));
  });
  return largest;
}

// One symmetric scale for each column: its largest magnitude gets code 127 or -127.
QuantizedB quantizeColumnsB(const std::vector<float>& b, int n) {
  QuantizedB q;
  for (float largest : columnMaxAbs(b, n)) q.scales.push_back(symmetricScale(largest));
  q.codes = quantizeByColumn(b, q.scales);
  return q;
}
// end pull

// pull: src/quant_matmul.cu#reference
// Two rows of a product at once, in a block of columns: for row r
// sum[r][j] += x[r][0] * b[0][j] + ... + x[r][15] * b[15][j], in that order.
constexpr int kTerms = 16, kColumns = 256;
template <typename T>
using Terms = std::array<std::array<T, kColumns>, kTerms>;
template <typename T>
using RowPair = std::array<std::array<T, kTerms>, 2>;
template <typename T>
HOST_SIMD void addTerms(const RowPair<T>& x, const Terms<T>& b, int columns,
                        T* __restrict sum0, T* __restrict sum1) {
  for (int j = 0; j < columns; ++j) {
    T value0 = sum0[j], value1 = sum1[j];
    for (int q = 0; q < kTerms; ++q) {
      value0 += x[0][q] * b[q][j];
      value1 += x[1][q] * b[q][j];
    }
    sum0[j] = value0;
    sum1[j] = value1;
  }
}

// A (rows x k) times B (k x n) in the arithmetic of T. Each output adds its terms in
// ascending k; a few terms of a block of columns at a time stay in the cache: the same
// sums, sooner.
template <typename T, typename TA, typename TB>
void productRows(const TA* a, const std::vector<TB>& b, int rows, int n, int k,
                 std::vector<T>& out) {
  alignas(64) Terms<T> bTerms = {};     // past the end of k, 0 * something is added
  std::array<T, kColumns> unused = {};  // the second row of a last odd one
  out.assign(size_t(rows) * n, 0);
  for (int j0 = 0; j0 < n; j0 += kColumns) {
    const int columns = std::min(kColumns, n - j0);
    for (int p = 0; p < k; p += kTerms) {
      const int terms = std::min(kTerms, k - p);
      for (int q = 0; q < terms; ++q) {
        const TB* bRow = &b[size_t(p + q) * n + j0];
        std::copy(bRow, bRow + columns, bTerms[q].begin());
      }
      for (int i = 0; i < rows; i += 2) {
        RowPair<T> x = {};
        T* sums[2] = {unused.data(), unused.data()};
        for (int r = 0; r < std::min(2, rows - i); ++r) {
          const TA* aRow = a + size_t(i + r) * k + p;
          std::copy(aRow, aRow + terms, x[r].begin());
          sums[r] = &out[size_t(i + r) * n + j0];
        }
        addTerms(x, bTerms, columns, sums[0], sums[1]);
      }
    }
  }
}

// Rows [first, first + rows) of A*B in double, over the original floats: a product of
// two floats is exact in double.
void referenceRows(const std::vector<float>& a, const std::vector<float>& b,
                   Shape shape, int first, int rows, std::vector<double>& out) {
  productRows(&a[size_t(first) * shape.k], b, rows, shape.n, shape.k, out);
}
// end pull

// pull: src/quant_matmul.cu#exact-gate
// Rows of the INT8 output, to the bit: integer sums, one conversion, one product.
// `aCodes` is rows x k, `out` rows x n. The zero point is subtracted from each code
// instead of corrected for afterwards, so that no step is shared with the kernel that
// is judged.
void oracle(const int8_t* aCodes, int rows, int zeroPoint,
            const std::vector<int8_t>& bCodes, const std::vector<float>& outputScale,
            int n, int k, std::vector<float>& out) {
  std::vector<int32_t> a(aCodes, aCodes + size_t(rows) * k), sum;
  for (int32_t& code : a) code -= zeroPoint;
  productRows(a.data(), bCodes, rows, n, k, sum);
  out.resize(sum.size());
  forEach(sum.size(), n, [&](size_t i, int col) {
    out[i] =
        static_cast<float>(sum[i]) * outputScale[outputScale.size() == 1 ? 0 : col];
  });
}

// Which rows the exact gate compares: all of a small case; of a large one a row of
// every tile row, at a wandering offset, so that every block answers in every column.
std::vector<int> oracleRows(Shape shape) {
  std::vector<int> rows;
  const bool every = shape.work() <= 256.0 * 256.0 * 256.0;
  for (int first = 0, tile = 0; first < shape.m; first += every ? 1 : kTile, ++tile) {
    const int height = every ? 1 : std::min(kTile, shape.m - first);
    rows.push_back(first + 7 * tile % height);
  }
  return rows;
}

// Bit patterns decide, so that a NaN or a -0 in the output differs too.
long countDifferentBits(const std::vector<float>& got, const std::vector<float>& want) {
  long different = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    different += std::memcmp(&got[i], &want[i], sizeof(float)) != 0;
  }
  return different;
}
// end pull

// pull: src/quant_matmul.cu#column-gate
// Bound on |error| in each column of the output. With a scale for each column a code
// is off by half a step at most, and a term by |a| * stepB/2 + |b| * stepA/2 and a
// little; if all k errors had one sign they would reach k * max|A| * max|B[:,c]| / 127.
// Four times that is the gate. (One scale for all of B rounds a small column more
// coarsely than this assumes: where that row stays below, errors cancel, and nothing
// proves it.)
// What holds always is far above what happens, so it lets wrong kernels pass; the
// exact gate is the test. Over sqrt(k) instead of k it is a diagnostic.
std::vector<double> columnGate(int k, float maxA, const std::vector<float>& maxB) {
  std::vector<double> gate;
  for (float largest : maxB) gate.push_back(4.0 * k * maxA * largest / 127.0);
  return gate;
}
// end pull

int main() {
  const Shape shape = {256, 256, 256};
  const int n = shape.n, k = shape.k;
  Generator random;
  const std::vector<float> a = makeA(shape, random), b = makeB(shape, random);
  const QuantizedA qa = quantizeAsymmetricA(a);
  const QuantizedB qb = quantizeColumnsB(b, n);
  std::vector<float> scale, got(n);
  for (float scaleB : qb.scales) scale.push_back(qa.scale * scaleB);

  const std::vector<double> gate = columnGate(k, maxAbs(a), columnMaxAbs(b, n));
  std::vector<double> reference;
  double right = 0.0, zeros = 0.0, neighbour = 0.0, uncorrected = 0.0, skipped = 0.0;
  const auto score = [&](double& worst) {
    for (int j = 0; j < n; ++j) {
      worst = std::max(worst, std::fabs(got[j] - reference[j]) / gate[j]);
    }
  };
  for (int row = 0; row < shape.m; ++row) {
    referenceRows(a, b, shape, row, 1, reference);
    const int8_t* codes = &qa.codes[size_t(row) * k];
    oracle(codes, 1, qa.zeroPoint, qb.codes, scale, n, k, got);
    score(right);
    oracle(row + 1 < shape.m ? codes + k : codes - k, 1, qa.zeroPoint, qb.codes, scale,
           n, k, got);
    score(neighbour);
    oracle(codes, 1, 0, qb.codes, scale, n, k, got);
    score(uncorrected);
    oracle(codes, 1, qa.zeroPoint, qb.codes, scale, n, k - kTile, got);
    score(skipped);
    got.assign(n, 0.0f);
    score(zeros);
  }
  std::printf("largest error as a fraction of the bound, %dx%dx%d, in the output of\n",
              shape.m, n, k);
  std::printf("  %-31s %6.3f\n", "a right kernel", right);
  std::printf("  %-31s %6.3f\n", "one that writes zeros", zeros);
  std::printf("  %-31s %6.3f\n", "one that reads the next row", neighbour);
  std::printf("  %-31s %6.3f\n", "one without its zero point", uncorrected);
  std::printf("  %-31s %6.3f\n", "one that skips its last tile", skipped);
  std::printf("the bound lets pass what is at most 1\n");
}
