// SPDX-License-Identifier: MIT
//
// INT8 on tensor cores: the quantized product of quant_matmul.cu, from a plain tile to
// what the card can do at most, in six kernels whose outputs are the same bits.
//
//   nvcc -std=c++17 -O3 -arch=sm_75 -o int8_tensor_cores int8_tensor_cores.cu
//   for an H100 or H200, in place of -arch:  -gencode arch=compute_90a,code=sm_90a
//   for the peer, in addition:               -DWITH_CUBLASLT -lcublasLt
//   ./int8_tensor_cores [--cases N|MxNxK[,...]] [--kernels N[,...]] [--timed-runs R]
//
// The first line's binary runs kernels 1 to 4 on every card from compute capability
// 7.5 on; newer instructions need newer targets. One binary for all cards:
//   -gencode arch=compute_75,code=sm_75 -gencode arch=compute_80,code=sm_80
//   -gencode arch=compute_80,code=compute_80 -gencode arch=compute_90a,code=sm_90a
//
// A is quantized with a zero point, B with a scale for each column; inside the loop
// everything is an exact integer. So each kernel's output equals the first kernel's bit
// for bit, in whatever order its hardware adds, and a kernel that differs is wrong.
// Each kernel exists twice: "raw" stores the int32 accumulators, "fused" dequantizes
// them to FP32 before it stores them.
//
//   1 byte tile           the 16x16 tile of quant_matmul.cu
//   2 dp4a                four bytes a word, B stored with k contiguous
//   3 register tile       8x8 outputs a thread, 16-byte loads
//   4 mma m8n8k16         the first INT8 tensor cores, compute capability 7.5
//   5 mma m16n8k32        ldmatrix, cp.async stages, compute capability 8.0
//   6 wgmma m64n176k32    bulk tensor copies, warpgroup roles, 9.0 (sm_90a)
//
// The inputs and the checks come first, then the kernels, then one driver that checks
// everything before it times anything.

// snippet: prelude
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#ifndef __CPU_CUDA__
#define TENSOR_CORES 1  // the CPU headers run kernels 1 to 3
#include <cuda.h>       // only for the tensor map's types: nothing to link
#endif
#ifdef WITH_CUBLASLT
#include <cublasLt.h>
#endif
// end snippet

constexpr int kMaxSize = 16384;  // so that the 64-bit sums of ProductCheck are exact
constexpr double kOracleWork = 1 << 27;  // m*n*k up to which the host checks all of C
constexpr double kTimedWork = 1 << 30;   // m*n*k from which a case is timed

// snippet: cuda-check
// Throws the runtime's message, so that destructors free what was allocated.
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
  void fill(int byte) { CUDA_CHECK(cudaMemset(data_, byte, count_ * sizeof(T))); }
  std::vector<T> read() const {
    std::vector<T> host(count_);
    CUDA_CHECK(
        cudaMemcpy(host.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost));
    return host;
  }

 private:
  T* data_ = nullptr;
  size_t count_ = 0;
};
// end snippet

// ---------------------------------------------------------------- inputs

// snippet: inputs
struct Shape {
  int m = 0, n = 0, k = 0;  // A is m x k, B is k x n, both row-major
  double work() const { return double(m) * n * k; }
  // Rows are padded to whole units of 16 bytes, which the widest loads and the copy
  // engine move at once.
  int ldk() const { return (k + 15) / 16 * 16; }  // codes in a row of A or packed B
  int ldc() const { return (n + 3) / 4 * 4; }     // outputs in a row of C
  int columns() const { return (n + 255) / 256 * 256; }  // n, up to whole tiles
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
  std::vector<float> b(size_t(shape.k) * shape.n), gain;
  for (int col = 0; col < shape.n; ++col) gain.push_back(std::ldexp(1.0f, -(col % 7)));
  size_t i = 0;
  for (int p = 0; p < shape.k; ++p) {
    for (int col = 0; col < shape.n; ++col, ++i) {
      b[i] = (2.0f * random.unit() - 1.0f) * gain[col] * (i % 37 == 0 ? 8.0f : 1.0f);
    }
  }
  return b;
}
// end snippet

// snippet: quantize
// Round to nearest, ties to even, then shift by the zero point and clamp.
int8_t quantize(float x, float scale, int zeroPoint, int lowest) {
  const int code = static_cast<int>(std::lrint(x / scale)) + zeroPoint;
  return static_cast<int8_t>(std::min(std::max(code, lowest), 127));
}

// What the epilogue needs to know of a column: (accumulator - correction) * scale.
struct Column {
  int32_t correction = 0;  // zero point of A times the sum of the column's codes
  float scale = 0.0f;      // scale of A times scale of the column
};

struct Codes {
  Shape shape;
  float scaleA = 1.0f;
  int zeroPointA = 0;
  std::vector<int8_t> a;        // m x ldk, zero past k
  std::vector<int8_t> b;        // k x n
  std::vector<Column> columns;  // shape.columns()
};

// Asymmetric codes -128..127 over the range of the values and zero.
void quantizeA(const std::vector<float>& values, Codes& q) {
  float low = 0.0f, high = 0.0f;
  for (float value : values) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  q.scaleA = static_cast<float>((double(high) - low) / 255.0);
  if (q.scaleA <= 0.0f) q.scaleA = 1.0f;
  const double zeroPoint = std::nearbyint(-128.0 - double(low) / q.scaleA);
  q.zeroPointA = static_cast<int>(std::min(std::max(zeroPoint, -128.0), 127.0));
  q.a.assign(size_t(q.shape.m) * q.shape.ldk(), 0);
  for (int row = 0; row < q.shape.m; ++row) {
    const float* from = &values[size_t(row) * q.shape.k];
    int8_t* to = &q.a[size_t(row) * q.shape.ldk()];
    for (int p = 0; p < q.shape.k; ++p) {
      to[p] = quantize(from[p], q.scaleA, q.zeroPointA, -128);
    }
  }
}

// One symmetric scale for each column.
void quantizeB(const std::vector<float>& values, Codes& q) {
  const int n = q.shape.n, k = q.shape.k;
  std::vector<float> scale(n, 0.0f);
  for (int p = 0; p < k; ++p) {
    const float* row = &values[size_t(p) * n];
    for (int col = 0; col < n; ++col) {
      scale[col] = std::max(scale[col], std::fabs(row[col]));
    }
  }
  for (float& value : scale) value = value / 127.0f > 0.0f ? value / 127.0f : 1.0f;

  std::vector<int32_t> sum(n, 0);
  q.b.resize(values.size());
  for (int p = 0; p < k; ++p) {
    const size_t row = size_t(p) * n;
    for (int col = 0; col < n; ++col) {
      q.b[row + col] = quantize(values[row + col], scale[col], 0, -127);
      sum[col] += q.b[row + col];
    }
  }
  q.columns.assign(q.shape.columns(), Column());
  for (int col = 0; col < n; ++col) {
    q.columns[col] = {q.zeroPointA * sum[col], q.scaleA * scale[col]};
  }
}

Codes makeCodes(Shape shape) {
  Generator random;
  Codes q;
  q.shape = shape;
  quantizeA(makeA(shape, random), q);
  quantizeB(makeB(shape, random), q);
  return q;
}
// end snippet

// ---------------------------------------------------------------- checks

// snippet: oracle
// Every output of a small case, raw and fused, by plain host integers. The fused
// oracle subtracts the zero point from each code instead of correcting afterwards, so
// that it shares no step with the kernels that it judges.
void oracle(const Codes& q, std::vector<int32_t>& raw, std::vector<float>& fused) {
  const int n = q.shape.n, ldc = q.shape.ldc();
  raw.assign(size_t(q.shape.m) * ldc, 0);
  fused.assign(raw.size(), 0.0f);
  std::vector<int32_t> shifted(n);
  for (int row = 0; row < q.shape.m; ++row) {
    int32_t* sum = &raw[size_t(row) * ldc];
    std::fill(shifted.begin(), shifted.end(), 0);
    for (int p = 0; p < q.shape.k; ++p) {
      const int32_t code = q.a[size_t(row) * q.shape.ldk() + p];
      const int8_t* b = &q.b[size_t(p) * n];
      for (int col = 0; col < n; ++col) {
        sum[col] += code * b[col];
        shifted[col] += (code - q.zeroPointA) * b[col];
      }
    }
    for (int col = 0; col < n; ++col) {
      fused[size_t(row) * ldc + col] =
          static_cast<float>(shifted[col]) * q.columns[col].scale;
    }
  }
}
// end snippet

// snippet: freivalds
// Freivalds' check: C = A*B only if C*x = A*(B*x), and a wrong C survives one vector x
// of independent entries, uniform over 2^20 integers, with probability at most 2^-20:
// a wrong row of C - A*B has a nonzero entry, for which at most one value of x's entry
// there makes the row's sum zero. Needs m*n + n*k + m*k products where the oracle needs
// m*n*k, all exact: sums stay below 2^7 * 2^7 * k * n * 2^20 <= 2^62.
class ProductCheck {
 public:
  static constexpr int kVectors = 3, kBits = 20;

  explicit ProductCheck(const Codes& q) : shape_(q.shape) {
    std::mt19937_64 random(2718281828u);
    std::vector<Sums> bx;
    for (int col = 0; col < shape_.n; ++col) {
      Sums x;
      for (int64_t& value : x.of) value = int64_t(random() >> (64 - kBits));
      x_.push_back(x);
    }
    for (int p = 0; p < shape_.k; ++p) {
      bx.push_back(dot(&q.b[size_t(p) * shape_.n], x_));
    }
    for (int row = 0; row < shape_.m; ++row) {
      abx_.push_back(dot(&q.a[size_t(row) * shape_.ldk()], bx));
    }
  }

  // Rows of c (m x ldc) that cannot be the product's.
  long wrongRows(const std::vector<int32_t>& c) const {
    long wrong = 0;
    for (int row = 0; row < shape_.m; ++row) {
      const Sums sums = dot(&c[size_t(row) * shape_.ldc()], x_);
      wrong += std::memcmp(&sums, &abx_[row], sizeof sums) != 0;
    }
    return wrong;
  }

