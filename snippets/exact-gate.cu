// SPDX-License-Identifier: MIT
//
// The exact gate: the INT8 output is compared bit for bit with integer sums on the
// host. The kernel differs nowhere; what some broken kernels would write differs
// nearly everywhere.
//
//   nvcc -std=c++17 -O3 -arch=sm_75 -o exact-gate exact-gate.cu

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <vector>

constexpr int kTile = 16;  // a block computes kTile x kTile outputs, one a thread

struct Shape {
  int m = 0, n = 0, k = 0;  // A is m x k, B is k x n, both row-major
};

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

// pull: src/quant_matmul.cu#exact-gate
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

// A row of the output over its first `terms` terms. The zero point is subtracted from
// each code, instead of corrected for afterwards as in the kernel.
std::vector<float> outputRow(const int8_t* a, int zeroPoint,
                             const std::vector<int8_t>& b,
                             const std::vector<float>& scale, int terms) {
  const int n = static_cast<int>(scale.size());
  std::vector<float> out(n);
  for (int col = 0; col < n; ++col) {
    int32_t sum = 0;
    for (int p = 0; p < terms; ++p) sum += (a[p] - zeroPoint) * b[p * n + col];
    out[col] = static_cast<float>(sum) * scale[col];
  }
  return out;
}

int main() try {
  const Shape shape = {61, 45, 77};
  const int m = shape.m, n = shape.n, k = shape.k, zeroPoint = -5;
  std::vector<int8_t> a(m * k), b(k * n);  // every code, in no telling order
  for (int i = 0; i < m * k; ++i) a[i] = static_cast<int8_t>(i * 37 % 256 - 128);
  for (int i = 0; i < k * n; ++i) b[i] = static_cast<int8_t>(i * 101 % 255 - 127);
  std::vector<float> scale(n), c(m * n, NAN);
  for (int j = 0; j < n; ++j) scale[j] = 0.001f * static_cast<float>(j + 1);
  std::vector<int32_t> sums(n, 0);
  for (int i = 0; i < k * n; ++i) sums[i % n] += b[i];

  float* output = onDevice(c);
  const dim3 grid((n + kTile - 1) / kTile, (m + kTile - 1) / kTile);
  matmulInt8<true, true><<<grid, dim3(kTile, kTile)>>>(onDevice(a), onDevice(b), output,
                                                       m, n, k, onDevice(scale),
                                                       zeroPoint, onDevice(sums));
  check(cudaGetLastError());
  check(cudaMemcpy(c.data(), output, c.size() * sizeof(float), cudaMemcpyDeviceToHost));

  Comparison kernel, zeros, neighbour, uncorrected, skipped;
  for (int row : oracleRows(shape)) {
    const int8_t* codes = &a[row * k];
    const std::vector<float> want = outputRow(codes, zeroPoint, b, scale, k);
    kernel.add({c.begin() + row * n, c.begin() + (row + 1) * n}, want);
    zeros.add(std::vector<float>(n, 0.0f), want);
    const int8_t* next = row + 1 < m ? codes + k : codes - k;
    neighbour.add(outputRow(next, zeroPoint, b, scale, k), want);
    uncorrected.add(outputRow(codes, 0, b, scale, k), want);
    skipped.add(outputRow(codes, zeroPoint, b, scale, k / kTile * kTile), want);
  }
  std::printf("# outputs that differ, of %ld\n\n", kernel.compared);
  std::printf("| in the output of             | differing |\n");
  std::printf("| :--------------------------- | --------: |\n");
  std::printf("| the kernel                   | %9ld |\n", kernel.different);
  std::printf("| one that writes zeros        | %9ld |\n", zeros.different);
  std::printf("| one that reads the next row  | %9ld |\n", neighbour.different);
  std::printf("| one without its zero point   | %9ld |\n", uncorrected.different);
  std::printf("| one that skips its last tile | %9ld |\n", skipped.different);
  if (std::fflush(stdout) == 0) return kernel.different != 0;
  std::perror("stdout");
  return 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
