// SPDX-License-Identifier: MIT
//
// The tiled FP32 kernel against a plain loop, on sizes that are no multiples of the
// tile. Both add their terms in ascending k with fused multiply-adds, so no bit may
// differ.
//
//   nvcc -std=c++17 -O3 -arch=sm_75 -o matmul-tiled-f32 matmul-tiled-f32.cu

#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kTile = 16;  // a block computes kTile x kTile outputs, one a thread

// pull: src/quant_matmul.cu#inputs
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
  const int m = 37, n = 21, k = 50;
  const Inputs in = syntheticInputs({m, n, k});
  std::vector<float> c(m * n, NAN);  // NaN: what no kernel writes is seen
  float* output = onDevice(c);
  const dim3 grid((n + kTile - 1) / kTile, (m + kTile - 1) / kTile);
  matmulTiledF32<<<grid, dim3(kTile, kTile)>>>(onDevice(in.a), onDevice(in.b), output,
                                               m, n, k);
  check(cudaGetLastError());
  check(cudaMemcpy(c.data(), output, c.size() * sizeof(float), cudaMemcpyDeviceToHost));

  int different = 0;
  for (int i = 0; i < m * n; ++i) {
    float sum = 0.0f;
    for (int p = 0; p < k; ++p) {
      sum = std::fma(in.a[i / n * k + p], in.b[p * n + i % n], sum);
    }
    different += !(c[i] == sum);
  }
  std::printf("# C = A * B (%dx%dx%d in tiles of %d)\n\n", m, n, k, kTile);
  std::printf("%d outputs, %d differ from a plain loop\n", m * n, different);
  std::printf("first: %.6f, last: %.6f\n", c.front(), c.back());
  if (std::fflush(stdout) == 0) return different != 0;
  std::perror("stdout");
  return 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
