// SPDX-License-Identifier: MIT
//
// The INT8 kernel against a plain loop: inside the tile loop everything is exact
// integer arithmetic, so its output can be foretold to the bit.
//
//   nvcc -std=c++17 -O3 -arch=sm_75 -o int8-inner int8-inner.cu

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

int main() try {
  const int m = 37, n = 21, k = 50, zeroPoint = -5;
  std::vector<int8_t> a(m * k), b(k * n);  // every code, in no telling order
  for (int i = 0; i < m * k; ++i) a[i] = static_cast<int8_t>(i * 37 % 256 - 128);
  for (int i = 0; i < k * n; ++i) b[i] = static_cast<int8_t>(i * 101 % 255 - 127);
  std::vector<float> scale(n);
  for (int j = 0; j < n; ++j) scale[j] = 0.001f * static_cast<float>(j + 1);
  std::vector<int32_t> columnSum(n, 0);
  for (int i = 0; i < k * n; ++i) columnSum[i % n] += b[i];

  const DeviceBuffer<int8_t> deviceA(a), deviceB(b);
  const DeviceBuffer<float> deviceScale(scale);
  const DeviceBuffer<int32_t> deviceSum(columnSum);
  DeviceBuffer<float> deviceC(m * n);
  deviceC.poison();
  const dim3 grid((n + kTile - 1) / kTile, (m + kTile - 1) / kTile);
  matmulInt8<true, true>
      <<<grid, dim3(kTile, kTile)>>>(deviceA.get(), deviceB.get(), deviceC.get(), m, n,
                                     k, deviceScale.get(), zeroPoint, deviceSum.get());
  CUDA_CHECK(cudaGetLastError());
  std::vector<float> c(m * n);
  deviceC.read(0, c);

  int different = 0;
  for (int i = 0; i < m * n; ++i) {
    int32_t sum = 0;
    for (int p = 0; p < k; ++p) {
      sum += (a[i / n * k + p] - zeroPoint) * b[p * n + i % n];
    }
    different += !(c[i] == static_cast<float>(sum) * scale[i % n]);
    if (i < 4) std::printf("C[0][%d] = %d * %.3f = %.6f\n", i, sum, scale[i], c[i]);
  }
  std::printf("%d x %d x %d: %d outputs, %d differ from a plain loop\n", m, n, k, m * n,
              different);
  return different != 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