 private:
  struct Sums {
    int64_t of[kVectors] = {};
  };

  template <typename T>
  static Sums dot(const T* row, const std::vector<Sums>& x) {
    Sums sums;
    for (size_t i = 0; i < x.size(); ++i) {
      for (int v = 0; v < kVectors; ++v) sums.of[v] += int64_t(row[i]) * x[i].of[v];
    }
    return sums;
  }

  Shape shape_;
  std::vector<Sums> x_, abx_;
};
// end snippet

// What the epilogue makes of accumulators that have been checked.
std::vector<float> dequantized(const Codes& q, const std::vector<int32_t>& raw) {
  std::vector<float> fused(raw.size(), 0.0f);
  for (int row = 0; row < q.shape.m; ++row) {
    for (int col = 0; col < q.shape.n; ++col) {
      const size_t i = size_t(row) * q.shape.ldc() + col;
      const Column column = q.columns[col];
      fused[i] = static_cast<float>(raw[i] - column.correction) * column.scale;
    }
  }
  return fused;
}

// Counts the outputs whose bits differ. The padding, columns n to ldc of each row, is
// not part of the product: a kernel may write there or not, so it is not compared.
template <typename T>
long countDifferentBits(Shape shape, const std::vector<T>& got,
                        const std::vector<T>& want) {
  long different = 0;
  for (int row = 0; row < shape.m; ++row) {
    const T* g = &got[size_t(row) * shape.ldc()];
    const T* w = &want[size_t(row) * shape.ldc()];
    if (std::memcmp(g, w, shape.n * sizeof(T)) == 0) continue;
    for (int col = 0; col < shape.n; ++col) {
      different += std::memcmp(&g[col], &w[col], sizeof(T)) != 0;
    }
  }
  return different;
}

// ---------------------------------------------------------------- kernels

// snippet: operands
// What every kernel reads. The padding from k to ldk holds zeros, which add nothing.
struct Operands {
  int m, n, k;
  int ldk, ldc;           // see Shape
  const int8_t* a;        // m x ldk
  const int8_t* b;        // k x n, for the first kernel
  const int8_t* bPacked;  // n x ldk: B with k contiguous
  const Column* columns;  // n, then zeros up to a whole number of tiles
};

// The epilogue of one output. Out is int32_t (raw: the accumulator itself) or float
// (fused: the correction, then one conversion and one product).
template <typename Out>
__device__ Out finish(int32_t accumulator, Column column) {
  if constexpr (std::is_same<Out, float>::value) {
    return static_cast<float>(accumulator - column.correction) * column.scale;
  } else {
    return accumulator;
  }
}
// end snippet

// snippet: pack-b
// Stores B with k contiguous. Weights are packed once and used in many products, so
// this is timed apart.
constexpr int kPackTile = 32;

__global__ void packB(const int8_t* b, int8_t* bPacked, int n, int k, int ldk) {
  __shared__ int8_t tile[kPackTile][kPackTile + 4];
  const int k0 = blockIdx.y * kPackTile, n0 = blockIdx.x * kPackTile;
  for (int i = threadIdx.y; i < kPackTile; i += blockDim.y) {
    const int p = k0 + i, col = n0 + threadIdx.x;
    tile[i][threadIdx.x] = p < k && col < n ? b[size_t(p) * n + col] : 0;
  }
  __syncthreads();
  for (int i = threadIdx.y; i < kPackTile; i += blockDim.y) {
    const int p = k0 + threadIdx.x, col = n0 + i;
    if (p < ldk && col < n) bPacked[size_t(col) * ldk + p] = tile[threadIdx.x][i];
  }
}
// end snippet

// snippet: byte-tile
// Kernel 1: a 16x16 tile of bytes, as in quant_matmul.cu.
constexpr int kTile = 16;

template <typename Out>
__global__ void matmulBytes(Operands p, Out* c) {
  __shared__ int8_t tileA[kTile][kTile];
  __shared__ int8_t tileB[kTile][kTile];
  const int row = blockIdx.y * kTile + threadIdx.y;
  const int col = blockIdx.x * kTile + threadIdx.x;

  int32_t accumulator = 0;
  for (int k0 = 0; k0 < p.k; k0 += kTile) {
    const int ka = k0 + threadIdx.x, kb = k0 + threadIdx.y;
    tileA[threadIdx.y][threadIdx.x] =
        row < p.m && ka < p.k ? p.a[size_t(row) * p.ldk + ka] : 0;
    tileB[threadIdx.y][threadIdx.x] =
        kb < p.k && col < p.n ? p.b[size_t(kb) * p.n + col] : 0;
    __syncthreads();
    for (int i = 0; i < kTile; ++i) {
      accumulator += int32_t(tileA[threadIdx.y][i]) * int32_t(tileB[i][threadIdx.x]);
    }
    __syncthreads();
  }
  if (row < p.m && col < p.n) {
    c[size_t(row) * p.ldc + col] = finish<Out>(accumulator, p.columns[col]);
  }
}
// end snippet

// snippet: dp4a
// Kernel 2: the same tile in words of four bytes, so that one instruction multiplies
// and adds four pairs. Both operands need k contiguous for that: B comes packed.
// Prediction: a quarter of the loads and of the multiply-adds, so 4 times kernel 1.
template <typename Out>
__global__ void matmulDp4a(Operands p, Out* c) {
  __shared__ int32_t tileA[kTile][kTile];
  // Shared memory has 32 banks of one word each, and threads of a warp that read
  // different words of the same bank wait for one another. The inner loop reads word i
  // of 16 rows at once: with 16 words to a row these would lie in two banks, with 17
  // they lie in 16 different ones.
  __shared__ int32_t tileB[kTile][kTile + 1];
  const int row = blockIdx.y * kTile + threadIdx.y;
  const int col = blockIdx.x * kTile + threadIdx.x;
  const int rowB = blockIdx.x * kTile + threadIdx.y;  // B's column that it loads
  const int words = p.ldk / 4;
  const int32_t* a = reinterpret_cast<const int32_t*>(p.a);
  const int32_t* b = reinterpret_cast<const int32_t*>(p.bPacked);

  int32_t accumulator = 0;
  for (int w0 = 0; w0 < words; w0 += kTile) {
    const int w = w0 + threadIdx.x;
    tileA[threadIdx.y][threadIdx.x] =
        row < p.m && w < words ? a[size_t(row) * words + w] : 0;
    tileB[threadIdx.y][threadIdx.x] =
        rowB < p.n && w < words ? b[size_t(rowB) * words + w] : 0;
    __syncthreads();
    for (int i = 0; i < kTile; ++i) {
      accumulator = __dp4a(tileA[threadIdx.y][i], tileB[threadIdx.x][i], accumulator);
    }
    __syncthreads();
  }
  if (row < p.m && col < p.n) {
    c[size_t(row) * p.ldc + col] = finish<Out>(accumulator, p.columns[col]);
  }
}
// end snippet

// snippet: chunks
// From here on shared memory holds rows of 64 codes, k contiguous, in chunks of 16
// bytes: two rows, eight chunks, span all 32 banks. Eight threads that read 16 bytes
// each are served at once if their chunks lie in different banks. Both patterns of the
// kernels below do: the same chunk of eight rows (kernels 3 and 5) and all chunks of
// two rows (kernel 4), because a chunk's position in its row is XORed with row / 2 % 4.
// The pattern repeats every 8 rows, so place(row + 8 * i, chunk) is place(row, chunk)
// plus 8 * i * kStepChunks.
constexpr int kStepBytes = 64, kStepChunks = kStepBytes / 16;

__device__ inline int place(int row, int chunk) {
  return row * kStepChunks + (chunk ^ ((row >> 1) & 3));
}

// Chunk at (row, k) of a matrix with `rows` rows of ldk codes; zeros outside it.
__device__ inline int4 loadChunk(const int8_t* matrix, int row, int rows, int k,
                                 int ldk) {
  int4 chunk = {0, 0, 0, 0};
  if (row < rows && k < ldk) {
    chunk = *reinterpret_cast<const int4*>(matrix + (row * ldk + k));
  }
  return chunk;
}
// end snippet

// snippet: register-tile
// Kernel 3: a block of 256 threads computes 128x128 outputs, a thread 8x8 of them in
// registers; each 16-byte load from shared memory then serves 8 outputs.
// Prediction: kernel 2 needs two shared loads for each dp4a, this one 16 for 256, so
// the dp4a unit becomes the limit, not the load unit: 4 times kernel 2.
constexpr int kBlock = 128, kThreads = 256;

__device__ inline int32_t dot16(int4 a, int4 b, int32_t sum) {
  sum = __dp4a(a.x, b.x, sum);
  sum = __dp4a(a.y, b.y, sum);
  sum = __dp4a(a.z, b.z, sum);
  return __dp4a(a.w, b.w, sum);
}

