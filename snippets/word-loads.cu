// SPDX-License-Identifier: MIT
//
// The INT8 kernel with its codes loaded four at a time: the same bits, sooner.
//
//   nvcc -std=c++17 -O3 -arch=sm_75 -o word-loads word-loads.cu
//
// With `--time` as its argument it also measures, which takes a GPU to mean anything.

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

// pull: src/quant_matmul.cu#cuda-check
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

// pull: src/quant_matmul.cu#product-rows
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

// pull: src/quant_matmul.cu#matmul-tiled-f32
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
// end pull

// pull: src/quant_matmul.cu#matmul-int8
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
}
// end pull

// snippet: matmul-words
// Both tiles keep four neighbours along k in one word: A's by rows as they come, B's
// by columns, with a word of padding so that columns meet different banks.
__global__ void matmulWords(const int8_t* a, const int8_t* b, float* c, int m, int n,
                            int k, const float* outputScale) {
  constexpr int kWords = kTile / 4;
  __shared__ int32_t tileA[kTile][kWords];
  __shared__ int32_t tileB[kTile][kWords + 1];
  const int row = blockIdx.y * kTile + threadIdx.y;
  const int col = blockIdx.x * kTile + threadIdx.x;
  int8_t* const rowOfA = reinterpret_cast<int8_t*>(tileA[threadIdx.y]);
  int8_t* const columnOfB = reinterpret_cast<int8_t*>(tileB[threadIdx.x]);

  int32_t accumulator = 0;
  for (int k0 = 0; k0 < k; k0 += kTile) {
    const int ka = k0 + threadIdx.x, kb = k0 + threadIdx.y;
    rowOfA[threadIdx.x] = row < m && ka < k ? a[size_t(row) * k + ka] : 0;
    columnOfB[threadIdx.y] = kb < k && col < n ? b[size_t(kb) * n + col] : 0;
    __syncthreads();
    for (int w = 0; w < kWords; ++w) {  // four products at a time, still exact
      accumulator = __dp4a(tileA[threadIdx.y][w], tileB[threadIdx.x][w], accumulator);
    }
    __syncthreads();
  }
  if (row < m && col < n) {
    c[size_t(row) * n + col] = static_cast<float>(accumulator) * outputScale[col];
  }
}
// end snippet

// Both kernels on the same codes, for as long as a launch may need them.
struct Bench {
  explicit Bench(Shape s) : shape(s), c(size_t(s.m) * s.n) {
    Generator random;
    floatA = makeA(shape, random);
    floatB = makeB(shape, random);
    qa = quantizeSymmetricA(floatA);
    qb = quantizeColumnsB(floatB, shape.n);
    for (float scaleB : qb.scales) outputScale.push_back(qa.scale * scaleB);
    c.poison();
  }
  dim3 grid() const {
    return dim3((shape.n + kTile - 1) / kTile, (shape.m + kTile - 1) / kTile);
  }

  Shape shape;
  std::vector<float> floatA, floatB, outputScale;
  QuantizedA qa;
  QuantizedB qb;
  DeviceBuffer<float> c;
};

void compare(Shape shape) {
  const Bench bench(shape);
  const DeviceBuffer<int8_t> a(bench.qa.codes), b(bench.qb.codes);
  const DeviceBuffer<float> scale(bench.outputScale);
  matmulWords<<<bench.grid(), dim3(kTile, kTile)>>>(
      a.get(), b.get(), bench.c.get(), shape.m, shape.n, shape.k, scale.get());
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());

  std::vector<float> got(shape.n), want(shape.n);
  long different = 0;
  for (int row = 0; row < shape.m; ++row) {
    oracle(&bench.qa.codes[size_t(row) * shape.k], 1, 0, bench.qb.codes,
           bench.outputScale, shape.n, shape.k, want);
    bench.c.read(size_t(row) * shape.n, got);
    different += countDifferentBits(got, want);
  }
  const std::string name = std::to_string(shape.m) + "x" + std::to_string(shape.n) +
                           "x" + std::to_string(shape.k);
  std::printf("  %-13s%10ld%11ld\n", name.c_str(), long(shape.m) * shape.n, different);
}

// Mean of ten launches after three to warm up, in milliseconds.
template <typename Launch>
float timeOf(const Launch& launch) {
  cudaEvent_t start, stop;
  CUDA_CHECK(cudaEventCreate(&start));
  CUDA_CHECK(cudaEventCreate(&stop));
  for (int i = 0; i < 13; ++i) {
    if (i == 3) CUDA_CHECK(cudaEventRecord(start));
    launch();
  }
  CUDA_CHECK(cudaEventRecord(stop));
  CUDA_CHECK(cudaEventSynchronize(stop));
  float milliseconds = 0.0f;
  CUDA_CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
  return milliseconds / 10.0f;
}

void measure() {
  constexpr int n = 2048;
  const Bench bench({n, n, n});
  const DeviceBuffer<float> floatA(bench.floatA), floatB(bench.floatB);
  const DeviceBuffer<int8_t> a(bench.qa.codes), b(bench.qb.codes);
  const DeviceBuffer<float> scale(bench.outputScale);
  const dim3 grid = bench.grid(), block(kTile, kTile);
  const float f32 = timeOf([&] {
    matmulTiledF32<<<grid, block>>>(floatA.get(), floatB.get(), bench.c.get(), n, n, n);
  });
  const float bytes = timeOf([&] {
    matmulInt8<true, false><<<grid, block>>>(a.get(), b.get(), bench.c.get(), n, n, n,
                                             scale.get(), 0, nullptr);
  });
  const float words = timeOf([&] {
    matmulWords<<<grid, block>>>(a.get(), b.get(), bench.c.get(), n, n, n, scale.get());
  });
  cudaDeviceProp properties;
  CUDA_CHECK(cudaGetDeviceProperties(&properties, 0));
  std::printf("\nword loads timed, 2048x2048x2048 on %s\n", properties.name);
  std::printf("  %-16s%11s%9s\n", "kernel", "time (ms)", "vs f32");
  std::printf("  %-16s%11.4f%9.2f\n", "matmulTiledF32", f32, 1.0);
  std::printf("  %-16s%11.4f%9.2f\n", "matmulInt8", bytes, f32 / bytes);
  std::printf("  %-16s%11.4f%9.2f\n", "matmulWords", words, f32 / words);
}

int main(int argc, char** argv) {
  std::printf("word loads (output bits against the host's integers)\n");
  std::printf("  %-13s%10s%11s\n", "shape", "compared", "differing");
  compare({61, 45, 77});
  compare({256, 256, 256});
  if (argc == 2 && std::strcmp(argv[1], "--time") == 0) measure();
}
