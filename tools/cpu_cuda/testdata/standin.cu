// A program of the shape these headers are for: two tiled kernels, one a template.
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

constexpr int kTile = 16;

__global__ void matmulTiledF32(const float* __restrict__ a, const float* __restrict__ b,
                               float* __restrict__ c, int m, int n, int k) {
  __shared__ float tileA[kTile][kTile];
  __shared__ float tileB[kTile][kTile];
  const int row = blockIdx.y * kTile + threadIdx.y;
  const int col = blockIdx.x * kTile + threadIdx.x;
  float sum = 0.0f;
  for (int base = 0; base < k; base += kTile) {
    const int ka = base + threadIdx.x, kb = base + threadIdx.y;
    tileA[threadIdx.y][threadIdx.x] = row < m && ka < k ? a[row * k + ka] : 0.0f;
    tileB[threadIdx.y][threadIdx.x] = kb < k && col < n ? b[kb * n + col] : 0.0f;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kTile; ++i) sum += tileA[threadIdx.y][i] * tileB[i][threadIdx.x];
    __syncthreads();
  }
  if (row < m && col < n) c[row * n + col] = sum;
}

template <bool perChannelB, bool asymA>
__global__ void __launch_bounds__(256)
    matmulInt8(const int8_t* __restrict__ a, const int8_t* __restrict__ b,
               const float* __restrict__ scaleB, const int* __restrict__ columnSum,
               float scaleA, int zeroPoint, float* __restrict__ c, int m, int n, int k) {
  __shared__ int8_t tileA[kTile][kTile];
  __shared__ int8_t tileB[kTile][kTile];
  const int row = blockIdx.y * kTile + threadIdx.y;
  const int col = blockIdx.x * kTile + threadIdx.x;
  int sum = 0;
  for (int base = 0; base < k; base += kTile) {
    const int ka = base + threadIdx.x, kb = base + threadIdx.y;
    tileA[threadIdx.y][threadIdx.x] = row < m && ka < k ? a[row * k + ka] : int8_t(0);
    tileB[threadIdx.y][threadIdx.x] = kb < k && col < n ? b[kb * n + col] : int8_t(0);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kTile; ++i) {
      sum += int(tileA[threadIdx.y][i]) * int(tileB[i][threadIdx.x]);
    }
    __syncthreads();
  }
  if (row < m && col < n) {
    if (asymA) sum -= zeroPoint * columnSum[col];
    c[row * n + col] = float(sum) * (scaleA * scaleB[perChannelB ? col : 0]);
  }
}

template <class T>
T* upload(const std::vector<T>& host) {
  T* device = nullptr;
  if (cudaMalloc(&device, host.size() * sizeof(T)) != cudaSuccess ||
      cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice) !=
          cudaSuccess) {
    std::exit(1);
  }
  return device;
}

static float milliseconds(cudaEvent_t start, cudaEvent_t stop) {
  float ms = 0.0f;
  cudaEventElapsedTime(&ms, start, stop);
  return ms;
}

int main(int argc, char** argv) {
  const int m = argc > 1 ? std::atoi(argv[1]) : 61;
  const int n = argc > 2 ? std::atoi(argv[2]) : 45;
  const int k = argc > 3 ? std::atoi(argv[3]) : 77;
  std::vector<int8_t> a(size_t(m) * k), b(size_t(k) * n);
  uint32_t state = 1;
  const auto next = [&] { return state = 1664525u * state + 1013904223u; };
  for (auto& x : a) x = int8_t(next() >> 24);
  for (auto& x : b) x = int8_t(next() >> 24);
  std::vector<float> af(a.begin(), a.end()), bf(b.begin(), b.end()), c(size_t(m) * n);
  std::vector<float> scaleB(n, 0.5f);
  std::vector<int> columnSum(n);
  for (int p = 0; p < k; ++p)
    for (int j = 0; j < n; ++j) columnSum[j] += b[size_t(p) * n + j];
  int8_t *da = upload(a), *db = upload(b);
  float *daf = upload(af), *dbf = upload(bf), *dc = upload(c), *ds = upload(scaleB);
  int* dsum = upload(columnSum);
  const dim3 block(kTile, kTile);
  const dim3 grid((n + kTile - 1) / kTile, (m + kTile - 1) / kTile);
  cudaEvent_t start, mid, stop;
  cudaEventCreate(&start);
  cudaEventCreate(&mid);
  cudaEventCreate(&stop);
  cudaEventRecord(start);
  matmulTiledF32<<<grid, block>>>(daf, dbf, dc, m, n, k);
  cudaEventRecord(mid);
  matmulInt8<true, true><<<grid,
                           block>>>(da, db, ds, dsum, 0.25f, 3, dc, m, n, k);
  cudaEventRecord(stop);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  cudaMemcpy(c.data(), dc, c.size() * sizeof(float), cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < m; i += m > 300 ? 97 : 1) {
    for (int j = 0; j < n; ++j) {
      int sum = 0;
      for (int p = 0; p < k; ++p) sum += (a[size_t(i) * k + p] - 3) * b[size_t(p) * n + j];
      wrong += c[size_t(i) * n + j] != float(sum) * 0.125f;
    }
  }
  std::fprintf(stderr, "f32 %.1f ms, int8 %.1f ms\n", milliseconds(start, mid),
               milliseconds(mid, stop));
  std::printf("%d wrong\n", wrong);
  for (void* each : {(void*)da, (void*)db, (void*)daf, (void*)dbf, (void*)dc, (void*)ds,
                     (void*)dsum}) {
    cudaFree(each);
  }
  cudaEventDestroy(start);
  cudaEventDestroy(mid);
  cudaEventDestroy(stop);
  return wrong == 0 ? 0 : 1;
}