template <typename Out>
__global__ void __launch_bounds__(kThreads, 2)
matmulRegisterTile(Operands p, Out* c) {
  __shared__ int4 tileA[kBlock * kStepChunks], tileB[kBlock * kStepChunks];
  const int m0 = blockIdx.y * kBlock, n0 = blockIdx.x * kBlock;
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  const int loadRow = threadIdx.x / kStepChunks, chunk = threadIdx.x % kStepChunks;

  int32_t accumulator[8][8] = {};
  int4 nextA[2], nextB[2];
  for (int h = 0; h < 2; ++h) {
    nextA[h] = loadChunk(p.a, m0 + loadRow + 64 * h, p.m, chunk * 16, p.ldk);
    nextB[h] = loadChunk(p.bPacked, n0 + loadRow + 64 * h, p.n, chunk * 16, p.ldk);
  }
  for (int k0 = 0; k0 < p.ldk; k0 += kStepBytes) {
    for (int h = 0; h < 2; ++h) {
      tileA[place(loadRow + 64 * h, chunk)] = nextA[h];
      tileB[place(loadRow + 64 * h, chunk)] = nextB[h];
    }
    __syncthreads();
    for (int h = 0; h < 2; ++h) {  // these loads run while this step multiplies
      const int k = k0 + kStepBytes + chunk * 16;
      nextA[h] = loadChunk(p.a, m0 + loadRow + 64 * h, p.m, k, p.ldk);
      nextB[h] = loadChunk(p.bPacked, n0 + loadRow + 64 * h, p.n, k, p.ldk);
    }
    for (int q = 0; q < kStepChunks; ++q) {
      const int4* fromA = tileA + place(ty, q);
      const int4* fromB = tileB + place(tx, q);
      int4 b[8];
      for (int j = 0; j < 8; ++j) b[j] = fromB[16 * j * kStepChunks];
      for (int i = 0; i < 8; ++i) {
        const int4 a = fromA[16 * i * kStepChunks];
        for (int j = 0; j < 8; ++j) {
          accumulator[i][j] = dot16(a, b[j], accumulator[i][j]);
        }
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < 8; ++i) {
    for (int j = 0; j < 8; ++j) {
      const int row = m0 + ty + 16 * i, col = n0 + tx + 16 * j;
      if (row < p.m && col < p.n) {
        c[size_t(row) * p.ldc + col] = finish<Out>(accumulator[i][j], p.columns[col]);
      }
    }
  }
}
// end snippet

#ifdef TENSOR_CORES

// Which target the driver chose from this binary for this card: bit 0 is set for 7.5 or
// later, bit 1 for 8.0 or later, bit 2 for 9.0a. Only device code can tell, since a
// binary may hold several targets, or PTX that the driver compiles for a newer card.
__global__ void compiledFor(int* features) {
#if __CUDA_ARCH__ >= 750
  *features |= 1;
#endif
#if __CUDA_ARCH__ >= 800
  *features |= 2;
#endif
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  *features |= 4;
#endif
}

// snippet: store-pair
// A thread's results of a tensor-core instruction are pairs of neighbouring columns:
// one 8-byte store writes both, and one 16-byte load, cached in L1, reads what the
// epilogue needs of both columns.
template <typename Out>
struct alignas(8) Pair {
  Out left, right;
};

struct ColumnPair {
  Column left, right;
};

template <typename Out>
__device__ inline ColumnPair columnPair(const Operands& p, int col) {
  if (!std::is_same<Out, float>::value) return {};
  const int4 both = __ldg(reinterpret_cast<const int4*>(p.columns + col));
  return {{both.x, __int_as_float(both.y)}, {both.z, __int_as_float(both.w)}};
}

template <typename Out>
__device__ inline Pair<Out> finishPair(int32_t left, int32_t right,
                                       ColumnPair columns) {
  return {finish<Out>(left, columns.left), finish<Out>(right, columns.right)};
}

// Rows of C are padded, so a pair that starts inside one lies inside it.
template <typename Out>
__device__ inline void storePair(const Operands& p, Out* c, int row, int col,
                                 Pair<Out> pair) {
  if (row < p.m && col < p.ldc) {
    *reinterpret_cast<Pair<Out>*>(c + size_t(row) * p.ldc + col) = pair;
  }
}
// end snippet

// snippet: mma-k16
// Kernel 4: kernel 3 with its inner loop on tensor cores; loads and tiles stay. A warp
// multiplies 8x16 by 16x8: lane l holds four codes of row l / 4 of A, four of column
// l / 4 of B, both at k = 4 * (l % 4), and two outputs of row l / 4.
// An integer sum is the same in every order of k. So a lane loads the 16 codes of chunk
// l % 4 at once and passes their word s to instruction s, of A and of B alike: four
// instructions then cover the 64 codes of the step, each exactly once.
// Prediction: a T4's tensor cores do 2048 operations a cycle where its dp4a does 512,
// so at most 4 times kernel 3 there. Later cards keep the instruction, not its speed.
__device__ inline void mmaK16(int32_t (&d)[2], int32_t a, int32_t b) {
#if __CUDA_ARCH__ >= 750
  asm("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+r"(d[0]), "+r"(d[1])
      : "r"(a), "r"(b));
#endif
}

template <typename Out>
__global__ void __launch_bounds__(kThreads, 2)
matmulMmaK16(Operands p, Out* c) {
  __shared__ int4 tileA[kBlock * kStepChunks], tileB[kBlock * kStepChunks];
  const int m0 = blockIdx.y * kBlock, n0 = blockIdx.x * kBlock;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int warpM = warp / 4 * 64, warpN = warp % 4 * 32;  // a warp: 64x32 outputs
  const int loadRow = threadIdx.x / kStepChunks, chunk = threadIdx.x % kStepChunks;

  int32_t accumulator[8][4][2] = {};
  int4 nextA[2], nextB[2];
  for (int h = 0; h < 2; ++h) {
    nextA[h] = loadChunk(p.a, m0 + loadRow + 64 * h, p.m, chunk * 16, p.ldk);
    nextB[h] = loadChunk(p.bPacked, n0 + loadRow + 64 * h, p.n, chunk * 16, p.ldk);
  }
  for (int k0 = 0; k0 < p.ldk; k0 += kStepBytes) {
    for (int h = 0; h < 2; ++h) {
      tileA[place(loadRow + 64 * h, chunk)] = nextA[h];
      tileB[place(loadRow + 64 * h, chunk)] = nextB[h];
    }
    __syncthreads();
    for (int h = 0; h < 2; ++h) {
      const int k = k0 + kStepBytes + chunk * 16;
      nextA[h] = loadChunk(p.a, m0 + loadRow + 64 * h, p.m, k, p.ldk);
      nextB[h] = loadChunk(p.bPacked, n0 + loadRow + 64 * h, p.n, k, p.ldk);
    }
    const int4* fromA = tileA + place(warpM + lane / 4, lane % 4);
    const int4* fromB = tileB + place(warpN + lane / 4, lane % 4);
    int4 b[4];
    for (int j = 0; j < 4; ++j) b[j] = fromB[8 * j * kStepChunks];
    for (int i = 0; i < 8; ++i) {
      const int4 a = fromA[8 * i * kStepChunks];
      for (int j = 0; j < 4; ++j) mmaK16(accumulator[i][j], a.x, b[j].x);
      for (int j = 0; j < 4; ++j) mmaK16(accumulator[i][j], a.y, b[j].y);
      for (int j = 0; j < 4; ++j) mmaK16(accumulator[i][j], a.z, b[j].z);
      for (int j = 0; j < 4; ++j) mmaK16(accumulator[i][j], a.w, b[j].w);
    }
    __syncthreads();
  }
  for (int j = 0; j < 4; ++j) {
    const int row = m0 + warpM + lane / 4, col = n0 + warpN + 8 * j + lane % 4 * 2;
    const ColumnPair columns = columnPair<Out>(p, col);
    for (int i = 0; i < 8; ++i) {
      const int32_t(&d)[2] = accumulator[i][j];
      storePair(p, c, row + 8 * i, col, finishPair<Out>(d[0], d[1], columns));
    }
  }
}
// end snippet

// snippet: tile-order
// The order in which blocks take tiles: kGroup rows of tiles at a time, column by
// column within them. Blocks that run at the same time then cover a nearly square part
// of C and find each other's rows of A and columns of B in the L2 cache.
constexpr int kGroup = 8;

struct TileIndex {
  int m, n;
};

__device__ inline TileIndex tileAt(int index, int tilesM, int tilesN) {
  const int first = index / (kGroup * tilesN) * kGroup;
  const int rows = min(kGroup, tilesM - first), within = index - first * tilesN;
  return {first + within % rows, within / rows};
}
// end snippet

// snippet: mma-k32
// Kernel 5: the wider instruction (16x32 by 32x8); operands loaded by ldmatrix, which
// hands a warp four matrices of 8 rows of 16 bytes; and copies from global to shared
// memory without a register between (cp.async), in four stages, of which one is
// multiplied while three are being filled.
// Prediction: four times the work an instruction, so 4 times kernel 4 where the unit
// keeps up, and less than a Hopper card's peak, which only wgmma reaches.
constexpr int kMmaRows = 128, kMmaCols = 256;  // a block's outputs; 64x64 a warp
constexpr int kMmaStages = 4;
constexpr int kMmaStageChunks = (kMmaRows + kMmaCols) * kStepChunks;
constexpr int kMmaShared = kMmaStages * kMmaStageChunks * 16;

__device__ inline void copyAsync(int4* to, const int8_t* from, bool inside) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(
                   static_cast<uint32_t>(__cvta_generic_to_shared(to))),
               "l"(from), "r"(inside ? 16 : 0)  // with 0 it writes zeros
               : "memory");
#endif
}

__device__ inline void commitCopies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

template <int kPending>
__device__ inline void waitForCopies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
#endif
}

// Loads four matrices of 8 rows of 16 bytes; lane l gives the address of row l % 8 of
// matrix l / 8.
__device__ inline void loadMatrices(int32_t (&r)[4], const int4* chunk) {
#if __CUDA_ARCH__ >= 800
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(static_cast<uint32_t>(__cvta_generic_to_shared(chunk)))
               : "memory");
#endif
}

__device__ inline void mmaK32(int32_t (&d)[4], const int32_t (&a)[4], int32_t b0,
                              int32_t b1) {
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#endif
}

