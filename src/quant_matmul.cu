// SPDX-License-Identifier: MIT
//
// Where an INT8 matrix multiplication spends its error: one program, measured.
//
//   nvcc -std=c++17 -O3 -arch=sm_75 -o quant_matmul quant_matmul.cu
//   ./quant_matmul [--cases N|MxNxK[,...]] [--timed-runs R] [--help]
//
// Inside the tile loop an INT8 product is exact integer arithmetic. Error enters at
// two boundaries only: quantizing the inputs, and rescaling in the epilogue. Each row
// below changes one thing against the row above it:
//
//   matmulTiledF32    the baseline: a tiled FP32 kernel
//   int8 one scale    symmetric codes, one scale for A and one for B
//   int8 per-column   the same kernel with a scale for each column of B
//   int8 per-col + zp the same again, with a zero point for A
//   int8 2:4 pruned   the per-column kernel over B pruned 2 of 4 along k
//
// The CPU reference comes first, then the kernels, then one driver that checks
// everything before it times anything. Tensor cores are reported on, never used.

// snippet: prelude
// snippet: includes
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
// end snippet

constexpr int kTile = 16;  // a block computes kTile x kTile outputs, one a thread

// snippet: for-each
// Calls visit(i, column) for each of `count` values of a row-major matrix.
template <typename Visit>
void forEach(size_t count, int columns, const Visit& visit) {
  for (size_t i = 0; i < count;) {
    for (int column = 0; column < columns; ++column, ++i) visit(i, column);
  }
}
// end snippet
// end snippet

constexpr int kWarmupLaunches = 3;
constexpr int kMaxSize = 65536;  // sum of k products (|255| * |127|) stays in int32

// snippet: cuda-check
// Throws what the runtime says, so that destructors free what was allocated.
void cudaCheck(cudaError_t status, const char* what, int line) {
  if (status == cudaSuccess) return;
  throw std::runtime_error("line " + std::to_string(line) + ": " + what + ": " +
                           cudaGetErrorString(status));
}
#define CUDA_CHECK(call) cudaCheck((call), #call, __LINE__)

