// SPDX-License-Identifier: MIT
//
// The INT8 kernel against a plain loop: inside the tile loop everything is exact
// integer arithmetic, so its output can be foretold to the bit.
//
//   nvcc -std=c++17 -O3 -arch=sm_75 -o int8-inner int8-inner.cu

#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <vector>

constexpr int kTile = 16;  // a block computes kTile x kTile outputs, one a thread

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

void check(cudaError_t status) {
  if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

// A copy on the device, where it stays until the program ends.
template <typename T>
T* onDevice(const std::vector<T>& host) {
  T* data = nullptr;
  check(cudaMalloc(&data, host.size() * sizeof(T)));
  check(cudaMemcpy(data, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
  return data;
}

int main() try {
  const int m = 37, n = 21, k = 50, zeroPoint = -5;
  std::vector<int8_t> a(m * k), b(k * n);  // every code, in no telling order
  for (int i = 0; i < m * k; ++i) a[i] = static_cast<int8_t>(i * 37 % 256 - 128);
  for (int i = 0; i < k * n; ++i) b[i] = static_cast<int8_t>(i * 101 % 255 - 127);
  std::vector<float> scale(n), c(m * n, NAN);  // NaN: what no kernel writes is seen
  for (int j = 0; j < n; ++j) scale[j] = 0.001f * static_cast<float>(j + 1);
  std::vector<int32_t> columnSum(n, 0);
  for (int i = 0; i < k * n; ++i) columnSum[i % n] += b[i];

  float* output = onDevice(c);
  const dim3 grid((n + kTile - 1) / kTile, (m + kTile - 1) / kTile);
  matmulInt8<true, true><<<grid, dim3(kTile, kTile)>>>(onDevice(a), onDevice(b), output,
                                                       m, n, k, onDevice(scale),
                                                       zeroPoint, onDevice(columnSum));
  check(cudaGetLastError());
  check(cudaMemcpy(c.data(), output, c.size() * sizeof(float), cudaMemcpyDeviceToHost));

  std::printf("# C = A * B (%dx%dx%d, per-column scales and a zero point)\n\n", m, n,
              k);
  std::printf("| output  |    sum | scale |          C |\n");
  std::printf("| :------ | -----: | ----: | ---------: |\n");
  int different = 0;
  for (int i = 0; i < m * n; ++i) {
    int32_t sum = 0;
    for (int p = 0; p < k; ++p) {
      sum += (a[i / n * k + p] - zeroPoint) * b[p * n + i % n];
    }
    different += !(c[i] == static_cast<float>(sum) * scale[i % n]);
    if (i < 4)
      std::printf("| C[0][%d] | %6d | %5.3f | %10.6f |\n", i, sum, scale[i], c[i]);
  }
  std::printf("\n%d outputs, %d differ from a plain loop\n", m * n, different);
  if (std::fflush(stdout) == 0) return different != 0;
  std::perror("stdout");
  return 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