template <typename Out>
__global__ void __launch_bounds__(kThreads)
matmulMmaK32(Operands p, Out* c) {
#if __CUDA_ARCH__ >= 800
  extern __shared__ int4 stages[];  // each holds rows of A, then rows of packed B
  const TileIndex tile = tileAt(blockIdx.x, (p.m + kMmaRows - 1) / kMmaRows,
                                (p.n + kMmaCols - 1) / kMmaCols);
  const int m0 = tile.m * kMmaRows, n0 = tile.n * kMmaCols;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int warpM = warp / 4 * 64, warpN = warp % 4 * 64;
  const int loadRow = threadIdx.x / kStepChunks, chunk = threadIdx.x % kStepChunks;
  const int steps = (p.ldk + kStepBytes - 1) / kStepBytes;

  const auto copyStage = [&](int step) {
    int4* to = stages + step % kMmaStages * kMmaStageChunks + place(loadRow, chunk);
    const int k = step * kStepBytes + chunk * 16;
    for (int h = 0; h < kMmaRows / 64; ++h) {
      const int row = m0 + loadRow + 64 * h;
      const bool inside = row < p.m && k < p.ldk;
      copyAsync(to + 64 * h * kStepChunks, inside ? p.a + size_t(row) * p.ldk + k : p.a,
                inside);
    }
    for (int h = 0; h < kMmaCols / 64; ++h) {
      const int row = n0 + loadRow + 64 * h;
      const bool inside = row < p.n && k < p.ldk;
      copyAsync(to + (kMmaRows + 64 * h) * kStepChunks,
                inside ? p.bPacked + size_t(row) * p.ldk + k : p.bPacked, inside);
    }
  };
  // What a lane holds of half a step (32 codes of k). Of A the four matrices are rows
  // 0-7 and 8-15 with the first 16 codes, then the same rows with the other 16; of B
  // the first and the second 16 codes of 8 columns, then those of the next 8 columns.
  int32_t a[2][4][4], b[2][4][4];
  const auto loadFragments = [&](int step, int half) {
    const int4* from = stages + step % kMmaStages * kMmaStageChunks;
    const int rowA = warpM + lane % 16;
    const int rowB = kMmaRows + warpN + lane % 8 + lane / 16 * 8;
    const int4* fromA = from + place(rowA, 2 * half + lane / 16);
    const int4* fromB = from + place(rowB, 2 * half + lane / 8 % 2);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      loadMatrices(a[half][i], fromA + 16 * i * kStepChunks);
      loadMatrices(b[half][i], fromB + 16 * i * kStepChunks);
    }
  };

  int32_t accumulator[4][8][4] = {};
  for (int step = 0; step < kMmaStages - 1; ++step) {
    if (step < steps) copyStage(step);
    commitCopies();
  }
  waitForCopies<kMmaStages - 2>();
  __syncthreads();
  loadFragments(0, 0);
  for (int step = 0; step < steps; ++step) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {  // load one half step, multiply the other
      if (half == 0) {
        loadFragments(step, 1);
        if (step + kMmaStages - 1 < steps) copyStage(step + kMmaStages - 1);
        commitCopies();
      } else {
        waitForCopies<kMmaStages - 2>();
        __syncthreads();  // the next stage has landed, and all have read this one
        if (step + 1 < steps) loadFragments(step + 1, 0);
      }
      for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 8; ++j) {
          mmaK32(accumulator[i][j], a[half][i], b[half][j / 2][j % 2 * 2],
                 b[half][j / 2][j % 2 * 2 + 1]);
        }
      }
    }
  }
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    const int row = m0 + warpM + lane / 4, col = n0 + warpN + 8 * j + lane % 4 * 2;
    const ColumnPair columns = columnPair<Out>(p, col);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int32_t(&d)[4] = accumulator[i][j];
      storePair(p, c, row + 16 * i, col, finishPair<Out>(d[0], d[1], columns));
      storePair(p, c, row + 16 * i + 8, col, finishPair<Out>(d[2], d[3], columns));
    }
  }
#endif
}
// end snippet

#if CUDART_VERSION >= 12000
#define BULK_TENSOR 1  // the toolkit knows tensor maps and wgmma
#endif

#ifdef BULK_TENSOR

// snippet: wgmma-layout
// Kernel 6: wgmma. A warpgroup (128 threads) starts products of 64 rows, and the tensor
// cores fetch both operands from shared memory themselves. Blocks are persistent: one
// for each multiprocessor, which works through many tiles. Two blocks form a cluster
// and share B: each loads half of a tile of B, and the copy engine (TMA) writes it to
// both (multicast). Warp specialization: of a block's three warpgroups one only starts
// copies; the other two take turns at whole tiles of 128x176 outputs (ping-pong), so
// that one stores while the other multiplies. A large tile needs fewer bytes for each
// product; this one fills most registers with sums (176 of 232 a thread).
// Prediction: the unit's full rate, of which mma.sync reaches about 0.6, with no
// instruction of a thread spent on loads: 2 times kernel 5, unless the power limit
// lowers the clock.
constexpr int kCluster = 2;
constexpr int kTileM = 128, kTileN = 176,
              kTileK = 128;  // outputs, and codes of k a stage
constexpr int kBytesA = kTileM * kTileK, kBytesB = kTileN * kTileK;
constexpr int kStages = 5, kStageBytes = kBytesA + kBytesB;
constexpr int kWgmmaThreads = 3 * 128;

// The epilogue writes outputs to shared memory in parts of 64 rows and 16 columns, from
// where the copy engine stores them; each warpgroup has up to four parts in flight.
constexpr int kPartCols = 16, kPartBytes = 64 * kPartCols * 4, kParts = 4;

constexpr int kPartsAt = kStages * kStageBytes;  // offsets in shared memory, in bytes
constexpr int kColumnsAt = kPartsAt + 2 * kParts * kPartBytes;
constexpr int kBarriersAt = kColumnsAt + 2 * kTileN * int(sizeof(Column));
constexpr int kWgmmaShared = kBarriersAt + 2 * kStages * 8;
// end snippet

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

// snippet: register-split
// Warpgroups of a block may hand registers to each other. The one that only starts
// copies keeps 40 a thread, so that the other two can have 232.
__device__ inline void giveRegistersBack() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
}

__device__ inline void takeRegisters() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
}
// end snippet

// snippet: mbarrier
__device__ inline uint32_t sharedAddress(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

__device__ inline void initBarrier(uint64_t* barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(sharedAddress(barrier)),
               "r"(arrivals));
}

// Arrives once, and lets the phase end only when the copy engine has delivered `bytes`.
__device__ inline void expectBytes(uint64_t* barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(
                   sharedAddress(barrier)),
               "r"(bytes)
               : "memory");
}

// Arrives at the same barrier of block `rank` of the cluster.
__device__ inline void arriveAt(uint64_t* barrier, int rank) {
  asm volatile(
      "{\n"
      ".reg .b32 remote;\n"
      "mapa.shared::cluster.u32 remote, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [remote];\n"
      "}" ::"r"(sharedAddress(barrier)),
      "r"(rank)
      : "memory");
}

// Returns when the phase of the given parity has completed.
__device__ inline void waitFor(uint64_t* barrier, int parity) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "AGAIN:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra AGAIN;\n"
      "}" ::"r"(sharedAddress(barrier)),
      "r"(parity)
      : "memory");
}

// Waiting for a parity cannot tell a phase from the one two before it, so a warpgroup
// must not wait for stages of its next tile while the other still reads older ones. The
// two take turns: each starts its tile once the other has started its last products.
__device__ inline void waitForTurn(int warpgroup) {
  asm volatile("bar.sync %0, 256;" ::"r"(1 + warpgroup) : "memory");
}

__device__ inline void passTurn(int warpgroup) {
  asm volatile("bar.arrive %0, 256;" ::"r"(1 + warpgroup) : "memory");
}

__device__ inline void syncWarpgroup(int warpgroup) {
  asm volatile("bar.sync %0, 128;" ::"r"(3 + warpgroup) : "memory");
}

// Makes initialized barriers visible to the other block and to the copy engine.
__device__ inline void fenceBarrierInit() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ inline void clusterSync() {
  asm volatile(
      "barrier.cluster.arrive.release.aligned;\n"
      "barrier.cluster.wait.acquire.aligned;" ::
          : "memory");
}
// end snippet

// snippet: bulk-tensor-copy
__device__ inline void prefetchMap(const CUtensorMap* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

// Starts the copy of the map's box at (x, y) to shared memory, zeros for what lies
// outside the matrix. The barrier counts the bytes as they land.
__device__ inline void copyBox(void* to, const CUtensorMap* map, int x, int y,
                               uint64_t* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3}], [%4];" ::"r"(sharedAddress(to)),
      "l"(map), "r"(x), "r"(y), "r"(sharedAddress(barrier))
      : "memory");
}

// The same, to every block of the cluster whose bit is set in the mask, at the same
// offset in its shared memory; each block's own barrier counts the bytes.
__device__ inline void multicastBox(void* to, const CUtensorMap* map, int x, int y,
                                    uint64_t* barrier, uint16_t mask) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(sharedAddress(to)),
      "l"(map), "r"(x), "r"(y), "r"(sharedAddress(barrier)), "h"(mask)
      : "memory");
}

// Starts the copy of a box from shared memory to the matrix; what lies outside the
// matrix is not written.
__device__ inline void storeBox(const CUtensorMap* map, int x, int y,
                                const void* from) {
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];\n"
      "cp.async.bulk.commit_group;" ::"l"(map),
      "r"(x), "r"(y), "r"(sharedAddress(from))
      : "memory");
}

// Makes this thread's writes to shared memory visible to the copy engine.
__device__ inline void fenceForCopies() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// Returns when all but the last kPending of this thread's stores have read their
// source, so that it may be overwritten.
template <int kPending>
__device__ inline void waitForStores() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kPending) : "memory");
}
// end snippet

// snippet: wgmma
constexpr int kProducts = kTileM / 64,
              kSums = kTileN / 2;  // products a tile; sums a thread and product

// A descriptor tells the tensor core where an operand lies in shared memory: rows of
// 128 bytes, k contiguous, swizzled as the copy engine wrote them (16-byte chunk c of
// row r at position c XOR r % 8), every 8 rows 1024 bytes further.
__device__ inline uint64_t describe(const void* rows) {
  return (sharedAddress(rows) & 0x3FFFF) >> 4 | uint64_t(1) << 16 |
         uint64_t(1024 >> 4) << 32 | uint64_t(1) << 62;
}

// Starts d = A * B or, with `accumulate`, d += A * B, of 64x176x32. Lane l of warp w
// holds, for j = 0..21, columns 8 j + l % 4 * 2 and the next one: of row 16 w + l / 4
// in d[4 j] and d[4 j + 1], of the row 8 further down in d[4 j + 2] and d[4 j + 3].
#define REGISTERS_8(i)                                                        \
  "+r"(d[i]), "+r"(d[i + 1]), "+r"(d[i + 2]), "+r"(d[i + 3]), "+r"(d[i + 4]), \
      "+r"(d[i + 5]), "+r"(d[i + 6]), "+r"(d[i + 7])
