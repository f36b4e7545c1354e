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
// Inputs and quantizers come first, then the kernels, then the gates that judge them,
// then one driver that checks everything before it times anything. What it prints is
// Markdown. Tensor cores are reported on, never used.

// snippet: prelude
// snippet: includes
#include <cuda_fp8.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>
// end snippet

constexpr int kTile = 16;  // a block computes kTile x kTile outputs, one a thread
// end snippet: prelude

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

  std::string name() const {  // "MxNxK"
    return std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k);
  }
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
  for (size_t i = 0; i < b.size(); ++i) {
    const float gain = 1.0f / static_cast<float>(1 << (i % shape.n % 7));
    b[i] = (2.0f * random.unit() - 1.0f) * gain * (i % 37 == 0 ? 8.0f : 1.0f);
  }
  return b;
}
// end snippet

// Values in (7/8, 1]: nearly every code is large, so that sums of a few thousand
// products pass 2^24, beyond which a float no longer holds every integer.
std::vector<float> makeLarge(size_t count, Generator& random) {
  std::vector<float> x(count);
  for (float& value : x) value = 1.0f - random.unit() / 8.0f;
  return x;
}

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
struct QuantizedA {
  std::vector<int8_t> codes;  // m x k
  float scale = 1.0f;
  int zeroPoint = 0;
};

struct QuantizedB {
  std::vector<int8_t> codes;  // k x n
  std::vector<float> scales;  // 1, or one for each of the n columns

  float scale(int col) const { return scales[scales.size() == 1 ? 0 : col]; }
};

// Codes of all values, with one scale.
std::vector<int8_t> quantizeAll(const std::vector<float>& x, float scale, int zeroPoint,
                                int lowest) {
  std::vector<int8_t> codes;
  codes.reserve(x.size());
  for (float value : x) codes.push_back(quantize(value, scale, zeroPoint, lowest));
  return codes;
}

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
  for (size_t row = 0; row < b.size(); row += n) {
    for (int col = 0; col < n; ++col) {
      largest[col] = std::max(largest[col], std::fabs(b[row + col]));
    }
  }
  return largest;
}