// `count` elements of device memory, freed on every path.
template <typename T>
class DeviceBuffer {
 public:
  explicit DeviceBuffer(size_t count) : count_(count) {
    CUDA_CHECK(cudaMalloc(reinterpret_cast<void**>(&data_), count * sizeof(T)));
  }
  explicit DeviceBuffer(const std::vector<T>& host) : DeviceBuffer(host.size()) {
    CUDA_CHECK(
        cudaMemcpy(data_, host.data(), count_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  DeviceBuffer(DeviceBuffer&& other) noexcept
      : data_(other.data_), count_(other.count_) {
    other.data_ = nullptr;
  }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  ~DeviceBuffer() { cudaFree(data_); }

  T* get() const { return data_; }

  // All bits set, a NaN in float: what no kernel writes is seen.
  void poison() { CUDA_CHECK(cudaMemset(data_, 0xFF, count_ * sizeof(T))); }

  // Elements [first, first + host.size()).
  void read(size_t first, std::vector<T>& host) const {
    CUDA_CHECK(cudaMemcpy(host.data(), data_ + first, host.size() * sizeof(T),
                          cudaMemcpyDeviceToHost));
  }

 private:
  T* data_ = nullptr;
  size_t count_ = 0;
};
// end snippet: cuda-check

// ---------------------------------------------------------------- inputs

// snippet: inputs
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
// end snippet

// ---------------------------------------------------------------- quantizers

// snippet: quantize-symmetric
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
// end snippet

// snippet: quantized-codes
// snippet: host-simd
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
// end snippet

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
// end snippet

// snippet: quantize-asymmetric
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
// end snippet

// snippet: one-scale
QuantizedB quantizeOneScaleB(const std::vector<float>& b) {
  QuantizedB q;
  q.scales.assign(1, symmetricScale(maxAbs(b)));
  q.codes = quantizeAll(b, q.scales[0], 0, -127);
  return q;
}
// end snippet

// snippet: quantize-columns
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
// end snippet

// snippet: column-sums
// Sum of each column of B's codes: what a zero point in A has to be multiplied by.
std::vector<int32_t> columnSums(const std::vector<int8_t>& codes, int n) {
  std::vector<int32_t> sums(n, 0);
  forEach(codes.size(), n, [&](size_t i, int col) { sums[col] += codes[i]; });
  return sums;
}
// end snippet

// snippet: small-column
// How many different codes a column of B uses, and the share of them that are 0.
struct ColumnCodes {
  int distinct = 0;
  double zeros = 0.0;
};

ColumnCodes columnCodes(const std::vector<int8_t>& codes, int n, int col) {
  long count[256] = {}, total = 0;
  for (size_t i = col; i < codes.size(); i += n, ++total) ++count[codes[i] + 128];
  ColumnCodes column;
  for (long times : count) column.distinct += times > 0;
  column.zeros = double(count[128]) / double(total);
  return column;
}
// end snippet

// snippet: prune-2to4
// Of every four consecutive values along k keeps the two largest magnitudes (the
// earlier one when they tie) and zeroes the rest. A last group of fewer than four
// keeps at most two as well.
void prune2to4(std::vector<float>& b, int k, int n) {
  for (int k0 = 0; k0 < k; k0 += 4) {
    const int group = std::min(4, k - k0);
    for (int col = 0; col < n; ++col) {
      const auto at = [&](int i) -> float& { return b[size_t(k0 + i) * n + col]; };
      bool keep[4] = {};
      for (int kept = 0; kept < 2; ++kept) {
        int best = -1;
        for (int i = 0; i < group; ++i) {
          const bool larger = best < 0 || std::fabs(at(i)) > std::fabs(at(best));
          if (!keep[i] && larger) best = i;
        }
        if (best >= 0) keep[best] = true;
      }
      for (int i = 0; i < group; ++i) {
        if (!keep[i]) at(i) = 0.0f;
      }
    }
  }
}
// end snippet

// ---------------------------------------------------------------- CPU reference

// snippet: reference
// snippet: product-rows
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
// end snippet

// Rows [first, first + rows) of A*B in double, over the original floats: a product of
// two floats is exact in double.
void referenceRows(const std::vector<float>& a, const std::vector<float>& b,
                   Shape shape, int first, int rows, std::vector<double>& out) {
  productRows(&a[size_t(first) * shape.k], b, rows, shape.n, shape.k, out);
}
// end snippet

// snippet: exact-gate
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
// end snippet

// ---------------------------------------------------------------- gates

// snippet: column-gate
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
// end snippet

// snippet: predicted-rms
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
// end snippet

// snippet: f32-gate
// |got - ref| <= relative * (max|ref| + |ref|): the rounding of k additions, with the
// factor sqrt(k) of errors that partly cancel. max|ref| is known only at the end of a
// streamed pass, so what fails the gate so far is kept and judged again then.
class F32Gate {
 public:
  explicit F32Gate(int k)
      : relative_(std::max(1e-5, 4.0 * std::ldexp(1.0, -23) * std::sqrt(double(k)))) {}

  void raise(double reference) {
    maxReference_ = std::max(maxReference_, std::fabs(reference));
  }
  void add(double error, double reference) {
    if (!passes({error, reference})) doubtful_.push_back({error, reference});
  }
  long failures() const {
    return std::count_if(doubtful_.begin(), doubtful_.end(),
                         [this](const Element& element) { return !passes(element); });
  }
  double relative() const { return relative_; }
  double absolute() const { return relative_ * maxReference_; }
  double maxReference() const { return maxReference_; }

 private:
  struct Element {
    double error, reference;
  };
  bool passes(const Element& element) const {
    return element.error <= absolute() + relative_ * std::fabs(element.reference);
  }

  double relative_, maxReference_ = 0.0;
  std::vector<Element> doubtful_;
};
// end snippet

// ---------------------------------------------------------------- kernels

// snippet: matmul-tiled-f32
// C = A * B in FP32, a tile at a time through shared memory.
__global__ void matmulTiledF32(const float* a, const float* b, float* c, int m, int n,
                               int k) {
  __shared__ float tileA[kTile][kTile];
  __shared__ float tileB[kTile][kTile];
  const int row = blockIdx.y * kTile + threadIdx.y;
  const int col = blockIdx.x * kTile + threadIdx.x;

  float accumulator = 0.0f;
  for (int k0 = 0; k0 < k; k0 += kTile) {
    const int ka = k0 + threadIdx.x, kb = k0 + threadIdx.y;
    tileA[threadIdx.y][threadIdx.x] = row < m && ka < k ? a[size_t(row) * k + ka] : 0;
    tileB[threadIdx.y][threadIdx.x] = kb < k && col < n ? b[size_t(kb) * n + col] : 0;
    __syncthreads();
    for (int p = 0; p < kTile; ++p) {
      accumulator += tileA[threadIdx.y][p] * tileB[p][threadIdx.x];
    }
    __syncthreads();
  }
  if (row < m && col < n) c[size_t(row) * n + col] = accumulator;
}
// end snippet

// snippet: matmul-int8
// The same tiles over 8-bit codes. outputScale is scale of A times scale of B: one
// value, or n of them. columnSumB (n values) and zeroPointA serve asymA alone.
template <bool perChannelB, bool asymA>
__global__ void matmulInt8(const int8_t* a, const int8_t* b, float* c, int m, int n,
                           int k, const float* outputScale, int zeroPointA,
                           const int32_t* columnSumB) {
  __shared__ int8_t tileA[kTile][kTile];
  __shared__ int8_t tileB[kTile][kTile];
  const int row = blockIdx.y * kTile + threadIdx.y;
  const int col = blockIdx.x * kTile + threadIdx.x;

  // snippet: int8-inner
  int32_t accumulator = 0;
  for (int k0 = 0; k0 < k; k0 += kTile) {
    const int ka = k0 + threadIdx.x, kb = k0 + threadIdx.y;
    tileA[threadIdx.y][threadIdx.x] = row < m && ka < k ? a[size_t(row) * k + ka] : 0;
    tileB[threadIdx.y][threadIdx.x] = kb < k && col < n ? b[size_t(kb) * n + col] : 0;
    __syncthreads();
    for (int p = 0; p < kTile; ++p) {  // exact: no rounding anywhere in here
      accumulator += int32_t(tileA[threadIdx.y][p]) * int32_t(tileB[p][threadIdx.x]);
    }
    __syncthreads();
  }
  if (row < m && col < n) {  // epilogue: one conversion, one product
    if (asymA) accumulator -= zeroPointA * columnSumB[col];
    c[size_t(row) * n + col] =
        static_cast<float>(accumulator) * outputScale[perChannelB ? col : 0];
  }
  // end snippet
}
// end snippet

// ---------------------------------------------------------------- storage formats

// snippet: formatted
std::string formatted(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return std::isfinite(value) ? text : "n/a";  // a ratio to an error of 0
}
// end snippet

// snippet: format-error
// Error of a storage format over all values, and the values beyond its largest code.
struct FormatError {
  double maxErr = 0.0, sumSquares = 0.0;
  size_t values = 0, saturated = 0;

  void add(float value, float stored, bool beyond) {
    const double error = double(stored) - value;
    maxErr = std::max(maxErr, std::fabs(error));
    sumSquares += error * error;
    saturated += beyond;
    ++values;
  }
  double rms() const { return std::sqrt(sumSquares / double(values)); }
};
// end snippet

// snippet: element-formats
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
// end snippet

// snippet: block-scales
// snippet: scale-rules
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
// end snippet: scale-rules

// Stores B in blocks of `block` values down a column (k x n, the last block of a
// column may be short). `tensorScale` applies to all; `e4m3Scale` rounds each block's
// scale to E4M3 as NVFP4 does.
FormatError blockFormatError(const std::vector<float>& b, int k, int n, int block,
                             ElementFormat element,
                             float (*scaleOf)(float, ElementFormat),
                             float tensorScale = 1.0f, bool e4m3Scale = false) {
  FormatError error;
  std::vector<float> largest(n), scale(n);  // of each column's block
  for (int k0 = 0; k0 < k; k0 += block) {
    const size_t begin = size_t(k0) * n, end = size_t(std::min(k0 + block, k)) * n;
    largest.assign(n, 0.0f);
    forEach(end - begin, n, [&](size_t i, int col) {
      largest[col] = std::max(largest[col], std::fabs(b[begin + i]));
    });
    for (int col = 0; col < n; ++col) {
      scale[col] = scaleOf(largest[col] / tensorScale, element);
      if (e4m3Scale) scale[col] = roundE4M3(scale[col]);
      scale[col] *= tensorScale;
    }
    forEach(end - begin, n, [&](size_t i, int col) {
      const float value = b[begin + i];
      const float scaled = scale[col] > 0.0f ? value / scale[col] : 0.0f;
      // The slack is the rounding of a float scale, not of a value.
      error.add(value, element.round(scaled) * scale[col],
                std::fabs(scaled) > element.largest * (1.0f + 2.5e-7f));
    });
  }
  return error;
}
// end snippet

// snippet: activation-census
// What the codes alone do to the activations, as fractions of max|A|.
FormatError activationError(const std::vector<float>& a, const QuantizedA& q) {
  FormatError error;
  for (size_t i = 0; i < a.size(); ++i) {
    error.add(a[i], dequantize(q.codes[i], q.scale, q.zeroPoint), false);
  }
  return error;
}

// Returns whether the claim holds: on a non-negative tensor the zero point halves the
// step (127 steps become 255), so it buys 255/127 = 2.008 in rms, about a bit.
bool printActivationCensus(const std::vector<float>& a) {
  const float maxA = maxAbs(a);
  const FormatError symmetric = activationError(a, quantizeSymmetricA(a));
  const FormatError asymmetric = activationError(a, quantizeAsymmetricA(a));
  std::printf(
      "\nactivation census on A (%zu values in [0, 1)),\n"
      "errors as a fraction of max|A| = %.4f\n",
      a.size(), maxA);
  std::printf("  %-28s %16s %15s\n", "format", "max err", "rms err");
  std::printf("  %-28s %16.3e %15.3e\n", "INT8 symmetric, one scale",
              symmetric.maxErr / maxA, symmetric.rms() / maxA);
  std::printf("  %-28s %16.3e %15.3e\n", "INT8 asymmetric, zero point",
              asymmetric.maxErr / maxA, asymmetric.rms() / maxA);
  const double gain = symmetric.rms() / asymmetric.rms();
  const bool holds = gain > 1.9 && gain < 2.1;
  const bool judged = a.size() >= 4096;  // fewer values average too little
  std::printf("  claim: the zero point buys about a bit (255/127 = %.3fx): %.3fx, %s\n",
              255.0 / 127.0, gain,
              !judged ? "not judged"
              : holds ? "holds"
                      : "FALSE");
  return holds || !judged;
}
// end snippet

// snippet: storage-census
// What each storage format does to the same weights, and how many values it clips.
struct StorageRow {
  const char* name;
  double bits;  // a value, its share of the scales included
  FormatError error;
};

FormatError int8Error(const std::vector<float>& b, const QuantizedB& q, int n) {
  FormatError error;
  forEach(b.size(), n, [&](size_t i, int col) {
    const float scale = q.scales[q.scales.size() == 1 ? 0 : col];
    error.add(b[i], dequantize(q.codes[i], scale, 0), false);
  });
  return error;
}

std::vector<StorageRow> storageCensus(const std::vector<float>& b, int k, int n) {
  const float maxB = maxAbs(b);
  const auto blocks = [&](int block, ElementFormat element,
                          float (*scaleOf)(float, ElementFormat)) {
    return blockFormatError(b, k, n, block, element, scaleOf);
  };
  const float fp8Scale = floatScale(maxB, kE4M3);
  const float nvfp4Scale = floatScale(maxB, {nullptr, 448.0f * 6.0f, 0});
  const auto unit = [](float, ElementFormat) { return 1.0f; };
  return {
      {"INT8, one scale for B", 8, int8Error(b, quantizeOneScaleB(b), n)},
      {"INT8, one scale per column", 8 + 32.0 / k,
       int8Error(b, quantizeColumnsB(b, n), n)},
      {"FP8 e4m3, one scale for B", 8,
       blockFormatError(b, k, n, k, kE4M3, unit, fp8Scale)},
      {"FP8 e4m3, one scale per 32", 9, blocks(32, kE4M3, floatScale)},
      {"MXFP8, scale by the spec", 8.25, blocks(32, kE4M3, specificationScale)},
      {"MXFP8, scale rounded up", 8.25, blocks(32, kE4M3, roundedUpScale)},
      {"MXINT8", 8.25, blocks(32, kMxInt8, specificationScale)},
      {"MXFP4", 4.25, blocks(32, kE2M1, specificationScale)},
      {"NVFP4", 4.5,
       blockFormatError(b, k, n, 16, kE2M1, floatScale, nvfp4Scale, true)},
  };
}

void printStorageCensus(const std::vector<float>& b, int k, int n) {
  const float maxB = maxAbs(b);
  std::printf("\nstorage census on B (%dx%d), errors as a fraction of max|B| = %.4f\n",
              k, n, maxB);
  std::printf("  %-28s %16s %15s %6s %9s\n", "format", "max err", "rms err", "bits",
              "saturated");
  const std::vector<StorageRow> rows = storageCensus(b, k, n);
  for (const StorageRow& row : rows) {
    std::printf("  %-28s %16.3e %15.3e %6.2f %8.3f%%\n", row.name,
                row.error.maxErr / maxB, row.error.rms() / maxB, row.bits,
                100.0 * double(row.error.saturated) / double(row.error.values));
  }
  const auto ratio = [&](int row) {
    return formatted("%.3fx", rows[row].error.rms() / rows[2].error.rms());
  };
  std::printf(
      "  'per 32' is block scaling as an idea, with a float scale; the MX rows\n"
      "  (OCP v1.0) and NVFP4 are the standards, with rounded scales\n"
      "  rms against one FP8 scale: float scales %s, by the spec %s, up %s\n",
      ratio(3).c_str(), ratio(4).c_str(), ratio(5).c_str());
}
// end snippet

// ---------------------------------------------------------------- this card

// snippet: capability-report
// What this card's tensor cores could do; none of it is used or timed here.
void printCapabilities() {
  int device = 0;
  cudaDeviceProp properties;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
  const int capability = 10 * properties.major + properties.minor;
  const auto from = [&](int needed) { return capability >= needed ? "yes" : "no"; };
  std::printf("GPU: %s (compute capability %d.%d)\n\n", properties.name,
              properties.major, properties.minor);
  std::printf("tensor-core support (compute capability %d.%d)\n", properties.major,
              properties.minor);
  std::printf("  INT8 tensor cores                      %s\n", from(75));
  std::printf("  2:4 sparse tensor cores (cuSPARSELt)   %s\n", from(80));
  std::printf("  FP8 e4m3/e5m2 tensor cores             %s\n", from(89));
  std::printf(
      "  this program uses none of them: its INT8 loop runs on CUDA cores,\n"
      "  and its FP8 and 2:4 rows are host arithmetic\n");
}
// end snippet

// ---------------------------------------------------------------- one case

struct Options {
  std::vector<Shape> cases;  // empty: the default ladder
  int timedRuns = 10;
  bool help = false;
};

// A kernel's output, still on the device, and what is known of it.
struct Row {
  Row(const char* rowName, Shape shape)
      : name(rowName), output(size_t(shape.m) * shape.n), columnMaxErr(shape.n, 0.0) {
    output.poison();
  }

  const char* name;
  DeviceBuffer<float> output;
  float milliseconds = -1.0f;  // below 0: not timed
  bool pruned = false;         // judged against the dense reference, by no bound
  PredictedRms predicted;
  long compared = 0, different = 0;  // by the exact gate

  double maxErr = 0.0, sumSquares = 0.0, rms = 0.0, gateFraction = 0.0;
  std::vector<double> columnMaxErr;
  long notFinite = 0;

  void add(float got, double reference, int col) {
    const double error = std::fabs(got - reference);
    if (!std::isfinite(error)) {
      ++notFinite;
      return;
    }
    sumSquares += error * error;
    columnMaxErr[col] = std::max(columnMaxErr[col], error);
  }

  // Once all errors are in; `gate` is the bound of each column.
  void finish(const std::vector<double>& gate, double outputs) {
    rms = std::sqrt(sumSquares / outputs);
    for (size_t col = 0; col < gate.size(); ++col) {
      const double error = columnMaxErr[col];
      maxErr = std::max(maxErr, error);
      if (error > 0.0) gateFraction = std::max(gateFraction, error / gate[col]);
    }
  }
};

struct Inputs {
  explicit Inputs(Shape s) : shape(s) {
    Generator random;
    a = makeA(shape, random);
    b = makeB(shape, random);
    maxA = maxAbs(a);
    columnMax = columnMaxAbs(b, shape.n);
  }
  Shape shape;
  std::vector<float> a, b;
  float maxA = 0.0f;
  std::vector<float> columnMax;
};

class Event {
 public:
  Event() { CUDA_CHECK(cudaEventCreate(&event_)); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  void record() { CUDA_CHECK(cudaEventRecord(event_)); }
  float since(const Event& start) {
    float milliseconds = 0.0f;
    CUDA_CHECK(cudaEventSynchronize(event_));
    CUDA_CHECK(cudaEventElapsedTime(&milliseconds, start.event_, event_));
    return milliseconds;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

// Launches once for the answer, then for the time: warm-up and the mean of `runs`.
template <typename Launch>
float launchAndTime(const Launch& launch, int runs) {
  const auto checked = [&] {
    launch();
    CUDA_CHECK(cudaGetLastError());
  };
  checked();
  CUDA_CHECK(cudaDeviceSynchronize());
  if (runs == 0) return -1.0f;
  for (int i = 1; i < kWarmupLaunches; ++i) checked();
  Event start, stop;
  start.record();
  for (int i = 0; i < runs; ++i) checked();
  stop.record();
  return stop.since(start) / static_cast<float>(runs);
}

dim3 gridFor(Shape shape) {
  return dim3((shape.n + kTile - 1) / kTile, (shape.m + kTile - 1) / kTile);
}

Row runF32(const Inputs& in, int runs) {
  const DeviceBuffer<float> a(in.a), b(in.b);
  Row row("matmulTiledF32", in.shape);
  row.milliseconds = launchAndTime(
      [&] {
        matmulTiledF32<<<gridFor(in.shape), dim3(kTile, kTile)>>>(
            a.get(), b.get(), row.output.get(), in.shape.m, in.shape.n, in.shape.k);
      },
      runs);
  return row;
}

// Compares the rows that the oracle looks at, a batch at a time, bit for bit.
void checkExactly(const Inputs& in, const QuantizedA& qa, const QuantizedB& qb,
                  const std::vector<float>& outputScale, Row& row) {
  constexpr size_t kBatch = 128;
  const size_t n = in.shape.n, k = in.shape.k;
  const std::vector<int> rows = oracleRows(in.shape);
  for (size_t first = 0; first < rows.size(); first += kBatch) {
    const size_t count = std::min(kBatch, rows.size() - first);
    std::vector<int8_t> aCodes;
    std::vector<float> got, want, line(n);
    for (size_t i = first; i < first + count; ++i) {
      const auto codes = qa.codes.begin() + rows[i] * k;
      aCodes.insert(aCodes.end(), codes, codes + k);
      row.output.read(rows[i] * n, line);
      got.insert(got.end(), line.begin(), line.end());
    }
    oracle(aCodes.data(), int(count), qa.zeroPoint, qb.codes, outputScale, int(n),
           int(k), want);
    row.different += countDifferentBits(got, want);
    row.compared += long(got.size());
  }
}

template <bool perChannelB, bool asymA>
Row runInt8(const char* name, const Inputs& in, const QuantizedA& qa,
            const QuantizedB& qb, int runs) {
  std::vector<float> outputScale;
  for (float scaleB : qb.scales) outputScale.push_back(qa.scale * scaleB);

  const DeviceBuffer<int8_t> a(qa.codes), b(qb.codes);
  const DeviceBuffer<float> scale(outputScale);
  const DeviceBuffer<int32_t> sums(columnSums(qb.codes, in.shape.n));
  Row row(name, in.shape);
  row.milliseconds = launchAndTime(
      [&] {
        matmulInt8<perChannelB, asymA><<<gridFor(in.shape), dim3(kTile, kTile)>>>(
            a.get(), b.get(), row.output.get(), in.shape.m, in.shape.n, in.shape.k,
            scale.get(), qa.zeroPoint, sums.get());
      },
      runs);
  row.predicted = predictRms(in.a, in.b, in.shape, qa.scale, qb);
  checkExactly(in, qa, qb, outputScale, row);
  return row;
}

struct CaseReport {
  explicit CaseReport(int k) : f32Gate(k) {}

  float scaleA = 0.0f, scaleAsymA = 0.0f, scaleB = 0.0f;
  int zeroPoint = 0;
  int smallColumn = 0;  // of the lowest gain, 64 times below the first column's
  ColumnCodes smallColumnCodes;  // with one scale for B
  std::vector<float> columnScales;
  std::vector<Row> rows;
  F32Gate f32Gate;

  const Row& f32() const { return rows[0]; }
  const Row& oneScale() const { return rows[1]; }
  const Row& perColumn() const { return rows[2]; }
  const Row& zeroPointRow() const { return rows[3]; }
};

// Codes of B pruned 2 of 4, four rows at a time: no second B is held. A column's
// largest magnitude survives its group, so the dense scales are those of the pruned B
// as well.
std::vector<int8_t> prunedCodes(const std::vector<float>& b,
                                const std::vector<float>& scales, int k, int n) {
  std::vector<int8_t> codes;
  codes.reserve(b.size());
  for (int k0 = 0; k0 < k; k0 += 4) {
    const auto begin = b.begin() + size_t(k0) * n;
    std::vector<float> group(begin, begin + size_t(std::min(4, k - k0)) * n);
    prune2to4(group, static_cast<int>(group.size()) / n, n);
    const std::vector<int8_t> groupCodes = quantizeByColumn(group, scales);
    codes.insert(codes.end(), groupCodes.begin(), groupCodes.end());
  }
  return codes;
}

// The ladder: each row changes one thing. Codes live only while a row needs them.
CaseReport runLadder(const Inputs& in, int runs) {
  const int n = in.shape.n;
  CaseReport report(in.shape.k);
  report.rows.push_back(runF32(in, runs));

  const QuantizedA symmetric = quantizeSymmetricA(in.a);
  report.scaleA = symmetric.scale;
  QuantizedB b = quantizeOneScaleB(in.b);
  report.scaleB = b.scales[0];
  report.smallColumn = std::min(6, n - 1);
  report.smallColumnCodes = columnCodes(b.codes, n, report.smallColumn);
  report.rows.push_back(
      runInt8<false, false>("int8 one scale", in, symmetric, b, runs));

  b = quantizeColumnsB(in.b, n);
  report.columnScales = b.scales;
  report.rows.push_back(
      runInt8<true, false>("int8 per-column", in, symmetric, b, runs));
  {
    const QuantizedA asymmetric = quantizeAsymmetricA(in.a);
    report.scaleAsymA = asymmetric.scale;
    report.zeroPoint = asymmetric.zeroPoint;
    report.rows.push_back(
        runInt8<true, true>("int8 per-col + zp", in, asymmetric, b, runs));
  }
  b.codes = prunedCodes(in.b, b.scales, in.shape.k, n);
  report.rows.push_back(runInt8<true, false>("int8 2:4 pruned", in, symmetric, b, 0));
  report.rows.back().pruned = true;
  return report;
}

// Streams the reference past every row's output, a stripe of rows at a time, so that
// neither is ever held whole on the host.
void judge(const Inputs& in, CaseReport& report) {
  constexpr int kStripe = 256;
  const size_t n = in.shape.n;
  const std::vector<double> gate = columnGate(in.shape.k, in.maxA, in.columnMax);
  std::vector<double> reference;
  for (int first = 0; first < in.shape.m; first += kStripe) {
    const int height = std::min(kStripe, in.shape.m - first);
    referenceRows(in.a, in.b, in.shape, first, height, reference);
    for (double value : reference) report.f32Gate.raise(value);

    std::vector<float> got(reference.size());
    for (Row& row : report.rows) {
      row.output.read(first * n, got);
      forEach(got.size(), in.shape.n,
              [&](size_t i, int col) { row.add(got[i], reference[i], col); });
      if (&row != &report.rows[0]) continue;
      for (size_t i = 0; i < got.size(); ++i) {
        report.f32Gate.add(std::fabs(got[i] - reference[i]), reference[i]);
      }
    }
  }
  const double outputs = double(in.shape.m) * in.shape.n;
  for (Row& row : report.rows) row.finish(gate, outputs);
}

// ---------------------------------------------------------------- the report

void printLadder(const Inputs& in, const CaseReport& report) {
  const F32Gate& f32 = report.f32Gate;
  std::printf("\ncase %dx%dx%d, max |reference| = %.4f\n", in.shape.m, in.shape.n,
              in.shape.k, f32.maxReference());
  std::printf("  a scale sym %.3e, a scale asym %.3e, zero point %d\n", report.scaleA,
              report.scaleAsymA, report.zeroPoint);
  std::printf("  b scale (one for all) %.3e,\n", report.scaleB);
  std::printf("  per-column scales span %.3e to %.3e\n", report.columnScales[0],
              report.columnScales[report.smallColumn]);
  std::printf("  one scale leaves column %d of B %d codes, %.1f%% of them 0\n",
              report.smallColumn, report.smallColumnCodes.distinct,
              100.0 * report.smallColumnCodes.zeros);
  std::printf("  f32 gate: |got-ref| <= %.3e + %.3e*|ref|\n", f32.absolute(),
              f32.relative());
  std::printf(
      "  int8 gate is per column: |got-ref| <= 4*K*amax*max|B[:,c]|/127\n"
      "  sqrt(K) fraction is reported as a statistical diagnostic, not gated\n");
  std::printf("  %-17s%11s%11s%10s%11s%10s%7s\n", "kernel", "max err", "rms err",
              "gate frac", "sqrtK frac", "time (ms)", "vs f32");
  const double sqrtK = std::sqrt(double(in.shape.k));
  for (const Row& row : report.rows) {
    const bool timed = row.milliseconds >= 0.0f;
    const auto bound = [&](double fraction) {
      return row.pruned ? "n/a" : formatted("%.3f", fraction);
    };
    const std::string time = timed ? formatted("%.4f", row.milliseconds) : "not timed";
    const std::string ratio =
        timed ? formatted("%.2f", report.f32().milliseconds / row.milliseconds) : "n/a";
    std::printf("  %-17s%11.3e%11.3e%10s%11s%10s%7s\n", row.name, row.maxErr, row.rms,
                bound(row.gateFraction).c_str(),
                bound(row.gateFraction * sqrtK).c_str(), time.c_str(), ratio.c_str());
  }
}

void printComparisons(const CaseReport& report) {
  const double gain = report.oneScale().gateFraction / report.perColumn().gateFraction;
  const double moved = report.perColumn().rms / report.zeroPointRow().rms;
  std::printf(
      "  per-column cuts the worst gate fraction by %s;\n"
      "  its sqrt(K) diagnostic improves by %s;\n"
      "  the zero point moves end-to-end rms by %s\n",
      formatted("%.2fx", gain).c_str(), formatted("%.2fx", gain).c_str(),
      formatted("%.3fx", moved).c_str());
}

// Says what failed, and remembers it.
class Verdict {
 public:
  void require(bool holds, const char* who, const char* what) {
    if (holds) return;
    std::printf("  FAILED: %s: %s\n", who, what);
    passed_ = false;
  }
  bool passed() const { return passed_; }

 private:
  bool passed_ = true;
};

void printChecks(const Inputs& in, const CaseReport& report) {
  std::printf("\nchecks of case %dx%dx%d\n", in.shape.m, in.shape.n, in.shape.k);
  std::printf(
      "  exact gate: output bits against a host integer oracle\n"
      "  predicted rms: noise of variance step^2/12, summed over k; biased: with\n"
      "  each column's summed rounding error as it is\n");
  std::printf("  %-17s%9s%10s%14s%11s%12s\n", "kernel", "compared", "differing",
              "predicted rms", "meas/pred", "meas/biased");
  for (const Row& row : report.rows) {
    if (&row == &report.f32()) continue;
    const auto figure = [&](const char* format, double value) {
      return row.pruned ? "n/a" : formatted(format, value);
    };
    std::printf("  %-17s%9ld%10ld%14s%11s%12s\n", row.name, row.compared, row.different,
                figure("%.3e", row.predicted.noise).c_str(),
                figure("%.3f", row.rms / row.predicted.noise).c_str(),
                figure("%.4f", row.rms / row.predicted.withBias).c_str());
  }
}

// Every gate and claim of a case. One scale for B is judged by the exact gate alone:
// a small column's few codes break what the bound and the prediction assume.
bool judgeGates(const Inputs& in, const CaseReport& report) {
  const Shape shape = in.shape;
  const bool statistics = predictionHolds(shape);
  const double band = predictionBand(shape);
  Verdict verdict;
  verdict.require(report.f32Gate.failures() == 0, report.f32().name, "f32 gate");
  for (const Row& row : report.rows) {
    verdict.require(row.notFinite == 0, row.name, "NaN or infinity in the output");
    verdict.require(row.different == 0, row.name, "exact gate");
  }
  for (const Row* row : {&report.perColumn(), &report.zeroPointRow()}) {
    verdict.require(row->gateFraction <= 1.0, row->name, "bound");
    const double off = std::fabs(row->rms / row->predicted.withBias - 1.0);
    verdict.require(!statistics || off <= band, row->name, "predicted rms");
  }
  const double one = report.oneScale().gateFraction;
  const double each = report.perColumn().gateFraction;
  verdict.require(!statistics || each < one, report.perColumn().name,
                  "claim: a scale for each column beats one scale");
  std::printf("  meas/biased %s\n",
              statistics
                  ? formatted("is gated per column: within %.4f of 1", band).c_str()
                  : "is not gated: too few values, or outliers in whole columns");
  std::printf("  int8 one scale is not gated: it is %s the bound, %s sqrt(K)\n",
              one <= 1.0 ? "within" : "beyond",
              one * std::sqrt(double(shape.k)) <= 1.0 ? "within" : "beyond");
  return verdict.passed();
}

bool runCase(const Inputs& in, int timedRuns) {
  CaseReport report = runLadder(in, timedRuns);
  judge(in, report);
  printLadder(in, report);
  printComparisons(report);
  printChecks(in, report);
  return judgeGates(in, report);
}

// ---------------------------------------------------------------- arguments

constexpr char kUsage[] =
    "usage: quant_matmul [--cases N|MxNxK[,...]] [--timed-runs R] [--help]";

// Reads digits that make a number in [low, high] and moves past them.
bool parseNumber(const char*& text, int low, int high, int& value) {
  if (*text < '0' || *text > '9') return false;
  long number = 0;
  for (; *text >= '0' && *text <= '9'; ++text) {
    number = std::min(number * 10 + (*text - '0'), long(high) + 1);
  }
  value = static_cast<int>(number);
  return number >= low && number <= high;
}

// "256,300x70x129": false unless the whole text is a list of positive sizes.
bool parseCases(const char* text, std::vector<Shape>& cases) {
  const auto size = [&](int& value) { return parseNumber(text, 1, kMaxSize, value); };
  for (;; ++text) {
    Shape shape;
    if (!size(shape.m)) return false;
    shape.n = shape.k = shape.m;
    if (*text == 'x') {
      ++text;
      if (!size(shape.n) || *text++ != 'x' || !size(shape.k)) return false;
    }
    cases.push_back(shape);
    if (*text != ',') return *text == '\0';
  }
}

bool parseOptions(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : "";
    if (flag == "--help") {
      options.help = true;
    } else if (flag == "--cases") {
      if (!parseCases(value, options.cases)) return false;
      ++i;
    } else if (flag == "--timed-runs") {
      if (!parseNumber(value, 0, 1000, options.timedRuns) || *value) return false;
      ++i;
    } else {
      return false;
    }
  }
  return true;
}

void printHelp() {
  std::printf(
      "%s\n"
      "  --cases       sizes of A (MxK) times B (KxN), 1 to %d each; N is NxNxN;\n"
      "                left out: a ragged 61x45x77, then 256,1024,2048\n"
      "  --timed-runs  launches averaged for a time; 0 times nothing; default 10\n",
      kUsage, kMaxSize);
}

// ---------------------------------------------------------------- the program

void requireDevice() {
  int devices = 0;
  const cudaError_t status = cudaGetDeviceCount(&devices);
  if (status == cudaSuccess && devices > 0) return;
  throw std::runtime_error(
      std::string("no CUDA device answers (") +
      (status == cudaSuccess ? "none found" : cudaGetErrorString(status)) +
      "): run where an NVIDIA GPU and driver are, or build for the CPU (README.md)");
}

bool runCensuses(const Inputs& in) {
  const bool claimHolds = printActivationCensus(in.a);
  printStorageCensus(in.b, in.shape.k, in.shape.n);
  return claimHolds;
}

// All cases; the censuses stand before the largest. Returns how many failed.
int runCases(const std::vector<Shape>& cases, int timedRuns) {
  const auto largest = std::max_element(
      cases.begin(), cases.end(),
      [](const Shape& x, const Shape& y) { return x.work() < y.work(); });
  int failed = 0;
  for (auto shape = cases.begin(); shape != cases.end(); ++shape) {
    const Inputs in(*shape);
    bool passed = shape != largest || runCensuses(in);
    passed = runCase(in, timedRuns) && passed;
    failed += !passed;
    std::fflush(stdout);
  }
  return failed;
}

int run(const Options& options) {
  requireDevice();
  printCapabilities();
  std::vector<Shape> cases = options.cases;
  int failed = 0;
  if (cases.empty()) {
    failed += !runCase(Inputs({61, 45, 77}), 0);
    std::printf("\nthe ragged case %s\n", failed == 0 ? "passed its gates" : "FAILED");
    cases = {{256, 256, 256}, {1024, 1024, 1024}, {2048, 2048, 2048}};
  }
  const int failedCases = runCases(cases, options.timedRuns);
  if (failedCases == 0) {
    std::printf("\nall %zu cases passed their gates\n", cases.size());
  } else {
    std::printf("\n%d of %zu cases FAILED\n", failedCases, cases.size());
  }
  return failed + failedCases == 0 ? 0 : 1;
}

int main(int argc, char** argv) {
  Options options;
  if (!parseOptions(argc, argv, options)) {
    std::fprintf(stderr, "%s\n", kUsage);
    return 2;
  }
  if (options.help) {
    printHelp();
    return 0;
  }
  try {
    return run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "quant_matmul: %s\n", error.what());
    return 1;
  }
}