#define REGISTERS_16(i) REGISTERS_8(i), REGISTERS_8(i + 8)
#define REGISTERS_32(i) REGISTERS_16(i), REGISTERS_16(i + 16)

__device__ inline void startProduct(int32_t (&d)[kSums], uint64_t a, uint64_t b,
                                    int accumulate) {
  asm volatile(
      "{\n"
      ".reg .pred accumulate;\n"
      "setp.ne.b32 accumulate, %90, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n176k32.s32.s8.s8 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, "
      "%17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, "
      "%47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, "
      "%62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, "
      "%77, %78, %79, %80, %81, %82, %83, %84, %85, %86, "
      "%87}, %88, %89, accumulate;\n"
      "}"
      : REGISTERS_32(0), REGISTERS_32(32), REGISTERS_16(64), REGISTERS_8(80)
      : "l"(a), "l"(b), "r"(accumulate));
}

__device__ inline void fenceProducts() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

__device__ inline void commitProducts() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

template <int kPending>
__device__ inline void waitForProducts() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}
// end snippet

// snippet: wgmma-ring
// Stages in shared memory, used in a circle: the producer fills them, the consumers
// multiply what they hold, both in the same order.
struct Ring {
  uint8_t* stages;         // tile of A, tile of B
  uint64_t *full, *empty;  // one barrier of each kind for every stage
};

// The stage of a step, and the parity of the barrier phase that belongs to it.
struct Position {
  int stage, parity;

  __device__ explicit Position(int steps)
      : stage(steps % kStages), parity(steps / kStages % 2) {}
  __device__ void advance() {
    if (++stage == kStages) {
      stage = 0;
      parity ^= 1;
    }
  }
};

// Which tiles of C a cluster computes: two tiles at a time, one below the other, one
// for each block, then the pair `stride` further on.
struct Schedule {
  int first, stride, tiles, tilesM, tilesN;  // counted in pairs of tiles
  int steps, rank;  // stages along k; which of the cluster's blocks this is

  __device__ explicit Schedule(const Operands& p)
      : first(blockIdx.x / kCluster),
        stride(gridDim.x / kCluster),
        tilesM((p.m + kCluster * kTileM - 1) / (kCluster * kTileM)),
        tilesN((p.n + kTileN - 1) / kTileN),
        steps((p.ldk + kTileK - 1) / kTileK),
        rank(blockIdx.x % kCluster) {
    tiles = tilesM * tilesN;
  }
  __device__ int row(TileIndex tile) const {
    return (tile.m * kCluster + rank) * kTileM;
  }
};
// end snippet

// snippet: wgmma-producer
// Run by one thread. Refills a stage when the eight warps that read it have released
// it: four of this block, and four of the other, where half of B is written as well.
__device__ inline void produce(const Schedule& work, const Ring& ring,
                               const CUtensorMap* mapA, const CUtensorMap* mapB) {
  Position at(0);
  for (int t = work.first; t < work.tiles; t += work.stride) {
    const TileIndex tile = tileAt(t, work.tilesM, work.tilesN);
    const int row = work.row(tile);
    const int col = tile.n * kTileN + work.rank * (kTileN / kCluster);
    for (int step = 0; step < work.steps; ++step, at.advance()) {
      uint64_t* full = &ring.full[at.stage];
      uint8_t* a = ring.stages + at.stage * kStageBytes;
      uint8_t* b = a + kBytesA + work.rank * (kBytesB / kCluster);
      waitFor(&ring.empty[at.stage], at.parity ^ 1);
      expectBytes(full, kStageBytes);
      copyBox(a, mapA, step * kTileK, row, full);
      multicastBox(b, mapB, step * kTileK, col, full, (1 << kCluster) - 1);
    }
  }
}
// end snippet

// snippet: wgmma-consumer
// A warpgroup's turn: all steps of one tile. Products run while the warpgroup waits for
// the next stage; a stage is released when its products have ended, which is seen only
// after those of the next stage have been started.
__device__ inline void multiplyTile(int32_t (&d)[kProducts][kSums], int turn,
                                    const Schedule& work, const Ring& ring) {
  const int lane = threadIdx.x % 32;
  const auto release = [&](int stage) {
    if (lane < kCluster) arriveAt(&ring.empty[stage], lane);
  };
  Position at(turn * work.steps);
  int previous = at.stage;
  for (int step = 0; step < work.steps; ++step, at.advance()) {
    const uint8_t* a = ring.stages + at.stage * kStageBytes;
    const uint64_t descriptorA = describe(a), descriptorB = describe(a + kBytesA);
    waitFor(&ring.full[at.stage], at.parity);
    fenceProducts();
#pragma unroll
    for (int q = 0; q < kTileK / 32; ++q) {  // + 2 q: 32 q bytes, in units of 16
#pragma unroll
      for (int i = 0; i < kProducts; ++i) {  // + 512 i: 64 i rows of 128 bytes
        startProduct(d[i], descriptorA + 512 * i + 2 * q, descriptorB + 2 * q,
                     step + q > 0);
      }
    }
    commitProducts();
    waitForProducts<1>();
    if (step > 0) release(previous);
    previous = at.stage;
  }
  if (work.first + (turn + 1) * work.stride < work.tiles) passTurn((turn + 1) % 2);
  waitForProducts<0>();
  release(previous);
  // The compiler does not see the tensor cores write: it must read no sum before here.
#pragma unroll
  for (int i = 0; i < kProducts * kSums; ++i) {
    asm volatile("" : "+r"(d[i / kSums][i % kSums])::"memory");
  }
}
// end snippet

// snippet: wgmma-epilogue
// Stores a tile, part by part: first to shared memory, swizzled as the copy engine
// expects rows of 64 bytes (chunk c of row r at position c XOR r / 2 % 4), from there
// to C while the next part is written. A part has 16 columns, written in two halves;
// lanes of every other row pair start with the right half, so that the 16 lanes that
// store together use all 32 banks.
template <typename Out>
__device__ inline void storeTile(const int32_t (&d)[kProducts][kSums], uint8_t* parts,
                                 const ColumnPair* columns, const CUtensorMap* mapC,
                                 int row0, int col0, int turn) {
  const int lane = threadIdx.x % 32, row = 16 * (threadIdx.x / 32 % 4) + lane / 4;
  const int other = lane / 8 % 2;
  const bool starter = threadIdx.x % 128 == 0;
#pragma unroll
  for (int i = 0; i < kProducts * kTileN / kPartCols; ++i) {
    const int product = i / (kTileN / kPartCols), part = i % (kTileN / kPartCols);
    uint8_t* buffer = parts + i % kParts * kPartBytes;
    if (starter) waitForStores<kParts - 1>();
    syncWarpgroup(turn % 2);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      int32_t sums[4];
#pragma unroll
      for (int s = 0; s < 4; ++s) {
        sums[s] = other ? d[product][8 * part + 4 * (1 - half) + s]
                        : d[product][8 * part + 4 * half + s];
      }
      const int place = half ^ other;  // which half this lane stores now
      const ColumnPair both = columns[8 * part + 4 * place + lane % 4];
      uint8_t* to = buffer + row * 64 + lane % 2 * 8 +
                    ((2 * place + lane % 4 / 2) ^ (row / 2 % 4)) * 16;
      *reinterpret_cast<Pair<Out>*>(to) = finishPair<Out>(sums[0], sums[1], both);
      *reinterpret_cast<Pair<Out>*>(to + 8 * 64) =
          finishPair<Out>(sums[2], sums[3], both);
    }
    fenceForCopies();
    syncWarpgroup(turn % 2);
    if (starter) storeBox(mapC, col0 + part * kPartCols, row0 + 64 * product, buffer);
  }
}
// end snippet

#endif  // __CUDA_ARCH_FEAT_SM90_ALL

// snippet: wgmma-kernel
template <typename Out>
__global__ void __launch_bounds__(kWgmmaThreads, 1)
matmulWgmma(Operands p, const __grid_constant__ CUtensorMap mapA,
            const __grid_constant__ CUtensorMap mapB,
            const __grid_constant__ CUtensorMap mapC) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ __align__(1024) uint8_t shared[];
  uint64_t* barriers = reinterpret_cast<uint64_t*>(shared + kBarriersAt);
  const Ring ring = {shared, barriers, barriers + kStages};
  const Schedule work(p);
  const int warpgroup = __shfl_sync(~0u, threadIdx.x / 128, 0);
  if (threadIdx.x == 0) {
    prefetchMap(&mapA);
    prefetchMap(&mapB);
    for (int i = 0; i < kStages; ++i) {
      initBarrier(&ring.full[i], 1);              // the producer's arrival
      initBarrier(&ring.empty[i], 4 * kCluster);  // an arrival of each warp that reads
    }
    fenceBarrierInit();
  }
  clusterSync();

  if (warpgroup == 2) {
    giveRegistersBack();
    if (threadIdx.x == 2 * 128) produce(work, ring, &mapA, &mapB);
  } else {
    takeRegisters();
    uint8_t* parts = shared + kPartsAt + warpgroup * kParts * kPartBytes;
    ColumnPair* columns =
        reinterpret_cast<ColumnPair*>(shared + kColumnsAt) + warpgroup * (kTileN / 2);
    int32_t d[kProducts][kSums];
    for (int turn = warpgroup; work.first + turn * work.stride < work.tiles;
         turn += 2) {
      const TileIndex tile =
          tileAt(work.first + turn * work.stride, work.tilesM, work.tilesN);
      const int pair = threadIdx.x % 128, col = tile.n * kTileN + 2 * pair;
      if (std::is_same<Out, float>::value && pair < kTileN / 2 && col < p.ldc) {
        columns[pair] = columnPair<Out>(p, col);  // storeTile reads them
      }
      if (turn > 0) waitForTurn(warpgroup);
      multiplyTile(d, turn, work, ring);
      storeTile<Out>(d, parts, columns, &mapC, work.row(tile), tile.n * kTileN, turn);
    }
    if (threadIdx.x % 128 == 0) waitForStores<0>();
  }
  __syncwarp();
  clusterSync();  // no block leaves while the other may still write to it
