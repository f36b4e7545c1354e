// SPDX-License-Identifier: MIT
//
// Wrong INT8 kernels, each as a host loop that makes its mistake, before every gate.
//
//   nvcc -std=c++17 -O3 -arch=sm_75 -o wrong-kernels wrong-kernels.cu

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

// pull: src/quant_matmul.cu#predicted-rms
struct PredictedRms {
  double noise = 0.0, withBias = 0.0;
};

// Rms error of the product, from first order in the rounding errors e of B's codes
// and d of A's: sum over k of a e + b d. Uniform noise over one step has variance
// step^2/12, so `noise` averages sum_k (a^2 sB^2/12 + b^2 sA^2/12) over the outputs,
// with the scales really used. But where A's mean is not zero, mean(A) * sum_k e is
// one number for a whole column of the output: a bias. Few columns, or errors e that
// repeat along k, leave it far from its expected size; `withBias` takes it as it is.
PredictedRms predictRms(const std::vector<float>& a, const std::vector<float>& b,
                        Shape shape, float scaleA, const QuantizedB& qb) {
  double sumA = 0.0, sumA2 = 0.0, sumB2 = 0.0;
  for (float value : a) {
    sumA += value;
    sumA2 += double(value) * value;
  }
  for (float value : b) sumB2 += double(value) * value;
  const double meanA = sumA / double(a.size()), meanA2 = sumA2 / double(a.size());

  std::vector<double> bias(shape.n, 0.0);
  const auto scaleB = [&](int col) {
    return qb.scales[qb.scales.size() == 1 ? 0 : col];
  };
  forEach(b.size(), shape.n, [&](size_t i, int col) {
    bias[col] += double(qb.codes[i]) * scaleB(col) - b[i];
  });
  double expected = 0.0, actual = 0.0;  // sums over columns of B's share
  for (int col = 0; col < shape.n; ++col) {
    const double noise = shape.k * double(scaleB(col)) * scaleB(col) / 12.0;
    expected += meanA2 * noise;
    actual += (meanA2 - meanA * meanA) * noise + meanA * meanA * bias[col] * bias[col];
  }
  const double fromA = sumB2 * double(scaleA) * scaleA / 12.0;
  return {std::sqrt((expected + fromA) / shape.n),
          std::sqrt((actual + fromA) / shape.n)};
}

// How far measured/withBias may stand from 1: one percent for the model, and what an
// average over so many outputs wanders.
double predictionBand(Shape shape) {
  return 0.01 + 2.5 / std::sqrt(double(shape.m) * shape.n);
}

// Whether the model fits the inputs at all: an average needs many terms, and where n
// is a multiple of 37 B's outliers fill whole columns instead of being strewn.
bool predictionHolds(Shape shape) {
  return std::min({shape.m, shape.n, shape.k}) >= 128 && shape.n % 37 != 0;
}
// end pull

#include <functional>
#include <utility>

constexpr Shape kShape = {256, 256, 256};

// One row of what a kernel would write.
using Kernel = std::function<void(int row, std::vector<float>& out)>;

struct Bench {
  std::vector<float> a, b, outputScale;
  QuantizedA qa;
  QuantizedB qb;
  std::vector<double> reference, gate;
  double predicted = 0.0;

  Bench() {
    Generator random;
    a = makeA(kShape, random);
    b = makeB(kShape, random);
    qa = quantizeAsymmetricA(a);
    qb = quantizeColumnsB(b, kShape.n);
    for (float scale : qb.scales) outputScale.push_back(qa.scale * scale);
    referenceRows(a, b, kShape, 0, kShape.m, reference);
    gate = columnGate(kShape.k, maxAbs(a), columnMaxAbs(b, kShape.n));
    predicted = predictRms(a, b, kShape, qa.scale, qb).withBias;
  }

  // The right product of a row, but for what the arguments get wrong.
  void product(int row, int zeroPoint, int k, const std::vector<float>& scale,
               std::vector<float>& out) const {
    oracle(&qa.codes[size_t(row) * kShape.k], 1, zeroPoint, qb.codes, scale, kShape.n,
           k, out);
  }
};

