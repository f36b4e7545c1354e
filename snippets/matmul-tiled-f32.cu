// SPDX-License-Identifier: MIT
//
// The tiled FP32 kernel against a plain loop, on sizes that are no multiples of the
// tile. Both add their terms in ascending k with fused multiply-adds, so no bit may
// differ.
//
//   nvcc -std=c++17 -O3 -arch=sm_75 -o matmul-tiled-f32 matmul-tiled-f32.cu

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

int main() try {
  const Shape shape = {37, 21, 50};
  const int m = shape.m, n = shape.n, k = shape.k;
  Generator random;
  const std::vector<float> a = makeA(shape, random), b = makeB(shape, random);
  const DeviceBuffer<float> deviceA(a), deviceB(b);
  DeviceBuffer<float> deviceC(size_t(m) * n);
  deviceC.poison();
  const dim3 grid((n + kTile - 1) / kTile, (m + kTile - 1) / kTile);
  matmulTiledF32<<<grid, dim3(kTile, kTile)>>>(deviceA.get(), deviceB.get(),
                                               deviceC.get(), m, n, k);
  CUDA_CHECK(cudaGetLastError());
  std::vector<float> c(size_t(m) * n);
  deviceC.read(0, c);

  int different = 0;
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      float sum = 0.0f;
      for (int p = 0; p < k; ++p) sum = std::fma(a[i * k + p], b[p * n + j], sum);
      different += !(c[i * n + j] == sum);
    }
  }
  std::printf("C = A * B, %d x %d x %d in tiles of %d\n", m, n, k, kTile);
  std::printf("%d outputs, %d differ from a plain loop\n", m * n, different);
  std::printf("first: %.6f, last: %.6f\n", c.front(), c.back());
  return different != 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