#endif
}
// end snippet

#endif  // BULK_TENSOR

#endif  // TENSOR_CORES

// ---------------------------------------------------------------- launches

int divideUp(int value, int by) {
  return (value + by - 1) / by;
}

template <typename Out>
void launchBytes(const Operands& p, Out* c) {
  const dim3 grid(divideUp(p.n, kTile), divideUp(p.m, kTile)), block(kTile, kTile);
  matmulBytes<Out><<<grid, block>>>(p, c);
}

template <typename Out>
void launchDp4a(const Operands& p, Out* c) {
  const dim3 grid(divideUp(p.n, kTile), divideUp(p.m, kTile)), block(kTile, kTile);
  matmulDp4a<Out><<<grid, block>>>(p, c);
}

template <typename Out>
void launchRegisterTile(const Operands& p, Out* c) {
  const dim3 grid(divideUp(p.n, kBlock), divideUp(p.m, kBlock));
  matmulRegisterTile<Out><<<grid, kThreads>>>(p, c);
}

#ifdef TENSOR_CORES
template <typename Out>
void launchMmaK16(const Operands& p, Out* c) {
  const dim3 grid(divideUp(p.n, kBlock), divideUp(p.m, kBlock));
  matmulMmaK16<Out><<<grid, kThreads>>>(p, c);
}

template <typename Out>
void launchMmaK32(const Operands& p, Out* c) {
  CUDA_CHECK(cudaFuncSetAttribute(
      matmulMmaK32<Out>, cudaFuncAttributeMaxDynamicSharedMemorySize, kMmaShared));
  const int blocks = divideUp(p.m, kMmaRows) * divideUp(p.n, kMmaCols);
  matmulMmaK32<Out><<<blocks, kThreads, kMmaShared>>>(p, c);
}
#endif

#ifdef BULK_TENSOR
// snippet: tensor-map
using EncodeTiled = decltype(&cuTensorMapEncodeTiled);

// The driver's function by name, so that nothing but the runtime is linked.
EncodeTiled encodeTiled() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found;
#if CUDART_VERSION >= 12050
  CUDA_CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function,
                                              12000, cudaEnableDefault, &found));
#else
  CUDA_CHECK(cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &function,
                                     cudaEnableDefault, &found));
#endif
  if (found != cudaDriverEntryPointSuccess) {
    throw std::runtime_error("the driver has no cuTensorMapEncodeTiled");
  }
  return reinterpret_cast<EncodeTiled>(function);
}

// Describes a matrix to the copy engine: `rows` rows of `cols` elements, each `pitch`
// bytes after the one before, moved in boxes of boxRows x boxCols and swizzled in
// shared memory.
CUtensorMap tensorMap(CUtensorMapDataType type, const void* matrix, int rows, int cols,
                      size_t pitch, int boxRows, int boxCols,
                      CUtensorMapSwizzle swizzle) {
  static const EncodeTiled encode = encodeTiled();
  const cuuint64_t size[] = {cuuint64_t(cols), cuuint64_t(rows)}, stride[] = {pitch};
  const cuuint32_t box[] = {cuuint32_t(boxCols), cuuint32_t(boxRows)}, step[] = {1, 1};
  CUtensorMap map;
  if (encode(&map, type, 2, const_cast<void*>(matrix), size, stride, box, step,
             CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
             CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS) {
    throw std::runtime_error("cuTensorMapEncodeTiled refused the matrix");
  }
  return map;
}
// end snippet

template <typename Out>
void launchWgmma(const Operands& p, Out* c) {
  const auto byte = CU_TENSOR_MAP_DATA_TYPE_UINT8, word = CU_TENSOR_MAP_DATA_TYPE_INT32;
  const CUtensorMap mapA = tensorMap(byte, p.a, p.m, p.ldk, p.ldk, kTileM, kTileK,
                                     CU_TENSOR_MAP_SWIZZLE_128B);
  const CUtensorMap mapB =
      tensorMap(byte, p.bPacked, p.n, p.ldk, p.ldk, kTileN / kCluster, kTileK,
                CU_TENSOR_MAP_SWIZZLE_128B);
  const CUtensorMap mapC = tensorMap(word, c, p.m, p.n, size_t(p.ldc) * 4, 64,
                                     kPartCols, CU_TENSOR_MAP_SWIZZLE_64B);
  cudaLaunchAttribute cluster = {};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim.x = kCluster;
  cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
  cudaLaunchConfig_t launch = {};
  launch.gridDim = dim3(kCluster);
  launch.blockDim = dim3(kWgmmaThreads);
  launch.dynamicSmemBytes = kWgmmaShared;
  launch.attrs = &cluster;
  launch.numAttrs = 1;
  static const int resident =
      [&launch] {  // clusters that the card runs at the same time
        int count = 0;
        CUDA_CHECK(cudaFuncSetAttribute(matmulWgmma<Out>,
                                        cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        kWgmmaShared));
        CUDA_CHECK(cudaOccupancyMaxActiveClusters(&count, matmulWgmma<Out>, &launch));
        return count;
      }();
  const int tiles = divideUp(p.m, kCluster * kTileM) * divideUp(p.n, kTileN);
  launch.gridDim.x = std::min(tiles, resident) * kCluster;
  CUDA_CHECK(cudaLaunchKernelEx(&launch, matmulWgmma<Out>, p, mapA, mapB, mapC));
}
#endif  // BULK_TENSOR

// ---------------------------------------------------------------- this card

// snippet: card
struct Card {
  int capability = 0, multiprocessors = 0, sharedBytes = 0;
  double gigahertz = 0.0;
  size_t cacheBytes = 0;
  std::string name;
  int compiledFor = 0;  // what the kernel compiledFor answered

  // Peak of a unit that does `operations` a cycle in each multiprocessor.
  double tops(int operations) const {
    return multiprocessors * gigahertz * operations / 1000.0;
  }
};

// Dense INT8 operations (a multiply-add is two) that the tensor cores of one
// multiprocessor do in a cycle: the vendor's peak rate over the number of
// multiprocessors and the boost clock. 0: not known here.
int tensorRate(int capability) {
  switch (capability) {
    case 75:
    case 86:
    case 89:
    case 120:
      return 2048;
    case 80:
      return 4096;
    case 90:
      return 8192;
    case 100:
      return 16384;
    default:
      return 0;
  }
}
constexpr int kMultiplyAddRate = 2 * 64, kDp4aRate = 8 * 64;  // 7.5 to 9.0

Card thisCard() {
  int device = 0, kilohertz = 0;
  cudaDeviceProp properties;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
  Card card;
  card.name = properties.name;
  card.capability = 10 * properties.major + properties.minor;
#ifdef TENSOR_CORES
  CUDA_CHECK(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, device));
  card.multiprocessors = properties.multiProcessorCount;
  card.gigahertz = kilohertz / 1e6;
  card.cacheBytes = properties.l2CacheSize;
  card.sharedBytes = static_cast<int>(properties.sharedMemPerBlockOptin);
  DeviceBuffer<int> features(1);
  features.fill(0);
  compiledFor<<<1, 1>>>(features.get());
  CUDA_CHECK(cudaGetLastError());
  card.compiledFor = features.read()[0];
#else
  (void)kilohertz;
#endif
  return card;
}
// end snippet

// snippet: kernel-list
struct Kernel {
  int number;
  const char* name;
  int rate;  // its unit's operations a cycle and multiprocessor; 0: tensorRate()
  double predicted;  // speed-up over the kernel above
  int feature;       // the bit of compiledFor that it needs
  int sharedBytes;   // shared memory that a block needs
  const char* needs;
  void (*raw)(const Operands&, int32_t*);
  void (*fused)(const Operands&, float*);
};

const std::vector<Kernel>& kernels() {
  static const std::vector<Kernel> all = {
      {1, "1 byte tile", kMultiplyAddRate, 1, 0, 0, "", launchBytes, launchBytes},
      {2, "2 dp4a", kDp4aRate, 4, 0, 0, "", launchDp4a, launchDp4a},
      {3, "3 register tile", kDp4aRate, 4, 0, 0, "", launchRegisterTile,
       launchRegisterTile},
#ifdef TENSOR_CORES
      {4, "4 mma m8n8k16", 0, 4, 1, 0, "compute capability 7.5", launchMmaK16,
       launchMmaK16},
      {5, "5 mma m16n8k32", 0, 4, 2, kMmaShared,
       "compute capability 8.0, built for sm_80 or later", launchMmaK32, launchMmaK32},
#ifdef BULK_TENSOR
      {6, "6 wgmma m64n176k32", 0, 2, 4, kWgmmaShared,
       "compute capability 9.0, built for sm_90a", launchWgmma, launchWgmma},
#else
      {6, "6 wgmma m64n176k32", 0, 2, 4, 1 << 30, "a toolkit from 12.0 on", nullptr,
       nullptr},
#endif
#endif
  };
  return all;
}

bool runsOn(const Kernel& kernel, const Card& card) {
  return (card.compiledFor & kernel.feature) == kernel.feature &&
         card.sharedBytes >= kernel.sharedBytes;
}
// end snippet

// ---------------------------------------------------------------- the peer

#ifdef WITH_CUBLASLT

// snippet: dequantize
// The second pass that cuBLASLt needs: reads int32, writes FP32, four at a time.
__global__ void dequantizeRows(Operands p, const int32_t* raw, float* c) {
  const int col = 4 * (blockIdx.x * blockDim.x + threadIdx.x), row = blockIdx.y;
  if (col < p.ldc) {
    const size_t at = size_t(row) * p.ldc + col;
    const int4 x = *reinterpret_cast<const int4*>(raw + at);
    *reinterpret_cast<float4*>(c + at) = make_float4(
        finish<float>(x.x, p.columns[col]), finish<float>(x.y, p.columns[col + 1]),
        finish<float>(x.z, p.columns[col + 2]), finish<float>(x.w, p.columns[col + 3]));
  }
}
// end snippet

