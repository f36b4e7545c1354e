// SPDX-License-Identifier: MIT
//
// The INT8 kernel with its codes loaded four at a time: the same bits, sooner.
//
//   nvcc -std=c++17 -O3 -arch=sm_75 -o word-loads word-loads.cu

#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kTile = 16;      // a block computes kTile x kTile outputs, one a thread
constexpr int kZeroPoint = 0;  // of A; what is not 0 here, matmulWords has to correct

// snippet: matmul-words
// Both tiles keep four neighbours along k in one word: A's by rows as they come, B's
// by columns. Columns start 5 words apart, of which one is never used: 4 apart, the 16
// that a warp reads at once would meet in 8 of the 32 banks.
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

// Returns how many outputs differ.
int compare(int m, int n, int k) {
  std::vector<int8_t> a(m * k), b(k * n);  // every code, in no telling order
  for (int i = 0; i < m * k; ++i) a[i] = static_cast<int8_t>(i * 37 % 255 - 127);
  for (int i = 0; i < k * n; ++i) b[i] = static_cast<int8_t>(i * 101 % 255 - 127);
  std::vector<float> scale(n), c(m * n, NAN);  // NaN: what no kernel writes is seen
  for (int j = 0; j < n; ++j) scale[j] = 0.001f * static_cast<float>(j + 1);
  float* output = onDevice(c);
  const dim3 grid((n + kTile - 1) / kTile, (m + kTile - 1) / kTile);
  matmulWords<<<grid, dim3(kTile, kTile)>>>(onDevice(a), onDevice(b), output, m, n, k,
                                            onDevice(scale));
  check(cudaGetLastError());
  check(cudaMemcpy(c.data(), output, c.size() * sizeof(float), cudaMemcpyDeviceToHost));

  int differing = 0;
  for (int i = 0; i < m * n; ++i) {
    int32_t sum = 0;
    for (int p = 0; p < k; ++p) {
      sum += (a[i / n * k + p] - kZeroPoint) * b[p * n + i % n];
    }
    const float want = static_cast<float>(sum) * scale[i % n];
    differing += std::memcmp(&c[i], &want, sizeof want) != 0;
  }
  const std::string shape =
      std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k);
  std::printf("| %-11s | %8d | %9d |\n", shape.c_str(), m * n, differing);
  return differing;
}

int main() try {
  int devices = 0;
  check(cudaGetDeviceCount(&devices));
  std::printf("# word loads (output bits against the host's integers)\n\n");
  std::printf("| shape       | compared | differing |\n");
  std::printf("| :---------- | -------: | --------: |\n");
  int differing = compare(61, 45, 77);
  differing += compare(256, 256, 256);
  if (std::fflush(stdout) == 0) return differing != 0;
  std::perror("stdout");
  return 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