struct Score {
  double gateFraction = 0.0, rms = 0.0;
  long different = 0;
};

Score score(const Bench& bench, const Kernel& kernel) {
  Score score;
  const int n = kShape.n;
  std::vector<float> got(n), want(n);
  double squares = 0.0;
  for (int row = 0; row < kShape.m; ++row) {
    kernel(row, got);
    bench.product(row, bench.qa.zeroPoint, kShape.k, bench.outputScale, want);
    score.different += countDifferentBits(got, want);
    for (int col = 0; col < n; ++col) {
      const double error = std::fabs(got[col] - bench.reference[size_t(row) * n + col]);
      score.gateFraction = std::max(score.gateFraction, error / bench.gate[col]);
      squares += error * error;
    }
  }
  score.rms = std::sqrt(squares / (double(kShape.m) * n));
  return score;
}

int main() {
  const Bench bench;
  const int z = bench.qa.zeroPoint, k = kShape.k;
  const std::vector<float>& scale = bench.outputScale;
  std::vector<float> shifted(scale);
  std::rotate(shifted.begin(), shifted.begin() + 1, shifted.end());
  const auto wrong = [&](int zeroPoint, int terms, const std::vector<float>& scales,
                         int rowOffset) {
    return [&bench, zeroPoint, terms, &scales, rowOffset](int row,
                                                          std::vector<float>& out) {
      bench.product((row + rowOffset) % kShape.m, zeroPoint, terms, scales, out);
    };
  };
  const std::vector<std::pair<const char*, Kernel>> kernels = {
      {"none: it is right", wrong(z, k, scale, 0)},
      {"writes zeros",
       [](int, std::vector<float>& out) { std::fill(out.begin(), out.end(), 0.0f); }},
      {"drops the correction", wrong(0, k, scale, 0)},
      {"flips its sign", wrong(-z, k, scale, 0)},
      {"zero point off by one", wrong(z + 1, k, scale, 0)},
      {"reads the next row", wrong(z, k, scale, 1)},
      {"skips the last tile", wrong(z, k - kTile, scale, 0)},
      {"skips the last term", wrong(z, k - 1, scale, 0)},
      {"next column's scale", wrong(z, k, shifted, 0)},
      {"one output, last bit",
       [&](int row, std::vector<float>& out) {
         bench.product(row, z, k, scale, out);
         if (row == 5) out[7] = std::nextafter(out[7], 1e30f);
       }},
  };

  std::vector<Score> scores;
  for (const auto& kernel : kernels) scores.push_back(score(bench, kernel.second));
  const double sqrtK = std::sqrt(double(k));
  std::printf("wrong kernels (256x256x256, per-column scales and a zero point)\n");
  std::printf("  %-23s%10s%12s%13s%11s\n", "mistake", "gate frac", "sqrtK frac",
              "meas/biased", "differing");
  for (size_t i = 0; i < kernels.size(); ++i) {
    std::printf("  %-23s%10.3f%12.3f%13.4f%11ld\n", kernels[i].first,
                scores[i].gateFraction, scores[i].gateFraction * sqrtK,
                scores[i].rms / bench.predicted, scores[i].different);
  }

  const auto verdict = [](bool passes) { return passes ? "passes" : "FAILS"; };
  const double band = predictionBand(kShape);
  std::printf("\nverdicts (predicted: within %.4f of 1)\n", band);
  std::printf("  %-23s%8s%9s%11s%8s\n", "mistake", "bound", "sqrt(K)", "predicted",
              "exact");
  for (size_t i = 0; i < kernels.size(); ++i) {
    const double ratio = scores[i].rms / bench.predicted;
    std::printf("  %-23s%8s%9s%11s%8s\n", kernels[i].first,
                verdict(scores[i].gateFraction <= 1.0),
                verdict(scores[i].gateFraction * sqrtK <= 1.0),
                verdict(std::fabs(ratio - 1.0) <= band),
                verdict(scores[i].different == 0));
  }
}