void cublasCheck(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw std::runtime_error(std::string(what) + ": " + cublasLtGetStatusString(status));
}
#define CUBLAS_CHECK(call) cublasCheck((call), #call)

// snippet: peer
// cuBLASLt's s8 x s8 -> s32 through its C interface. Everything is set up once; of the
// algorithms that its heuristics propose, the fastest on this card is used. cuBLAS
// reads matrices column by column, so our rows are its columns: it is asked for C^T =
// B^T A^T, where packed B, read so, is B and is transposed, and A, read so, is A^T
// already.
class Peer {
 public:
  explicit Peer(Shape shape) : workspace_(kWorkspace) {
    CUBLAS_CHECK(cublasLtCreate(&handle_));
    CUBLAS_CHECK(cublasLtMatmulDescCreate(&product_, CUBLAS_COMPUTE_32I, CUDA_R_32I));
    const cublasOperation_t transpose = CUBLAS_OP_T;
    CUBLAS_CHECK(cublasLtMatmulDescSetAttribute(product_, CUBLASLT_MATMUL_DESC_TRANSA,
                                                &transpose, sizeof transpose));
    const int ldk = shape.ldk();
    CUBLAS_CHECK(cublasLtMatrixLayoutCreate(&b_, CUDA_R_8I, ldk, shape.n, ldk));
    CUBLAS_CHECK(cublasLtMatrixLayoutCreate(&a_, CUDA_R_8I, ldk, shape.m, ldk));
    CUBLAS_CHECK(
        cublasLtMatrixLayoutCreate(&c_, CUDA_R_32I, shape.n, shape.m, shape.ldc()));

    cublasLtMatmulPreference_t preference;
    CUBLAS_CHECK(cublasLtMatmulPreferenceCreate(&preference));
    CUBLAS_CHECK(cublasLtMatmulPreferenceSetAttribute(
        preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &kWorkspace,
        sizeof kWorkspace));
    proposals_.resize(32);
    int found = 0;
    const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
        handle_, product_, b_, a_, c_, c_, preference, int(proposals_.size()),
        proposals_.data(), &found);
    cublasLtMatmulPreferenceDestroy(preference);
    proposals_.resize(status == CUBLAS_STATUS_SUCCESS ? found : 0);
  }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  ~Peer() {
    cublasLtMatrixLayoutDestroy(c_);
    cublasLtMatrixLayoutDestroy(a_);
    cublasLtMatrixLayoutDestroy(b_);
    cublasLtMatmulDescDestroy(product_);
    cublasLtDestroy(handle_);
  }

  size_t proposals() const { return proposals_.size(); }
  void choose(size_t algorithm) { chosen_ = algorithm; }

  void launchRaw(const Operands& p, int32_t* c) const {
    const int32_t one = 1, zero = 0;
    CUBLAS_CHECK(cublasLtMatmul(handle_, product_, &one, p.bPacked, b_, p.a, a_, &zero,
                                c, c_, c, c_, &proposals_[chosen_].algo,
                                workspace_.get(), kWorkspace, nullptr));
  }

  void launchFused(const Operands& p, int32_t* scratch, float* c) const {
    launchRaw(p, scratch);
    const dim3 grid(divideUp(p.ldc, 4 * 256), p.m);
    dequantizeRows<<<grid, 256>>>(p, scratch, c);
  }

 private:
  static constexpr size_t kWorkspace = size_t(64) << 20;
  DeviceBuffer<uint8_t> workspace_;
  cublasLtHandle_t handle_ = nullptr;
  cublasLtMatmulDesc_t product_ = nullptr;
  cublasLtMatrixLayout_t a_ = nullptr, b_ = nullptr, c_ = nullptr;
  std::vector<cublasLtMatmulHeuristicResult_t> proposals_;
  size_t chosen_ = 0;
};
// end snippet

#endif  // WITH_CUBLASLT

// ---------------------------------------------------------------- one case

struct Options {
  std::vector<Shape> cases;
  std::vector<int> kernels;
  int timedRuns = 7;
  bool help = false;
};

// The codes on the device; B both row-major and packed.
class Problem {
 public:
  explicit Problem(const Codes& q)
      : shape_(q.shape),
        a_(q.a),
        b_(q.b),
        bPacked_(size_t(q.shape.n) * q.shape.ldk()),
        columns_(q.columns) {
    pack();
  }

  void pack() {
    const dim3 grid(divideUp(shape_.n, kPackTile), divideUp(shape_.ldk(), kPackTile));
    packB<<<grid, dim3(kPackTile, 8)>>>(b_.get(), bPacked_.get(), shape_.n, shape_.k,
                                        shape_.ldk());
    CUDA_CHECK(cudaGetLastError());
  }

  Operands operands() const {
    return {shape_.m, shape_.n, shape_.k,       shape_.ldk(),  shape_.ldc(),
            a_.get(), b_.get(), bPacked_.get(), columns_.get()};
  }

 private:
  Shape shape_;
  DeviceBuffer<int8_t> a_, b_, bPacked_;
  DeviceBuffer<Column> columns_;
};

// A way to compute the product: one of the kernels, or the peer.
struct Implementation {
  const char* name;
  int rate;
  double predicted;  // speed-up over the one above; 0: nothing predicted
  std::function<void(const Operands&, int32_t*)> raw;
  std::function<void(const Operands&, float*)> fused;
  float rawMs = -1.0f, fusedMs = -1.0f;
};

std::vector<Implementation> implementations(const Options& options, const Card& card) {
  std::vector<Implementation> all;
  for (const Kernel& kernel : kernels()) {
    const bool wanted =
        options.kernels.empty() ||
        std::count(options.kernels.begin(), options.kernels.end(), kernel.number);
    if (wanted && runsOn(kernel, card)) {
      const int rate = kernel.rate ? kernel.rate : tensorRate(card.capability);
      all.push_back({kernel.name, rate, kernel.predicted, kernel.raw, kernel.fused});
    }
  }
  return all;
}

// snippet: verify
// Runs a kernel and returns its output. The memory is filled with a pattern first, so
// that an output which no thread writes is noticed.
template <typename Out, typename Launch>
std::vector<Out> outputOf(const Launch& launch, const Operands& p,
                          DeviceBuffer<Out>& buffer) {
  buffer.fill(0xA5);
  launch(p, buffer.get());
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  return buffer.read();
}

// Compares every output of every implementation, to the bit: in a small case with the
// oracle, in a large one with the first kernel's accumulators once these have passed
// Freivalds' check.
bool verify(const Codes& q, const std::vector<Implementation>& all) {
  const Shape shape = q.shape;
  const size_t outputs = size_t(shape.m) * shape.ldc();
  const Problem problem(q);
  DeviceBuffer<int32_t> rawBuffer(outputs);
  DeviceBuffer<float> fusedBuffer(outputs);
  std::vector<int32_t> raw;
  std::vector<float> fused;
  bool passed = true;

  std::printf("\n## case %dx%dx%d\n\n", shape.m, shape.n, shape.k);
  if (shape.work() <= kOracleWork) {
    std::printf("every output against a host integer oracle\n");
    oracle(q, raw, fused);
  } else {
    raw = outputOf(all[0].raw, problem.operands(), rawBuffer);
    const long wrong = ProductCheck(q).wrongRows(raw);
    std::printf(
        "Freivalds' check of '%s': %ld of %d rows wrong\n"
        "(a wrong product passes with a probability of at most `2^-%d`)\n"
        "then every output against those accumulators\n",
        all[0].name, wrong, shape.m, ProductCheck::kVectors * ProductCheck::kBits);
    passed = wrong == 0;
    fused = dequantized(q, raw);
  }
  std::printf(
      "\n"
      "| kernel             |  outputs | raw differing | fused differing |\n"
      "| :----------------- | -------: | ------------: | --------------: |\n");
  for (const Implementation& one : all) {
    const long rawWrong = countDifferentBits(
        shape, outputOf(one.raw, problem.operands(), rawBuffer), raw);
    const long fusedWrong = countDifferentBits(
        shape, outputOf(one.fused, problem.operands(), fusedBuffer), fused);
    std::printf("| %-18s | %8ld | %13ld | %15ld |\n", one.name, long(shape.m) * shape.n,
                rawWrong, fusedWrong);
    passed = passed && rawWrong == 0 && fusedWrong == 0;
  }
  if (!passed) std::printf("\nFAILED: an output is not the quantized product\n");
  return passed;
}
// end snippet

// ---------------------------------------------------------------- time

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

// snippet: timing
using Launch = std::function<void(const Operands&)>;

// Mean of `count` launches, each over the next of the input sets.
float timeBatch(const Launch& launch, const std::vector<Problem>& sets, int count) {
  Event start, stop;
  start.record();
  for (int i = 0; i < count; ++i) launch(sets[i % sets.size()].operands());
  stop.record();
  CUDA_CHECK(cudaGetLastError());
  return stop.since(start) / static_cast<float>(count);
}

// Medians of `runs` batches of each launch. A batch lasts about 40 ms and follows 20 ms
// of the same launches, so that the clock that power allows has settled; the launches
// take turns, there and back, so that none always follows a cool one.
std::vector<float> medians(const std::vector<Launch>& launches,
                           const std::vector<Problem>& sets, int runs) {
  std::vector<std::vector<float>> times(launches.size());
  std::vector<int> count;
  for (const Launch& launch : launches) {
    timeBatch(launch, sets, 1);
    const float once = timeBatch(launch, sets, 1);
    count.push_back(std::min(std::max(static_cast<int>(40.0f / once), 1), 2000));
  }
  for (int run = 0; run < runs; ++run) {
    for (size_t turn = 0; turn < launches.size(); ++turn) {
      const size_t i = run % 2 == 0 ? turn : launches.size() - 1 - turn;
      if (count[i] > 1) timeBatch(launches[i], sets, count[i] / 2);
      times[i].push_back(timeBatch(launches[i], sets, count[i]));
    }
  }
  std::vector<float> middle;
  for (std::vector<float>& of : times) {
    std::sort(of.begin(), of.end());
    middle.push_back(of[of.size() / 2]);
  }
  return middle;
}
// end snippet