// Symmetric codes of a row-major matrix, with a scale for each column.
std::vector<int8_t> quantizeByColumn(const std::vector<float>& x,
                                     const std::vector<float>& scales) {
  std::vector<int8_t> codes;
  codes.reserve(x.size());
  while (codes.size() < x.size()) {
    for (float scale : scales) {
      codes.push_back(quantize(x[codes.size()], scale, 0, -127));
    }
  }
  return codes;
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
  for (size_t row = 0; row < codes.size(); row += n) {
    for (int col = 0; col < n; ++col) sums[col] += codes[row + col];
  }
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

// Whether no group of four codes along k holds more than two that are not 0.
bool isPruned2to4(const std::vector<int8_t>& codes, int n) {
  const size_t group = size_t(4) * n;
  for (size_t first = 0; first < codes.size(); first += group) {
    const size_t end = std::min(first + group, codes.size());
    for (int col = 0; col < n; ++col) {
      int kept = 0;
      for (size_t i = first + col; i < end; i += n) kept += codes[i] != 0;
      if (kept > 2) return false;
    }
  }
  return true;
}

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

// ---------------------------------------------------------------- what is right

// snippet: plain-product
// (A - subtract) times B in the arithmetic of Sum, as plainly as it can be written: it
// shares no step with the kernels that it judges. A thread makes 16 neighbouring
// outputs of a row, each in ascending k. A double holds the product of two floats
// exactly, and an int32_t that of two codes, so fusing multiply and add changes no bit.
constexpr int kRun = 16;

template <typename Sum, typename T>
__global__ void plainProduct(const T* a, const T* b, Sum* c, int m, int n, int k,
                             Sum subtract) {
  const int row = blockIdx.y * kTile + threadIdx.y;
  const int first = (blockIdx.x * kTile + threadIdx.x) * kRun;
  if (row >= m || first >= n) return;
  const int width = n - first < kRun ? n - first : kRun;

  Sum sum[kRun] = {};
  for (int p = 0; p < k; ++p) {
    const Sum x = Sum(a[size_t(row) * k + p]) - subtract;
    const T* y = b + size_t(p) * n + first;
    for (int j = 0; j < kRun; ++j) {
      if (j < width) sum[j] += x * Sum(y[j]);
    }
  }
  for (int j = 0; j < width; ++j) c[size_t(row) * n + first + j] = sum[j];
}

// One row of the same product by host loops, which the kernel is held against.
template <typename Sum, typename T>
std::vector<Sum> hostRow(const T* aRow, const std::vector<T>& b, int n, int k,
                         Sum subtract) {
  std::vector<Sum> sum(n, 0);
  for (int p = 0; p < k; ++p) {
    const Sum x = Sum(aRow[p]) - subtract;
    for (int j = 0; j < n; ++j) sum[j] += x * Sum(b[size_t(p) * n + j]);
  }
  return sum;
}
// end snippet

// snippet: exact-gate
// The INT8 output to the bit: an exact integer sum, one conversion, one product.
float expectedOutput(int32_t sum, float outputScale) {
  return static_cast<float>(sum) * outputScale;
}

// Which rows the exact gate compares: all of a small case; of a large one a row of
// every tile row, at a wandering offset, so that every block answers in every column.
std::vector<int> oracleRows(Shape shape) {
  std::vector<int> rows;
  const bool every = double(shape.m) * shape.n * shape.k <= 256.0 * 256.0 * 256.0;
  for (int first = 0, tile = 0; first < shape.m; first += every ? 1 : kTile, ++tile) {
    const int height = every ? 1 : std::min(kTile, shape.m - first);
    rows.push_back(first + 7 * tile % height);
  }
  return rows;
}

// Values compared, and those of which any bit differs: bits, so that a NaN or a -0 in
// the output differs too.
struct Comparison {
  long compared = 0, different = 0;

  template <typename T>
  void add(const std::vector<T>& got, const std::vector<T>& want) {
    for (size_t i = 0; i < want.size(); ++i) {
      ++compared;
      different += std::memcmp(&got[i], &want[i], sizeof(T)) != 0;
    }
  }
};
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
  const double meanA = sumA / double(a.size()), meanA2 = sumA2 / double(a.size());

  std::vector<double> bias(shape.n, 0.0);  // of each column of B, summed over k
  for (size_t row = 0; row < b.size(); row += shape.n) {
    for (int col = 0; col < shape.n; ++col) {
      const float value = b[row + col];
      sumB2 += double(value) * value;
      bias[col] += double(qb.codes[row + col]) * qb.scale(col) - value;
    }
  }
  double expected = 0.0, actual = 0.0;  // sums over columns of B's share
  for (int col = 0; col < shape.n; ++col) {
    const double noise = shape.k * double(qb.scale(col)) * qb.scale(col) / 12.0;
    expected += meanA2 * noise;
    actual += std::max(meanA2 - meanA * meanA, 0.0) * noise +
              meanA * meanA * bias[col] * bias[col];
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
// factor sqrt(k) of errors that partly cancel. False for a NaN.
struct F32Gate {
  double relative = 0.0, absolute = 0.0;

  F32Gate(int k, double maxReference)
      : relative(std::max(1e-5, 4.0 * std::ldexp(1.0, -23) * std::sqrt(double(k)))),
        absolute(relative * maxReference) {}
  bool passes(double got, double reference) const {
    return std::fabs(got - reference) <= absolute + relative * std::fabs(reference);
  }
};
// end snippet

// ---------------------------------------------------------------- storage formats

// snippet: formatted
// `value` as text; a quotient by an error of 0 has none.
std::string formatted(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return std::isfinite(value) ? text : "n/a";
}

// A Markdown table, padded so that its columns align in a terminal as well.
class Table {
 public:
  explicit Table(std::vector<std::string> header) { add(std::move(header)); }
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

  void print() const {
    std::vector<size_t> width(rows_[0].size(), 3);
    for (const auto& row : rows_) {
      for (size_t i = 0; i < row.size(); ++i) {
        width[i] = std::max(width[i], row[i].size());
      }
    }
    std::string text = "\n";
    for (const auto& row : rows_) {
      for (size_t i = 0; i < row.size(); ++i) {
        const std::string padding(width[i] - row[i].size(), ' ');
        text += "| " + (i == 0 ? row[i] + padding : padding + row[i]) + " ";
      }
      text += "|\n";
      if (&row != &rows_[0]) continue;
      for (size_t i = 0; i < row.size(); ++i) {
        const std::string dashes(width[i] - 1, '-');
        text += i == 0 ? "| :" + dashes + " " : "| " + dashes + ": ";
      }
      text += "|\n";
    }
    std::fputs(text.c_str(), stdout);
  }

 private:
  std::vector<std::vector<std::string>> rows_;
};
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
    for (size_t row = begin; row < end; row += n) {
      for (int col = 0; col < n; ++col) {
        largest[col] = std::max(largest[col], std::fabs(b[row + col]));
      }
    }
    for (int col = 0; col < n; ++col) {
      scale[col] = scaleOf(largest[col] / tensorScale, element);
      if (e4m3Scale) scale[col] = roundE4M3(scale[col]);
      scale[col] *= tensorScale;
    }
    for (size_t row = begin; row < end; row += n) {
      for (int col = 0; col < n; ++col) {
        const float value = b[row + col];
        const float scaled = scale[col] > 0.0f ? value / scale[col] : 0.0f;
        // The slack is the rounding of a float scale, not of a value.
        error.add(value, element.round(scaled) * scale[col],
                  std::fabs(scaled) > element.largest * (1.0f + 2.5e-7f));
      }
    }
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
  std::printf("\n## activation census on A (%zu values in [0, 1))\n\n", a.size());
  std::printf("errors as a fraction of max|A| = %.4f\n", maxA);
  Table table({"format", "max err", "rms err"});
  const auto add = [&](const char* name, const FormatError& error) {
    table.add({name, formatted("%.3e", error.maxErr / maxA),
               formatted("%.3e", error.rms() / maxA)});
  };
  add("INT8 symmetric, one scale", symmetric);
  add("INT8 asymmetric, zero point", asymmetric);
  table.print();
  const double gain = symmetric.rms() / asymmetric.rms();
  const bool holds = gain > 1.9 && gain < 2.1;
  const bool judged = a.size() >= 4096;  // fewer values average too little
  std::printf("\nclaim: the zero point buys about a bit (255/127 = %.3fx): %s, %s\n",
              255.0 / 127.0, formatted("%.3fx", gain).c_str(),
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
  for (size_t row = 0; row < b.size(); row += n) {
    for (int col = 0; col < n; ++col) {
      error.add(b[row + col], dequantize(q.codes[row + col], q.scale(col), 0), false);
    }
  }
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

// Returns whether every format was tried on every value.
bool printStorageCensus(const std::vector<float>& b, int k, int n) {
  const float maxB = maxAbs(b);
  std::printf("\n## storage census on B (%dx%d)\n\n", k, n);
  std::printf("errors as a fraction of max|B| = %.4f\n", maxB);
  Table table({"format", "max err", "rms err", "bits", "saturated"});
  const std::vector<StorageRow> rows = storageCensus(b, k, n);
  bool complete = true;
  for (const StorageRow& row : rows) {
    const double saturated = double(row.error.saturated) / double(row.error.values);
    table.add({row.name, formatted("%.3e", row.error.maxErr / maxB),
               formatted("%.3e", row.error.rms() / maxB), formatted("%.2f", row.bits),
               formatted("%.3f%%", 100.0 * saturated)});
    complete = complete && row.error.values == b.size();
  }
  table.print();
  const auto ratio = [&](int row) {
    return formatted("%.3fx", rows[row].error.rms() / rows[2].error.rms());
  };
  std::printf(
      "\n'per 32' is block scaling as an idea, with a float scale;\n"
      "the MX rows (OCP v1.0) and NVFP4 are the standards, with rounded scales\n"
      "rms against one FP8 scale: float scales %s, by the spec %s, up %s\n",
      ratio(3).c_str(), ratio(4).c_str(), ratio(5).c_str());
  if (!complete) std::printf("FAILED: a format left out values of B\n");
  return complete;
}
// end snippet

// ---------------------------------------------------------------- this card

// snippet: peaks
// Rates of the units that the kernels' inner loops keep busy, in 10^12 operations a
// second (a multiply-add is two): multiprocessors x clock x operations a cycle, as the
// CUDA programming guide's throughput table gives them. NaN where they are not known.
struct Peaks {
  double multiplyAdd = NAN, dp4a = NAN;  // FP32; four products of codes at once
};

Peaks peaksOf(int capability, int multiprocessors, double gigahertz) {
  Peaks peaks;
  if (gigahertz <= 0.0 || capability < 75) return peaks;
  const double cycles = multiprocessors * gigahertz / 1000.0;
  peaks.multiplyAdd = cycles * 2 * (capability <= 80 ? 64 : 128);
  if (capability <= 90) peaks.dp4a = cycles * 8 * 64;
  return peaks;
}
// end snippet

// snippet: capability-report
struct Card {
  std::string name;
  int capability = 0;  // 75 is 7.5
  Peaks peaks;
};

Card thisCard() {
  int device = 0, kilohertz = 0;
  cudaDeviceProp properties;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
  CUDA_CHECK(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, device));
  const int capability = 10 * properties.major + properties.minor;
  return {properties.name, capability,
          peaksOf(capability, properties.multiProcessorCount, kilohertz / 1e6)};
}

// What this card's tensor cores could do; none of it is used or timed here.
void printCapabilities(const Card& card) {
  std::printf("# quant_matmul on %s (compute capability %d.%d)\n", card.name.c_str(),
              card.capability / 10, card.capability % 10);
  std::printf("\n## tensor-core support\n");
  const auto from = [&](int needed) {
    return card.capability >= needed ? "yes" : "no";
  };
  Table table({"unit", "on this card"});
  table.add({"INT8 tensor cores", from(75)});
  table.add({"2:4 sparse tensor cores (cuSPARSELt)", from(80)});
  table.add({"FP8 e4m3/e5m2 tensor cores", from(89)});
  table.print();
  std::printf(
      "\nthis program uses none of them: its INT8 loop runs on CUDA cores,\n"
      "and its FP8 and 2:4 rows are host arithmetic\n"
      "peaks of the units that it uses: FP32 multiply-add %s TFLOPS, dp4a %s TOPS\n",
      formatted("%.1f", card.peaks.multiplyAdd).c_str(),
      formatted("%.1f", card.peaks.dp4a).c_str());
}
// end snippet

// ---------------------------------------------------------------- one case

struct Inputs {
  Shape shape;
  std::vector<float> a, b;
  float maxA;
  std::vector<float> columnMax;  // of |B|

  Inputs(Shape s, std::vector<float> aValues, std::vector<float> bValues)
      : shape(s),
        a(std::move(aValues)),
        b(std::move(bValues)),
        maxA(maxAbs(a)),
        columnMax(columnMaxAbs(b, shape.n)) {}
};

Inputs syntheticInputs(Shape shape) {
  Generator random;
  std::vector<float> a = makeA(shape, random);
  return Inputs(shape, std::move(a), makeB(shape, random));
}

Inputs largeInputs(Shape shape) {
  Generator random;
  std::vector<float> a = makeLarge(size_t(shape.m) * shape.k, random);
  return Inputs(shape, std::move(a), makeLarge(size_t(shape.k) * shape.n, random));
}

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
  Comparison exact;        // with the integer oracle
  int32_t largestSum = 0;  // of the oracle's integers

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

struct CaseReport {
  float scaleA = 0.0f, scaleAsymA = 0.0f, scaleB = 0.0f;
  int zeroPoint = 0;
  int smallColumn = 0;  // of the lowest gain, 64 times below the first column's
  ColumnCodes smallColumnCodes;  // with one scale for B
  std::vector<float> columnScales;
  std::vector<Row> rows;
  bool twoOfFour = false;  // whether the pruned codes are what they are called
  double maxReference = 0.0, rmsReference = 0.0;
  F32Gate f32Gate{0, 0.0};
  long f32Failures = 0;
  Comparison host;  // reference and oracle against host loops, some rows of each

  const Row& f32() const { return rows[0]; }
  const Row& oneScale() const { return rows[1]; }
  const Row& perColumn() const { return rows[2]; }
  const Row& zeroPointRow() const { return rows[3]; }
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

// Blocks of kTile x kTile threads, each of which makes `run` outputs of a row.
dim3 gridFor(int m, int n, int run = 1) {
  const int columns = kTile * run;
  return dim3((n + columns - 1) / columns, (m + kTile - 1) / kTile);
}

template <typename Sum, typename T>
DeviceBuffer<Sum> launchPlainProduct(const DeviceBuffer<T>& a, const DeviceBuffer<T>& b,
                                     int m, int n, int k, Sum subtract) {
  DeviceBuffer<Sum> c(size_t(m) * n);
  plainProduct<Sum, T><<<gridFor(m, n, kRun), dim3(kTile, kTile)>>>(
      a.get(), b.get(), c.get(), m, n, k, subtract);
  CUDA_CHECK(cudaGetLastError());
  return c;
}

Row runF32(const Inputs& in, int runs) {
  const auto [m, n, k] = in.shape;
  const DeviceBuffer<float> a(in.a), b(in.b);
  Row row("matmulTiledF32", in.shape);
  row.milliseconds = launchAndTime(
      [&, m = m, n = n, k = k] {
        matmulTiledF32<<<gridFor(m, n), dim3(kTile, kTile)>>>(
            a.get(), b.get(), row.output.get(), m, n, k);
      },
      runs);
  return row;
}

// Compares the rows that the oracle looks at, bit for bit, and a few of the oracle's
// own with host loops.
void checkExactly(const Inputs& in, const QuantizedA& qa, const QuantizedB& qb,
                  const DeviceBuffer<int8_t>& b, Row& row, Comparison& host) {
  const int n = in.shape.n, k = in.shape.k;
  const std::vector<int> rows = oracleRows(in.shape);
  std::vector<int8_t> codes;  // of A, in the rows looked at
  for (int r : rows) {
    const auto begin = qa.codes.begin() + size_t(r) * k;
    codes.insert(codes.end(), begin, begin + k);
  }
  const int count = static_cast<int>(rows.size());
  const DeviceBuffer<int32_t> oracle = launchPlainProduct<int32_t, int8_t>(
      DeviceBuffer<int8_t>(codes), b, count, n, k, qa.zeroPoint);

  std::vector<int32_t> sums(n);
  std::vector<float> got(n), want(n);
  for (int i = 0; i < count; ++i) {
    oracle.read(size_t(i) * n, sums);
    for (int col = 0; col < n; ++col) {
      want[col] = expectedOutput(sums[col], qa.scale * qb.scale(col));
      row.largestSum = std::max(row.largestSum, std::abs(sums[col]));
    }
    row.output.read(size_t(rows[i]) * n, got);
    row.exact.add(got, want);
    if (i % ((count + 1) / 2) == 0) {
      host.add(sums, hostRow(&codes[size_t(i) * k], qb.codes, n, k, qa.zeroPoint));
    }
  }
}

template <bool perChannelB, bool asymA>
Row runInt8(const char* name, const Inputs& in, const QuantizedA& qa,
            const QuantizedB& qb, int runs, Comparison& host) {
  const auto [m, n, k] = in.shape;
  std::vector<float> outputScale;
  for (float scaleB : qb.scales) outputScale.push_back(qa.scale * scaleB);

  const DeviceBuffer<int8_t> a(qa.codes), b(qb.codes);
  const DeviceBuffer<float> scale(outputScale);
  const DeviceBuffer<int32_t> sums(columnSums(qb.codes, n));
  Row row(name, in.shape);
  row.milliseconds = launchAndTime(
      [&, m = m, n = n, k = k] {
        matmulInt8<perChannelB, asymA><<<gridFor(m, n), dim3(kTile, kTile)>>>(
            a.get(), b.get(), row.output.get(), m, n, k, scale.get(), qa.zeroPoint,
            sums.get());
      },
      runs);
  row.predicted = predictRms(in.a, in.b, in.shape, qa.scale, qb);
  checkExactly(in, qa, qb, b, row, host);
  return row;
}

// The ladder: each row changes one thing. Codes live only while a row needs them.
CaseReport runLadder(const Inputs& in, int runs) {
  const int n = in.shape.n;
  CaseReport report;
  report.rows.push_back(runF32(in, runs));

  const QuantizedA symmetric = quantizeSymmetricA(in.a);
  report.scaleA = symmetric.scale;
  QuantizedB b = quantizeOneScaleB(in.b);
  report.scaleB = b.scales[0];
  report.smallColumn = std::min(6, n - 1);
  report.smallColumnCodes = columnCodes(b.codes, n, report.smallColumn);
  report.rows.push_back(
      runInt8<false, false>("int8 one scale", in, symmetric, b, runs, report.host));

  b = quantizeColumnsB(in.b, n);
  report.columnScales = b.scales;
  report.rows.push_back(
      runInt8<true, false>("int8 per-column", in, symmetric, b, runs, report.host));
  {
    const QuantizedA asymmetric = quantizeAsymmetricA(in.a);
    report.scaleAsymA = asymmetric.scale;
    report.zeroPoint = asymmetric.zeroPoint;
    report.rows.push_back(
        runInt8<true, true>("int8 per-col + zp", in, asymmetric, b, runs, report.host));
  }
  // A column's largest magnitude survives its group, so its scale stays.
  std::vector<float> pruned = in.b;
  prune2to4(pruned, in.shape.k, n);
  b.codes = quantizeByColumn(pruned, b.scales);
  report.twoOfFour = isPruned2to4(b.codes, n);
  report.rows.push_back(
      runInt8<true, false>("int8 2:4 pruned", in, symmetric, b, 0, report.host));
  report.rows.back().pruned = true;
  return report;
}

// Every error of every row, against the reference in double over the original floats.
// A row of the output at a time comes back from the device: nothing is held whole.
void judge(const Inputs& in, CaseReport& report) {
  const auto [m, n, k] = in.shape;
  const DeviceBuffer<double> reference = launchPlainProduct<double, float>(
      DeviceBuffer<float>(in.a), DeviceBuffer<float>(in.b), m, n, k, 0.0);
  std::vector<double> want(n);
  double squares = 0.0;
  for (int i = 0; i < m; ++i) {
    reference.read(size_t(i) * n, want);
    for (double value : want) {
      report.maxReference = std::max(report.maxReference, std::fabs(value));
      squares += value * value;
    }
    if (i % ((m + 1) / 2) == 0) {
      report.host.add(want, hostRow(&in.a[size_t(i) * k], in.b, n, k, 0.0));
    }
  }
  const double outputs = double(m) * n;
  report.rmsReference = std::sqrt(squares / outputs);
  report.f32Gate = F32Gate(k, report.maxReference);

  const std::vector<double> gate = columnGate(k, in.maxA, in.columnMax);
  std::vector<float> got(n);
  for (int i = 0; i < m; ++i) {
    reference.read(size_t(i) * n, want);
    for (Row& row : report.rows) {
      row.output.read(size_t(i) * n, got);
      for (int col = 0; col < n; ++col) row.add(got[col], want[col], col);
      if (&row != &report.rows[0]) continue;
      for (int col = 0; col < n; ++col) {
        report.f32Failures += !report.f32Gate.passes(got[col], want[col]);
      }
    }
  }
  for (Row& row : report.rows) row.finish(gate, outputs);
}

// ---------------------------------------------------------------- the report

void printAccuracy(const Inputs& in, const CaseReport& report) {
  std::printf("\n## case %s\n\n", in.shape.name().c_str());
  std::printf("max |reference| = %.4f\n", report.maxReference);
  std::printf("a scale sym %.3e, a scale asym %.3e, zero point %d\n", report.scaleA,
              report.scaleAsymA, report.zeroPoint);
  std::printf("b scale (one for all) %.3e\n", report.scaleB);
  std::printf("per-column scales span %.3e to %.3e\n", report.columnScales[0],
              report.columnScales[report.smallColumn]);
  std::printf("one scale leaves column %d of B %d codes, %.1f%% of them 0\n",
              report.smallColumn, report.smallColumnCodes.distinct,
              100.0 * report.smallColumnCodes.zeros);
  std::printf("f32 gate: `|got-ref| <= %.3e + %.3e*|ref|`\n", report.f32Gate.absolute,
              report.f32Gate.relative);
  std::printf(
      "int8 gate is per column: `|got-ref| <= 4*K*amax*max|B[:,c]|/127`\n"
      "sqrt(K) fraction is reported as a statistical diagnostic, not gated\n");
  const double sqrtK = std::sqrt(double(in.shape.k));
  Table table({"kernel", "max err", "rms err", "rel rms", "gate frac", "sqrtK frac"});
  for (const Row& row : report.rows) {
    const auto bound = [&](double fraction) {
      return row.pruned ? "n/a" : formatted("%.3f", fraction);
    };
    table.add({row.name, formatted("%.3e", row.maxErr), formatted("%.3e", row.rms),
               formatted("%#.3g%%", 100.0 * row.rms / report.rmsReference),
               bound(row.gateFraction), bound(row.gateFraction * sqrtK)});
  }
  table.print();
}

void printTimes(const Inputs& in, const CaseReport& report, const Peaks& peaks) {
  const double work = 2e-9 * in.shape.m * in.shape.n * in.shape.k;
  Table table({"kernel", "time (ms)", "vs f32", "TFLOPS/TOPS", "of peak"});
  for (const Row& row : report.rows) {
    if (row.pruned) continue;
    const auto timed = [&](const char* format, double value) {
      return row.milliseconds < 0.0f ? "not timed" : formatted(format, value);
    };
    const double rate = work / row.milliseconds;
    const double peak = &row == &report.f32() ? peaks.multiplyAdd : peaks.dp4a;
    table.add({row.name, timed("%.4f", row.milliseconds),
               timed("%.2f", report.f32().milliseconds / row.milliseconds),
               timed("%.2f", rate), timed("%.1f%%", 100.0 * rate / peak)});
  }
  table.print();
}

void printComparisons(const CaseReport& report) {
  const double gain = report.oneScale().gateFraction / report.perColumn().gateFraction;
  const double moved = report.perColumn().rms / report.zeroPointRow().rms;
  std::printf(
      "\nper-column cuts the worst gate fraction by %s\n"
      "its sqrt(K) diagnostic improves by %s\n"
      "the zero point moves end-to-end rms by %s\n",
      formatted("%.2fx", gain).c_str(), formatted("%.2fx", gain).c_str(),
      formatted("%.3fx", moved).c_str());
}

void printChecks(const Inputs& in, const CaseReport& report) {
  std::printf(
      "\n## checks of case %s\n\n"
      "reference and oracle against host loops: %ld outputs compared, %ld differ\n"
      "exact gate: output bits against an integer oracle\n"
      "predicted rms: noise of variance step^2/12, summed over k\n"
      "meas/biased: against that with each column's summed rounding error as it is\n",
      in.shape.name().c_str(), report.host.compared, report.host.different);
  Table table({"kernel", "compared", "differing", "largest sum", "predicted rms",
               "meas/pred", "meas/biased"});
  for (const Row& row : report.rows) {
    if (&row == &report.f32()) continue;
    const auto figure = [&](const char* format, double value) {
      return row.pruned ? "n/a" : formatted(format, value);
    };
    table.add({row.name, std::to_string(row.exact.compared),
               std::to_string(row.exact.different), std::to_string(row.largestSum),
               figure("%.3e", row.predicted.noise),
               figure("%.3f", row.rms / row.predicted.noise),
               figure("%.4f", row.rms / row.predicted.withBias)});
  }
  table.print();
}

// Says what failed, and remembers it.
class Verdict {
 public:
  void require(bool holds, const char* who, const char* what) {
    if (holds) return;
    std::printf("FAILED: %s: %s\n", who, what);
    passed_ = false;
  }
  bool passed() const { return passed_; }

 private:
  bool passed_ = true;
};

// Every gate and claim of a case. One scale for B is judged by the exact gate alone:
// a small column's few codes break what the bound and the prediction assume.
bool judgeGates(const Inputs& in, const CaseReport& report) {
  const bool statistics = predictionHolds(in.shape);
  const double band = predictionBand(in.shape);
  std::printf("\n");
  Verdict verdict;
  verdict.require(report.host.different == 0, "reference and oracle", "host loops");
  verdict.require(report.f32Failures == 0, report.f32().name, "f32 gate");
  verdict.require(report.twoOfFour, report.rows.back().name, "2 of 4");
  for (const Row& row : report.rows) {
    verdict.require(row.notFinite == 0, row.name, "NaN or infinity in the output");
    verdict.require(row.exact.different == 0, row.name, "exact gate");
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
  std::printf("meas/biased %s\n",
              statistics
                  ? formatted("is gated per column: within %.4f of 1", band).c_str()
                  : "is not gated: too few values, or outliers in whole columns");
  std::printf("int8 one scale is not gated: it is %s the bound, %s sqrt(K)\n",
              one <= 1.0 ? "within" : "beyond",
              one * std::sqrt(double(in.shape.k)) <= 1.0 ? "within" : "beyond");
  return verdict.passed();
}

bool runCase(const Inputs& in, int timedRuns, const Peaks& peaks) {
  CaseReport report = runLadder(in, timedRuns);
  judge(in, report);
  printAccuracy(in, report);
  printTimes(in, report, peaks);
  printComparisons(report);
  printChecks(in, report);
  return judgeGates(in, report);
}

// ---------------------------------------------------------------- arguments

struct Options {
  std::vector<Shape> cases;  // empty: the default ladder
  int timedRuns = 10;
  bool help = false;
};

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
      "                left out: two small ones, then 256,1024,2048\n"
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

// Says before anything is allocated that a case is too large for the device.
void requireMemory(Shape shape) {
  const double m = shape.m, n = shape.n, k = shape.k;
  // Five outputs and the reference; A and B in float.
  const double needed =
      (5 * sizeof(float) + sizeof(double)) * m * n + sizeof(float) * (m * k + k * n);
  size_t free = 0, total = 0;
  CUDA_CHECK(cudaMemGetInfo(&free, &total));
  if (needed <= double(free)) return;
  throw std::runtime_error("case " + shape.name() + " needs " +
                           formatted("%.1f", needed / 1e9) + " GB of device memory, " +
                           formatted("%.1f", double(free) / 1e9) + " are free");
}

// Correctness only: dimensions that differ and fit no tile, and sums past 2^24.
int runSmallCases(const Peaks& peaks) {
  const bool ragged = runCase(syntheticInputs({61, 45, 77}), 0, peaks);
  const bool large = runCase(largeInputs({33, 21, 4099}), 0, peaks);
  std::printf("\nthe ragged case %s\n", ragged ? "passed its gates" : "FAILED");
  std::printf("the case of sums above 2^24 %s\n",
              large ? "passed its gates" : "FAILED");
  return !ragged + !large;
}

// All cases; the censuses stand before the largest. Returns how many failed.
int runCases(const std::vector<Shape>& cases, int timedRuns, const Peaks& peaks) {
  const auto work = [](Shape s) { return double(s.m) * s.n * s.k; };
  const auto largest = std::max_element(
      cases.begin(), cases.end(), [&](Shape x, Shape y) { return work(x) < work(y); });
  int failed = 0;
  for (auto shape = cases.begin(); shape != cases.end(); ++shape) {
    const Inputs in = syntheticInputs(*shape);
    bool passed = true;
    if (shape == largest) {
      passed = printActivationCensus(in.a);
      passed = printStorageCensus(in.b, shape->k, shape->n) && passed;
    }
    passed = runCase(in, timedRuns, peaks) && passed;
    failed += !passed;
    std::fflush(stdout);
  }
  return failed;
}

int run(const Options& options) {
  requireDevice();
  for (Shape shape : options.cases) requireMemory(shape);
  const Card card = thisCard();
  printCapabilities(card);
  std::vector<Shape> cases = options.cases;
  int failedSmall = 0;
  if (cases.empty()) {
    failedSmall = runSmallCases(card.peaks);
    cases = {{256, 256, 256}, {1024, 1024, 1024}, {2048, 2048, 2048}};
  }
  const int failed = runCases(cases, options.timedRuns, card.peaks);
  std::printf("\n## summary\n\n");
  if (failed == 0) {
    std::printf("all %zu cases passed their gates\n", cases.size());
  } else {
    std::printf("%d of %zu cases FAILED\n", failed, cases.size());
  }
  return failedSmall + failed == 0 ? 0 : 1;
}

int main(int argc, char** argv) {
  Options options;
  if (!parseOptions(argc, argv, options)) {
    std::fprintf(stderr, "%s\n", kUsage);
    return 2;
  }
  try {
    if (options.help) printHelp();
    const int status = options.help ? 0 : run(options);
    if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return status;
    throw std::runtime_error("the output could not be written");
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "quant_matmul: out of host memory: choose smaller --cases\n");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "quant_matmul: %s\n", error.what());
  }
  return 1;
}
