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
// What it prints is Markdown. It reports on tensor cores without using them.

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kTile = 16;        // a block computes kTile x kTile outputs, one a thread
constexpr int kMaxSize = 65536;  // sum of k products (|255| * |127|) stays in int32

// snippet: cuda-check
// Throws what the runtime says, so that destructors free what was allocated.
void cudaCheck(cudaError_t status, const char* what, int line) {
  if (status == cudaSuccess) return;
  throw std::runtime_error("line " + std::to_string(line) + ": " + what + ": " +
                           cudaGetErrorString(status));
}
#define CUDA_CHECK(call) cudaCheck((call), #call, __LINE__)

// `count` elements of device memory, freed on every path. All bits are set at first, a
// NaN in float: what no kernel writes is seen.
template <typename T>
class DeviceBuffer {
 public:
  explicit DeviceBuffer(size_t count) : count_(count) {
    T* data = nullptr;
    CUDA_CHECK(cudaMalloc(reinterpret_cast<void**>(&data), count * sizeof(T)));
    data_.reset(data);
    CUDA_CHECK(cudaMemset(data, 0xFF, count * sizeof(T)));
  }
  explicit DeviceBuffer(const std::vector<T>& host) : DeviceBuffer(host.size()) {
    CUDA_CHECK(
        cudaMemcpy(get(), host.data(), count_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  T* get() const { return data_.get(); }

  // Elements [first, first + host.size()).
  void read(size_t first, std::vector<T>& host) const {
    CUDA_CHECK(cudaMemcpy(host.data(), get() + first, host.size() * sizeof(T),
                          cudaMemcpyDeviceToHost));
  }

 private:
  struct Free {
    void operator()(T* data) const { cudaFree(data); }
  };
  std::unique_ptr<T, Free> data_;
  size_t count_;
};
// end snippet: cuda-check

// ---------------------------------------------------------------- inputs
// snippet: inputs
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
// end snippet

// snippet: quantized-codes
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
// end snippet

// snippet: quantize-asymmetric
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
// end snippet

// snippet: quantize-columns
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
// end snippet

// snippet: column-sums
// Sum of each column of B's codes: what a zero point in A has to be multiplied by.
std::vector<int32_t> columnSums(const std::vector<int8_t>& codes, int n) {
  std::vector<int32_t> sums(n, 0);
  for (size_t i = 0; i < codes.size();) {
    for (int32_t& sum : sums) sum += codes[i++];
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
// earlier one when they tie) and zeroes the rest; so too in a shorter last group.
void prune2to4(std::vector<float>& b, int k, int n) {
  for (int k0 = 0; k0 < k; k0 += 4) {
    for (int col = 0; col < n; ++col) {
      float* group = &b[size_t(k0) * n + col];  // its values are n apart
      const int size = std::min(4, k - k0);
      float magnitude[4] = {};
      for (int i = 0; i < size; ++i) magnitude[i] = std::fabs(group[size_t(i) * n]);
      for (int i = 0; i < size; ++i) {
        int ahead = 0;
        for (int j = 0; j < size; ++j) {
          ahead +=
              magnitude[j] > magnitude[i] || (magnitude[j] == magnitude[i] && j < i);
        }
        if (ahead >= 2) group[size_t(i) * n] = 0.0f;
      }
    }
  }
}
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
std::vector<Sum> hostRow(const T* aRow, const std::vector<T>& b, Shape s,
                         Sum subtract) {
  std::vector<Sum> sum(s.n, 0);
  for (int p = 0; p < s.k; ++p) {
    const Sum x = Sum(aRow[p]) - subtract;
    for (int j = 0; j < s.n; ++j) sum[j] += x * Sum(b[size_t(p) * s.n + j]);
  }
  return sum;
}
// end snippet

// snippet: exact-gate
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

// Values compared, and those of which any bit differs, as of a NaN or a -0 for a 0.
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
// Bound on |error| in each column of the output. A code is off by half a step at most;
// if all k errors had one sign, they would reach k * max|A| * max|B[:,c]| / 127 and a
// little. Four times that is the gate: far above what happens, so wrong kernels pass
// it, and the exact gate is the test. With sqrt(k) for k it is a diagnostic.
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

// Rms error of the product, to first order in the rounding errors e of B's codes and d
// of A's: sum over k of a e + b d. Uniform noise over one step has variance step^2/12,
// so `noise` averages sum_k (a^2 sB^2/12 + b^2 sA^2/12) over the outputs. But where A's
// mean is not zero, mean(A) * sum_k e is one number for a whole column of the output, a
// bias: `withBias` takes it as it is.
PredictedRms predictRms(const std::vector<float>& a, const std::vector<float>& b,
                        Shape shape, float scaleA, const Quantized& qb) {
  double sumA = 0.0, sumA2 = 0.0, sumB2 = 0.0;
  for (float value : a) {
    sumA += value;
    sumA2 += double(value) * value;
  }
  const double meanA = sumA / double(a.size()), meanA2 = sumA2 / double(a.size());

  std::vector<double> bias(shape.n, 0.0);  // of each column of B, summed over k
  for (size_t i = 0; i < b.size();) {
    for (int col = 0; col < shape.n; ++col, ++i) {
      sumB2 += double(b[i]) * b[i];
      bias[col] += double(qb.codes[i]) * qb.scale(col) - b[i];
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
// factor sqrt(k) of errors that partly cancel.
double f32Relative(int k) {
  return std::max(1e-5, 4.0 * std::ldexp(1.0, -23) * std::sqrt(double(k)));
}
// end snippet

// ---------------------------------------------------------------- storage formats
// snippet: formatted
// `value` as text; a quotient by an error of 0 has none.
std::string formatted(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return std::isfinite(value) ? text : "n/a";
}

// A Markdown table whose columns align in a terminal as well: the first as wide as
// told, the others as their headers, 9 at least.
class Table {
 public:
  Table(const std::vector<std::string>& header, int first = 17) : widths_{first} {
    for (size_t i = 1; i < header.size(); ++i) {
      widths_.push_back(std::max(9, static_cast<int>(header[i].size())));
    }
    std::printf("\n");
    row(header);
    for (size_t i = 0; i < header.size(); ++i) {
      const std::string dashes(widths_[i] - 1, '-');
      std::printf(i == 0 ? "| :%s " : "| %s: ", dashes.c_str());
    }
    std::printf("|\n");
  }
  void row(const std::vector<std::string>& cells) const {
    for (size_t i = 0; i < cells.size(); ++i) {
      std::printf(i == 0 ? "| %-*s " : "| %*s ", widths_[i], cells[i].c_str());
    }
    std::printf("|\n");
  }

 private:
  std::vector<int> widths_;
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
// end snippet

// snippet: block-scales
using ScaleRule = float (*)(float largest, ElementFormat element);

// snippet: scale-rules
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
// end snippet: scale-rules

// Stores B in blocks of `block` values down a column (k x n, the last block of a
// column may be short). `tensorScale` applies to all; `e4m3Scale` rounds each block's
// scale to E4M3 as NVFP4 does.
FormatError blockFormatError(const std::vector<float>& b, int k, int n, int block,
                             ElementFormat element, ScaleRule scaleOf,
                             float tensorScale = 1.0f, bool e4m3Scale = false) {
  FormatError error;
  for (int k0 = 0; k0 < k; k0 += block) {
    for (int col = 0; col < n; ++col) {
      const float* values = &b[size_t(k0) * n + col];  // n apart
      const size_t end = size_t(std::min(block, k - k0)) * n;
      float largest = 0.0f;
      for (size_t i = 0; i < end; i += n) {
        largest = std::max(largest, std::fabs(values[i]));
      }
      float scale = scaleOf(largest / tensorScale, element);
      if (e4m3Scale) scale = roundE4M3(scale);
      scale *= tensorScale;
      for (size_t i = 0; i < end; i += n) {
        const float scaled = scale > 0.0f ? values[i] / scale : 0.0f;
        // The slack is the rounding of a float scale, not of a value.
        error.add(values[i], element.round(scaled) * scale,
                  std::fabs(scaled) > element.largest * (1.0f + 2.5e-7f));
      }
    }
  }
  return error;
}
// end snippet

// snippet: activation-census
// What INT8 codes alone do to values.
FormatError int8Error(const std::vector<float>& x, const Quantized& q) {
  FormatError error;
  for (size_t i = 0, col = 0; i < x.size(); ++i) {
    error.add(x[i], dequantize(q.codes[i], q.scales[col], q.zeroPoint), false);
    col = col + 1 < q.scales.size() ? col + 1 : 0;
  }
  return error;
}

// Returns whether the claim holds: on a non-negative tensor the zero point halves the
// step (127 steps become 255), so it buys 255/127 = 2.008 in rms, about a bit.
bool printActivationCensus(const std::vector<float>& a) {
  const float maxA = maxAbs(a);
  const FormatError symmetric = int8Error(a, quantizeSymmetric(a));
  const FormatError asymmetric = int8Error(a, quantizeAsymmetric(a));
  std::printf("\n## activation census on A\n\nvalues of A: %zu in [0, 1)\n", a.size());
  std::printf("errors as a fraction of max|A| = %.4f\n", maxA);
  const Table table({"format", "max err", "rms err"}, 27);
  for (const FormatError* error : {&symmetric, &asymmetric}) {
    table.row({error == &symmetric ? "INT8 symmetric, one scale"
                                   : "INT8 asymmetric, zero point",
               formatted("%.3e", error->maxErr / maxA),
               formatted("%.3e", error->rms() / maxA)});
  }
  const double gain = symmetric.rms() / asymmetric.rms();
  const bool holds = gain > 1.9 && gain < 2.1;
  const char* verdict = holds ? "holds" : "FALSE";
  const bool judged = a.size() >= 4096;  // fewer values average too little
  std::printf("\nclaim: the zero point buys about a bit (255/127 = %.3fx): %s, %s\n",
              255.0 / 127.0, formatted("%.3fx", gain).c_str(),
              judged ? verdict : "not judged");
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

std::vector<StorageRow> storageCensus(const std::vector<float>& b, int k, int n) {
  const float maxB = maxAbs(b);
  const auto per32 = [&](ElementFormat element, ScaleRule scaleOf) {
    return blockFormatError(b, k, n, 32, element, scaleOf);
  };
  const float fp8Scale = floatScale(maxB, kE4M3);
  const float nvfp4Scale = floatScale(maxB, {nullptr, 448.0f * 6.0f, 0});
  const auto unit = [](float, ElementFormat) { return 1.0f; };
  return {
      {"INT8, one scale for B", 8, int8Error(b, quantizeSymmetric(b))},
      {"INT8, one scale per column", 8 + 32.0 / k, int8Error(b, quantizeColumns(b, n))},
      {"FP8 e4m3, one scale for B", 8,
       blockFormatError(b, k, n, 32, kE4M3, unit, fp8Scale)},
      {"FP8 e4m3, one scale per 32", 9, per32(kE4M3, floatScale)},
      {"MXFP8, scale by the spec", 8.25, per32(kE4M3, specificationScale)},
      {"MXFP8, scale rounded up", 8.25, per32(kE4M3, roundedUpScale)},
      {"MXINT8", 8.25, per32(kMxInt8, specificationScale)},
      {"MXFP4", 4.25, per32(kE2M1, specificationScale)},
      {"NVFP4", 4.5,
       blockFormatError(b, k, n, 16, kE2M1, floatScale, nvfp4Scale, true)},
  };
}

// Returns whether every format was tried on every value.
bool printStorageCensus(const std::vector<float>& b, int k, int n) {
  const float maxB = maxAbs(b);
  std::printf("\n## storage census on B\n\nvalues of B: %dx%d\n", k, n);
  std::printf("errors as a fraction of max|B| = %.4f\n", maxB);
  const Table table({"format", "max err", "rms err", "bits", "saturated"}, 26);
  const std::vector<StorageRow> rows = storageCensus(b, k, n);
  bool complete = true;
  for (const StorageRow& row : rows) {
    const double saturated = double(row.error.saturated) / double(row.error.values);
    table.row({row.name, formatted("%.3e", row.error.maxErr / maxB),
               formatted("%.3e", row.error.rms() / maxB), formatted("%.2f", row.bits),
               formatted("%.3f%%", 100.0 * saturated)});
    complete = complete && row.error.values == b.size();
  }
  const auto ratio = [&](int row) {
    return formatted("%.3fx", rows[row].error.rms() / rows[2].error.rms());
  };
  std::printf(
      "\n'per 32' is block scaling as an idea, with a float scale;\n"
      "the MX rows (OCP v1.0) and NVFP4 are the standards, with rounded scales\n"
      "rms against one FP8 scale: float scales %s, by the spec %s, up %s\n",
      ratio(3).c_str(), ratio(4).c_str(), ratio(5).c_str());
  if (!complete) std::printf("FAILED: storage census: values left out\n");
  return complete;
}
// end snippet

// ---------------------------------------------------------------- this card
// snippet: capability-report
// Rates of the units that the kernels' inner loops keep busy, in 10^12 operations a
// second (a multiply-add is two): multiprocessors x clock x operations a cycle, by the
// CUDA programming guide's throughput table. NaN where that is not known.
struct Card {
  double multiplyAddPeak = NAN, dp4aPeak = NAN;
};

// What this card's tensor cores could do; none of it is used or timed here.
Card printCapabilities() {
  int device = 0, kilohertz = 0;
  cudaDeviceProp properties;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
  CUDA_CHECK(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, device));
  Card card;
  const int capability = 10 * properties.major + properties.minor;  // 75 is 7.5
  const double cycles = properties.multiProcessorCount * kilohertz / 1e9;
  if (cycles > 0.0 && capability >= 75) {
    card.multiplyAddPeak = cycles * 2 * (capability <= 80 ? 64 : 128);
    if (capability <= 90) card.dp4aPeak = cycles * 8 * 64;
  }
  std::printf("# quant_matmul on %s (compute capability %d.%d)\n", properties.name,
              properties.major, properties.minor);
  std::printf("\n## tensor-core support\n");
  const auto from = [&](int needed) { return capability >= needed ? "yes" : "no"; };
  const Table table({"unit", "on this card"}, 36);
  table.row({"INT8 tensor cores", from(75)});
  table.row({"2:4 sparse tensor cores (cuSPARSELt)", from(80)});
  table.row({"FP8 e4m3/e5m2 tensor cores", from(89)});
  std::printf(
      "\nthis program uses none of them: its INT8 loop runs on CUDA cores,\n"
      "and its FP8 and 2:4 rows are host arithmetic\n"
      "peaks of the units that it uses: FP32 multiply-add %s TFLOPS, dp4a %s TOPS\n",
      formatted("%.1f", card.multiplyAddPeak).c_str(),
      formatted("%.1f", card.dp4aPeak).c_str());
  return card;
}
// end snippet

// ---------------------------------------------------------------- one case
enum { kF32, kOneScale, kPerColumn, kZeroPoint, kPruned };  // the rows

// A kernel's output, still on the device, and what is known of it.
struct Row {
  Row(const char* rowName, Shape shape)
      : name(rowName), output(size_t(shape.m) * shape.n), columnMaxErr(shape.n) {}

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

  void add(float got, double reference, size_t col) {
    const double error = std::fabs(got - reference);
    notFinite += !std::isfinite(error);
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

struct Events {
  cudaEvent_t start = nullptr, stop = nullptr;
  ~Events() { cudaEventDestroy(start), cudaEventDestroy(stop); }
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
  for (int warmUp = 1; warmUp < 3; ++warmUp) checked();
  Events events;
  CUDA_CHECK(cudaEventCreate(&events.start));
  CUDA_CHECK(cudaEventCreate(&events.stop));
  CUDA_CHECK(cudaEventRecord(events.start));
  for (int i = 0; i < runs; ++i) checked();
  CUDA_CHECK(cudaEventRecord(events.stop));
  CUDA_CHECK(cudaEventSynchronize(events.stop));
  float milliseconds = 0.0f;
  CUDA_CHECK(cudaEventElapsedTime(&milliseconds, events.start, events.stop));
  return milliseconds / static_cast<float>(runs);
}

// Blocks of kTile x kTile threads, each of which makes `run` outputs of a row.
dim3 gridFor(Shape s, int run = 1) {
  const int columns = kTile * run;
  return dim3((s.n + columns - 1) / columns, (s.m + kTile - 1) / kTile);
}

template <typename Sum, typename T>
DeviceBuffer<Sum> launchPlainProduct(const DeviceBuffer<T>& a, const DeviceBuffer<T>& b,
                                     Shape s, Sum subtract) {
  DeviceBuffer<Sum> c(size_t(s.m) * s.n);
  plainProduct<Sum, T><<<gridFor(s, kRun), dim3(kTile, kTile)>>>(
      a.get(), b.get(), c.get(), s.m, s.n, s.k, subtract);
  CUDA_CHECK(cudaGetLastError());
  return c;
}

// Visits what the device holds of an m x n matrix, 64 rows at a time: nothing is held
// whole on the host. visit(index of the first value, values).
template <typename T, typename Visit>
void forStripes(const DeviceBuffer<T>& matrix, Shape shape, const Visit& visit) {
  const size_t count = size_t(shape.m) * shape.n, stripe = size_t(64) * shape.n;
  std::vector<T> values;
  for (size_t first = 0; first < count; first += stripe) {
    values.resize(std::min(stripe, count - first));
    matrix.read(first, values);
    visit(first, values);
  }
}

// What a case found. The reference is on the device: double, over the original floats.
struct CaseReport {
  DeviceBuffer<double> reference;
  std::vector<double> gate;  // of each column
  double maxReference = 0.0, rmsReference = 0.0;
  float scaleA = 0.0f, scaleAsymA = 0.0f, scaleB = 0.0f;
  int zeroPoint = 0;
  int smallColumn = 0;  // of the lowest gain, 64 times below the first column's
  ColumnCodes smallColumnCodes;  // with one scale for B
  std::vector<float> columnScales;
  std::vector<Row> rows;
  bool twoOfFour = false;  // whether the pruned B is what it is called
  long f32Failures = 0;
  Comparison host;  // reference and oracle against host loops, some rows of each

  explicit CaseReport(const Inputs& in)
      : reference(launchPlainProduct<double, float>(
            DeviceBuffer<float>(in.a), DeviceBuffer<float>(in.b), in.shape, 0.0)),
        gate(columnGate(in.shape.k, maxAbs(in.a), columnMaxAbs(in.b, in.shape.n))) {
    double squares = 0.0;
    forStripes(reference, in.shape, [&](size_t first, std::vector<double>& values) {
      for (double value : values) {
        maxReference = std::max(maxReference, std::fabs(value));
        squares += value * value;
      }
      const size_t row = first / in.shape.n;
      if (row % 512 != 0) return;
      host.add(values, hostRow(&in.a[row * in.shape.k], in.b, in.shape, 0.0));
    });
    rmsReference = std::sqrt(squares / (double(in.shape.m) * in.shape.n));
  }
};

void runF32(const Inputs& in, int runs, CaseReport& report) {
  const Shape s = in.shape;
  const DeviceBuffer<float> a(in.a), b(in.b);
  Row row("matmulTiledF32", s);
  const auto launch = [&] {
    matmulTiledF32<<<gridFor(s), dim3(kTile, kTile)>>>(a.get(), b.get(),
                                                       row.output.get(), s.m, s.n, s.k);
  };
  row.milliseconds = launchAndTime(launch, runs);
  report.rows.push_back(std::move(row));
}

// Compares the rows that the oracle looks at, bit for bit, and a few of the oracle's
// own with host loops.
void checkExactly(const Inputs& in, const Quantized& qa, const Quantized& qb,
                  const DeviceBuffer<int8_t>& b, Row& row, Comparison& host) {
  Shape s = in.shape;
  const std::vector<int> rows = oracleRows(s);
  s.m = static_cast<int>(rows.size());
  std::vector<int8_t> codes;  // of A, in the rows looked at
  for (int r : rows) {
    const auto begin = qa.codes.begin() + size_t(r) * s.k;
    codes.insert(codes.end(), begin, begin + s.k);
  }
  const DeviceBuffer<int32_t> oracle = launchPlainProduct<int32_t, int8_t>(
      DeviceBuffer<int8_t>(codes), b, s, qa.zeroPoint);

  std::vector<int32_t> sums(s.n);
  std::vector<float> got(s.n), want(s.n);
  for (int i = 0; i < s.m; ++i) {
    oracle.read(size_t(i) * s.n, sums);
    for (int col = 0; col < s.n; ++col) {
      want[col] = static_cast<float>(sums[col]) * (qa.scales[0] * qb.scale(col));
      row.largestSum = std::max(row.largestSum, std::abs(sums[col]));
    }
    row.output.read(size_t(rows[i]) * s.n, got);
    row.exact.add(got, want);
    if (i % ((s.m + 1) / 2) == 0) {
      host.add(sums, hostRow(&codes[size_t(i) * s.k], qb.codes, s, qa.zeroPoint));
    }
  }
}

template <bool perChannelB, bool asymA>
void runInt8(const char* name, const Inputs& in, const Quantized& qa,
             const Quantized& qb, int runs, CaseReport& report) {
  const Shape s = in.shape;
  std::vector<float> outputScale;
  for (float scaleB : qb.scales) outputScale.push_back(qa.scales[0] * scaleB);
  const DeviceBuffer<int8_t> a(qa.codes), b(qb.codes);
  const DeviceBuffer<float> scale(outputScale);
  const DeviceBuffer<int32_t> sums(columnSums(qb.codes, s.n));
  Row row(name, s);
  const auto launch = [&] {
    matmulInt8<perChannelB, asymA><<<gridFor(s), dim3(kTile, kTile)>>>(
        a.get(), b.get(), row.output.get(), s.m, s.n, s.k, scale.get(), qa.zeroPoint,
        sums.get());
  };
  row.milliseconds = launchAndTime(launch, runs);
  row.predicted = predictRms(in.a, in.b, s, qa.scales[0], qb);
  checkExactly(in, qa, qb, b, row, report.host);
  report.rows.push_back(std::move(row));
}

// The ladder: each row changes one thing. Codes live only while a row needs them, and
// the last row prunes B in place, so the reference has to be there before.
CaseReport runLadder(Inputs& in, int runs) {
  const int n = in.shape.n;
  CaseReport report(in);
  runF32(in, runs, report);

  const Quantized symmetric = quantizeSymmetric(in.a);
  report.scaleA = symmetric.scales[0];
  Quantized b = quantizeSymmetric(in.b);
  report.scaleB = b.scales[0];
  report.smallColumn = std::min(6, n - 1);
  report.smallColumnCodes = columnCodes(b.codes, n, report.smallColumn);
  runInt8<false, false>("int8 one scale", in, symmetric, b, runs, report);

  b = quantizeColumns(in.b, n);
  report.columnScales = b.scales;
  runInt8<true, false>("int8 per-column", in, symmetric, b, runs, report);
  {
    const Quantized asymmetric = quantizeAsymmetric(in.a);
    report.scaleAsymA = asymmetric.scales[0];
    report.zeroPoint = asymmetric.zeroPoint;
    runInt8<true, true>("int8 per-col + zp", in, asymmetric, b, runs, report);
  }
  prune2to4(in.b, in.shape.k, n);
  const auto kept = in.b.size() - std::count(in.b.begin(), in.b.end(), 0.0f);
  report.twoOfFour = kept <= size_t((in.shape.k + 3) / 4) * 2 * n;
  b.encode(in.b, -127);  // a column's largest magnitude survives: its scale stays
  runInt8<true, false>("int8 2:4 pruned", in, symmetric, b, 0, report);
  report.rows.back().pruned = true;
  return report;
}

// Every error of every row against the reference.
void judge(Shape shape, CaseReport& report) {
  const double relative = f32Relative(shape.k);
  std::vector<float> got;
  forStripes(report.reference, shape, [&](size_t first, std::vector<double>& want) {
    got.resize(want.size());
    for (Row& row : report.rows) {
      row.output.read(first, got);
      for (size_t i = 0; i < got.size(); ++i) row.add(got[i], want[i], i % shape.n);
      if (&row != &report.rows[kF32]) continue;
      for (size_t i = 0; i < got.size(); ++i) {
        const double gate = relative * (report.maxReference + std::fabs(want[i]));
        report.f32Failures += !(std::fabs(got[i] - want[i]) <= gate);
      }
    }
  });
  for (Row& row : report.rows) row.finish(report.gate, double(shape.m) * shape.n);
}

// ---------------------------------------------------------------- the report
void printAccuracy(const Inputs& in, const CaseReport& report) {
  const Row &one = report.rows[kOneScale], &each = report.rows[kPerColumn];
  const double relative = f32Relative(in.shape.k);
  const std::string gain = formatted("%.2fx", one.gateFraction / each.gateFraction);
  const std::string moved = formatted("%.3fx", each.rms / report.rows[kZeroPoint].rms);
  std::printf(
      "\n## case %s\n\n"
      "max |reference| = %.4f\n"
      "a scale sym %.3e, a scale asym %.3e, zero point %d\n"
      "b scale (one for all) %.3e\n"
      "per-column scales span %.3e to %.3e\n"
      "one scale leaves column %d of B %d codes, %.1f%% of them 0\n"
      "f32 gate: `|got-ref| <= %.3e + %.3e*|ref|`\n"
      "int8 gate is per column: `|got-ref| <= 4*K*amax*max|B[:,c]|/127`\n"
      "sqrt(K) fraction is reported as a statistical diagnostic, not gated\n"
      "per-column cuts the worst gate fraction by %s\n"
      "its sqrt(K) diagnostic improves by %s\n"
      "the zero point moves end-to-end rms by %s\n",
      in.shape.name().c_str(), report.maxReference, report.scaleA, report.scaleAsymA,
      report.zeroPoint, report.scaleB, report.columnScales[0],
      report.columnScales[report.smallColumn], report.smallColumn,
      report.smallColumnCodes.distinct, 100.0 * report.smallColumnCodes.zeros,
      relative * report.maxReference, relative, gain.c_str(), gain.c_str(),
      moved.c_str());
  const double sqrtK = std::sqrt(double(in.shape.k));
  const Table table(
      {"kernel", "max err", "rms err", "rel rms", "gate frac", "sqrtK frac"});
  for (const Row& row : report.rows) {
    const auto bound = [&](double fraction) {
      return row.pruned ? "n/a" : formatted("%.3f", fraction);
    };
    table.row({row.name, formatted("%.3e", row.maxErr), formatted("%.3e", row.rms),
               formatted("%#.3g%%", 100.0 * row.rms / report.rmsReference),
               bound(row.gateFraction), bound(row.gateFraction * sqrtK)});
  }
}

void printTimes(const Inputs& in, const CaseReport& report, const Card& card) {
  const double work = 2e-9 * in.shape.m * in.shape.n * in.shape.k;
  const Table table({"kernel", "time (ms)", "vs f32", "TFLOPS/TOPS", "of peak"});
  for (const Row& row : report.rows) {
    if (row.pruned) continue;
    const auto timed = [&](const char* format, double value) {
      return row.milliseconds < 0.0f ? "not timed" : formatted(format, value);
    };
    const double rate = work / row.milliseconds;
    const double peak = &row == &report.rows[0] ? card.multiplyAddPeak : card.dp4aPeak;
    table.row({row.name, timed("%.4f", row.milliseconds),
               timed("%.2f", report.rows[kF32].milliseconds / row.milliseconds),
               timed("%.2f", rate), timed("%.1f%%", 100.0 * rate / peak)});
  }
}

void printChecks(const Inputs& in, const CaseReport& report) {
  std::printf(
      "\n## checks of case %s\n\n"
      "reference and oracle against host loops: %ld outputs compared, %ld differ\n"
      "exact gate: output bits against an integer oracle\n"
      "predicted rms: noise of variance step^2/12, summed over k\n"
      "meas/biased: against that with each column's summed rounding error as it is\n",
      in.shape.name().c_str(), report.host.compared, report.host.different);
  const Table table({"kernel", "compared", "differing", "largest sum", "predicted rms",
                     "meas/pred", "meas/biased"});
  for (const Row& row : report.rows) {
    if (&row == &report.rows[kF32]) continue;
    const auto figure = [&](const char* format, double value) {
      return formatted(format, row.pruned ? NAN : value);
    };
    table.row({row.name, std::to_string(row.exact.compared),
               std::to_string(row.exact.different), std::to_string(row.largestSum),
               figure("%.3e", row.predicted.noise),
               figure("%.3f", row.rms / row.predicted.noise),
               figure("%.4f", row.rms / row.predicted.withBias)});
  }
}

// Every gate and claim of a case. One scale for B is judged by the exact gate alone:
// a small column's few codes break what the bound and the prediction assume.
bool judgeGates(const Inputs& in, const CaseReport& report) {
  const Row &one = report.rows[kOneScale], &each = report.rows[kPerColumn];
  const bool statistics = predictionHolds(in.shape);
  const double band = predictionBand(in.shape);
  std::printf("\nmeas/biased %s\n",
              statistics
                  ? formatted("is gated per column: within %.4f of 1", band).c_str()
                  : "is not gated: too few values, or outliers in whole columns");
  std::printf("int8 one scale is not gated: it is %s the bound, %s sqrt(K)\n",
              one.gateFraction <= 1.0 ? "within" : "beyond",
              one.gateFraction * std::sqrt(in.shape.k) <= 1.0 ? "within" : "beyond");
  bool passed = true;
  const auto require = [&](bool holds, const char* who, const char* what) {
    if (!holds) std::printf("FAILED: %s: %s\n", who, what);
    passed = passed && holds;
  };
  require(report.host.different == 0, "reference and oracle", "host loops");
  require(report.f32Failures == 0, report.rows[kF32].name, "f32 gate");
  require(report.twoOfFour, report.rows[kPruned].name, "2 of 4");
  for (const Row& row : report.rows) {
    require(row.notFinite == 0, row.name, "NaN or infinity in the output");
    require(row.exact.different == 0, row.name, "exact gate");
  }
  for (const Row* row : {&each, &report.rows[kZeroPoint]}) {
    require(row->gateFraction <= 1.0, row->name, "bound");
    const double off = std::fabs(row->rms / row->predicted.withBias - 1.0);
    require(!statistics || off <= band, row->name, "predicted rms");
  }
  require(!statistics || each.gateFraction < one.gateFraction, each.name,
          "claim: a scale for each column beats one scale");
  return passed;
}

bool runCase(Inputs in, int timedRuns, const Card& card) {
  CaseReport report = runLadder(in, timedRuns);
  judge(in.shape, report);
  printAccuracy(in, report);
  printTimes(in, report, card);
  printChecks(in, report);
  return judgeGates(in, report);
}

// ---------------------------------------------------------------- arguments
constexpr char kUsage[] =
    "usage: quant_matmul [--cases N|MxNxK[,...]] [--timed-runs R] [--help]\n";
constexpr char kHelp[] =
    "  --cases       sizes of A (MxK) times B (KxN), 1 to 65536 each; N is NxNxN;\n"
    "                left out: two small ones, then 256,1024,2048\n"
    "  --timed-runs  launches averaged for a time; 0 times nothing; default 10\n";

// Reads a number in [low, high] and moves past it.
bool parseNumber(const char*& text, int low, int high, int& value) {
  if (*text < '0' || *text > '9') return false;  // strtol takes blanks and signs too
  char* end = nullptr;
  const long number = std::strtol(text, &end, 10);
  text = end;
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

bool parseOptions(int argc, char** argv, std::vector<Shape>& cases, int& timedRuns) {
  for (int i = 1; i < argc; i += 2) {
    const std::string flag = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : "";
    const bool sizes = flag == "--cases" && parseCases(value, cases);
    const bool runs = flag == "--timed-runs" &&
                      parseNumber(value, 0, 1000, timedRuns) && *value == '\0';
    if (!sizes && !runs) return false;
  }
  return true;
}

// Says before anything is allocated that a case is too large for the device.
void requireMemory(Shape shape) {
  const double m = shape.m, n = shape.n, k = shape.k;
  const double needed = 28 * m * n + 4 * (m * k + k * n);  // outputs, reference; A, B
  size_t free = 0, total = 0;
  CUDA_CHECK(cudaMemGetInfo(&free, &total));
  if (needed <= double(free)) return;
  throw std::runtime_error(
      "case " + shape.name() + formatted(" needs %.1f GB", needed / 1e9) +
      formatted(" of device memory, %.1f are free", double(free) / 1e9));
}

// Correctness only: dimensions that differ and fit no tile; and values in (7/8, 1],
// whose sums of codes pass 2^24, where a float no longer holds every integer.
int runSmallCases(const Card& card) {
  const bool ragged = runCase(syntheticInputs({61, 45, 77}), 0, card);
  Inputs large = syntheticInputs({33, 21, 4099});
  Generator random;
  for (auto* values : {&large.a, &large.b}) {
    for (float& value : *values) value = 1.0f - random.unit() / 8.0f;
  }
  const bool exact = runCase(std::move(large), 0, card);
  std::printf("\nthe ragged case %s\nthe case of sums above 2^24 %s\n",
              ragged ? "passed its gates" : "FAILED",
              exact ? "passed its gates" : "FAILED");
  return !ragged + !exact;
}

// All cases; the censuses stand before the largest. Returns how many failed.
int runCases(const std::vector<Shape>& cases, int timedRuns, const Card& card) {
  const auto work = [](Shape s) { return double(s.m) * s.n * s.k; };
  const auto largest = std::max_element(
      cases.begin(), cases.end(), [&](Shape x, Shape y) { return work(x) < work(y); });
  int failed = 0;
  for (auto shape = cases.begin(); shape != cases.end(); ++shape) {
    Inputs in = syntheticInputs(*shape);
    bool passed = shape != largest || (printActivationCensus(in.a) &
                                       printStorageCensus(in.b, shape->k, shape->n));
    passed = runCase(std::move(in), timedRuns, card) && passed;
    failed += !passed;
    std::fflush(stdout);
  }
  return failed;
}

int run(std::vector<Shape> cases, int timedRuns) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    throw std::runtime_error(
        "no CUDA device answers: run on a GPU, or build for the CPU (README.md)");
  }
  for (Shape shape : cases) requireMemory(shape);
  const Card card = printCapabilities();
  int failedSmall = 0;
  if (cases.empty()) {
    failedSmall = runSmallCases(card);
    cases = {{256, 256, 256}, {1024, 1024, 1024}, {2048, 2048, 2048}};
  }
  const int failed = runCases(cases, timedRuns, card);
  std::printf("\n## summary\n\n");
  if (failed > 0) std::printf("%d of %zu cases FAILED\n", failed, cases.size());
  if (failed == 0) std::printf("all %zu cases passed their gates\n", cases.size());
  return failedSmall + failed == 0 ? 0 : 1;
}

int main(int argc, char** argv) {
  std::vector<Shape> cases;  // none: the default ladder
  int timedRuns = 10;
  const bool help = argc == 2 && std::strcmp(argv[1], "--help") == 0;
  if (!help && !parseOptions(argc, argv, cases, timedRuns)) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  try {
    const int status =
        help ? std::printf("%s%s", kUsage, kHelp) < 0 : run(cases, timedRuns);
    if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return status;
    throw std::runtime_error("the output could not be written");
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "quant_matmul: out of host memory: choose smaller --cases\n");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "quant_matmul: %s\n", error.what());
  }
  return 1;
}