// As many copies of the inputs as make four times the cache.
size_t inputSets(Shape shape, const Card& card) {
  const size_t bytes = (size_t(shape.m) + shape.n) * shape.ldk();
  return std::min<size_t>(16, 1 + 4 * card.cacheBytes / bytes);
}

std::string formatted(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

void printTimes(const char* title, Shape shape, const Card& card,
                const std::vector<Implementation>& all, float Implementation::*time,
                const Implementation* peer) {
  std::printf("\n## case %dx%dx%d %s\n\n", shape.m, shape.n, shape.k, title);
  std::printf(
      "| kernel             | time (ms) |   TOPS | "
      "of unit | vs above | predicted | vs peer |\n"
      "| :----------------- | --------: | -----: | "
      "------: | -------: | --------: | ------: |\n");
  for (size_t i = 0; i < all.size(); ++i) {
    const Implementation& one = all[i];
    const double tops = 2.0 * shape.work() / (one.*time * 1e9);
    const bool predicts = &one != peer && i > 0;
    const std::string share =
        one.rate ? formatted("%.3f", tops / card.tops(one.rate)) : "n/a";
    const std::string above =
        predicts ? formatted("%.2fx", all[i - 1].*time / one.*time) : "n/a";
    const std::string predicted = predicts ? formatted("%.0fx", one.predicted) : "n/a";
    const std::string ratio =
        peer != nullptr ? formatted("%.3fx", peer->*time / one.*time) : "n/a";
    std::printf("| %-18s | %9.4f | %6.1f | %7s | %8s | %9s | %7s |\n", one.name,
                one.*time, tops, share.c_str(), above.c_str(), predicted.c_str(),
                ratio.c_str());
  }
}

void printCodes(const Codes& q) {
  const auto meanAbs = [](const std::vector<int8_t>& codes, size_t count) {
    int64_t sum = 0;
    for (int8_t code : codes) sum += std::abs(code);
    return double(sum) / double(count);
  };
  std::printf(
      "codes (power, and so the clock, depends on them): mean |A| %.1f, zero point %d, "
      "mean |B| %.1f\n",
      meanAbs(q.a, size_t(q.shape.m) * q.shape.k), q.zeroPointA,
      meanAbs(q.b, q.b.size()));
}

void timeCase(const Codes& q, const Card& card, std::vector<Implementation>& all,
              int runs, const Implementation* peer) {
  const Shape shape = q.shape;
  std::vector<Problem> sets;
  for (size_t i = 0; i < inputSets(shape, card); ++i) sets.emplace_back(q);
  const size_t outputs = size_t(shape.m) * shape.ldc();
  DeviceBuffer<int32_t> raw(outputs);
  DeviceBuffer<float> fused(outputs);

  std::vector<Launch> launches;
  for (const Implementation& one : all) {
    launches.push_back([&](const Operands& p) { one.raw(p, raw.get()); });
    launches.push_back([&](const Operands& p) { one.fused(p, fused.get()); });
  }
  const std::vector<float> times = medians(launches, sets, runs);
  for (size_t i = 0; i < all.size(); ++i) {
    all[i].rawMs = times[2 * i];
    all[i].fusedMs = times[2 * i + 1];
  }
  size_t turn = 0;
  const Launch pack = [&](const Operands&) { sets[turn++ % sets.size()].pack(); };
  std::printf("\n## case %dx%dx%d timed, medians of %d batches, warm\n\n", shape.m,
              shape.n, shape.k, runs);
  std::printf("inputs rotated over %zu sets, past the L2 cache\n", sets.size());
  printCodes(q);
  std::printf("packing B, once for all products: %.4f ms\n",
              medians({pack}, sets, runs)[0]);
  printTimes("raw int32", shape, card, all, &Implementation::rawMs, peer);
  printTimes("fused FP32", shape, card, all, &Implementation::fusedMs, peer);
}

#ifdef WITH_CUBLASLT
// Keeps the proposal that is the fastest here.
void chooseAlgorithm(Peer& peer, const Codes& q) {
  std::vector<Problem> sets;
  sets.emplace_back(q);
  DeviceBuffer<int32_t> c(size_t(q.shape.m) * q.shape.ldc());
  std::vector<Launch> launches;
  for (size_t i = 0; i < peer.proposals(); ++i) {
    launches.push_back([&peer, &c, i](const Operands& p) {
      peer.choose(i);
      peer.launchRaw(p, c.get());
    });
  }
  const std::vector<float> times = medians(launches, sets, 3);
  peer.choose(std::min_element(times.begin(), times.end()) - times.begin());
}
#endif

bool runCase(Shape shape, const Options& options, const Card& card) {
  const Codes q = makeCodes(shape);
  std::vector<Implementation> all = implementations(options, card);
  const bool timed = shape.work() >= kTimedWork && options.timedRuns > 0;
  bool hasPeer = false;
#ifdef WITH_CUBLASLT
  Peer peer(shape);
  DeviceBuffer<int32_t> scratch(size_t(shape.m) * shape.ldc());
  hasPeer = peer.proposals() > 0;
  if (hasPeer) {
    all.push_back(
        {"peer: cuBLASLt", tensorRate(card.capability), 0,
         [&](const Operands& p, int32_t* c) { peer.launchRaw(p, c); },
         [&](const Operands& p, float* c) { peer.launchFused(p, scratch.get(), c); }});
    if (timed) chooseAlgorithm(peer, q);
  }
#endif
  const bool passed = verify(q, all);
  if (passed && timed) {
    timeCase(q, card, all, options.timedRuns, hasPeer ? &all.back() : nullptr);
  } else {
    std::printf("\nnot timed\n");
  }
  std::fflush(stdout);
  return passed;
}

// ---------------------------------------------------------------- the command

void printCard(const Card& card) {
  std::printf("# int8_tensor_cores on %s (compute capability %d.%d)\n\n",
              card.name.c_str(), card.capability / 10, card.capability % 10);
#ifdef TENSOR_CORES
  std::printf("%d multiprocessors at %.0f MHz, L2 cache %zu MiB\n",
              card.multiprocessors, card.gigahertz * 1e3, card.cacheBytes >> 20);
  std::printf("peaks in TOPS: multiply-add %.1f, dp4a %.1f, INT8 tensor cores %s\n",
              card.tops(kMultiplyAddRate), card.tops(kDp4aRate),
              tensorRate(card.capability)
                  ? formatted("%.1f", card.tops(tensorRate(card.capability))).c_str()
                  : "n/a");
#else
  std::printf("left out on a CPU: kernels 4 to 6 (tensor cores) and all times\n");
#endif
  for (const Kernel& kernel : kernels()) {
    if (!runsOn(kernel, card)) {
      std::printf("left out: %s needs %s\n", kernel.name, kernel.needs);
    }
  }
}

const char* const kUsage =
    "usage: int8_tensor_cores [--cases N|MxNxK[,...]] [--kernels N[,...]] "
    "[--timed-runs R] [--help]";

// A whole number in [low, high] at `text`, which moves past it; -1: none there.
int parseNumber(const char*& text, int low, int high) {
  char* end = nullptr;
  if (*text < '0' || *text > '9') return -1;
  const long value = std::strtol(text, &end, 10);
  text = end;
  return value >= low && value <= high ? static_cast<int>(value) : -1;
}

// N or MxNxK, comma-separated.
bool parseCases(const char* text, std::vector<Shape>& cases) {
  do {
    int size[3] = {0, 0, 0}, given = 0;
    do {
      size[given] = parseNumber(text, 1, kMaxSize);
      if (size[given++] < 0) return false;
    } while (given < 3 && *text == 'x' && ++text);
    if (given == 1) size[1] = size[2] = size[0];
    if (given == 2) return false;
    cases.push_back({size[0], size[1], size[2]});
  } while (*text == ',' && ++text);
  return *text == '\0';
}

bool parseKernels(const char* text, std::vector<int>& numbers) {
  do {
    numbers.push_back(parseNumber(text, 1, 6));
    if (numbers.back() < 0) return false;
  } while (*text == ',' && ++text);
  return *text == '\0';
}

bool parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : "";
    if (flag == "--help") {
      options.help = true;
      continue;
    } else if (flag == "--cases") {
      options.cases.clear();
      if (!parseCases(value, options.cases)) return false;
    } else if (flag == "--kernels") {
      options.kernels.clear();
      if (!parseKernels(value, options.kernels)) return false;
    } else if (flag == "--timed-runs") {
      options.timedRuns = parseNumber(value, 0, 1000);
      if (options.timedRuns < 0 || *value != '\0') return false;
    } else {
      return false;
    }
    ++i;
  }
  return true;
}

int run(const Options& options) {
  const Card card = thisCard();
  printCard(card);
  if (implementations(options, card).empty()) {
    std::printf("FAILED: none of the kernels asked for runs here\n");
    return 1;
  }
  bool passed = true;
  for (Shape shape : options.cases) passed = runCase(shape, options, card) && passed;
  std::printf("\n## summary\n\n%s\n", passed ? "all cases passed" : "FAILED");
  return passed ? 0 : 1;
}

int main(int argc, char** argv) {
  Options options;
  options.cases = {{61, 45, 77}, {257, 129, 96}, {300, 520, 272}};
#ifdef TENSOR_CORES
  options.cases.push_back({4096, 4096, 4096});
  options.cases.push_back({8192, 8192, 8192});
#endif
  if (!parse(argc, argv, options)) {
    std::fprintf(stderr, "%s\n", kUsage);
    return 2;
  }
  int status = 0;
  try {
    if (options.help) {
      std::printf("%s\n", kUsage);
    } else {
      status = run(options);
    }
    if (std::fflush(stdout) != 0 || std::ferror(stdout)) {
      throw std::runtime_error("the output could not be written");
    }
  } catch (const std::exception& error) {
    std::fflush(stdout);
    std::fprintf(stderr, "int8_tensor_cores: %s\n", error.what());
    status = 1;
  }
  return status;
}
