// Kernels with a race each, and what they compute in the order that this run has.
// ThreadSanitizer must name one of the lines marked `race NAME`.
#include <cstdio>
#include <cstring>
#include <vector>

constexpr int kThreads = 64;

// Thread i reads what thread 63 - i loads.
__global__ void missingAfterLoad(const int* in, int* out) {
  __shared__ int tile[kThreads];
  tile[threadIdx.x] = in[threadIdx.x];                  // race missingAfterLoad
  out[threadIdx.x] = tile[kThreads - 1 - threadIdx.x];  // race missingAfterLoad
}

// The second round's loads overwrite what others still read.
__global__ void missingBeforeOverwrite(const int* in, int* out) {
  __shared__ int tile[kThreads];
  int sum = 0;
  for (int round = 0; round < 2; ++round) {
    tile[threadIdx.x] = in[threadIdx.x] + round;  // race missingBeforeOverwrite
    __syncthreads();
    sum += tile[kThreads - 1 - threadIdx.x];  // race missingBeforeOverwrite
  }
  out[threadIdx.x] = sum;
}

// No order of whole threads loses an update; a GPU loses most of them.
__global__ void lostUpdate(const int*, int* out) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  count += 1;  // race lostUpdate
  __syncthreads();
  out[threadIdx.x] = count;
}

__global__ void leftNeighbour(const int* in, int* out) {
  __shared__ int tile[kThreads];
  tile[threadIdx.x] = in[threadIdx.x];                             // race leftNeighbour
  out[threadIdx.x] = threadIdx.x > 0 ? tile[threadIdx.x - 1] : 0;  // race leftNeighbour
}

__global__ void reduction(const int* in, int* out) {
  __shared__ int tile[kThreads];
  tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) tile[threadIdx.x] += tile[threadIdx.x + half];  // race reduction
  }
  __syncthreads();
  out[threadIdx.x] = tile[0];
}

// The same with a barrier in each step: nothing to report.
__global__ void correct(const int* in, int* out) {
  __shared__ int tile[kThreads];
  tile[threadIdx.x] = in[threadIdx.x];
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) tile[threadIdx.x] += tile[threadIdx.x + half];
  }
  __syncthreads();
  out[threadIdx.x] = tile[0];
}

// Two blocks that write one place: no barrier orders blocks.
__global__ void twoBlocks(const int*, int* out) {
  if (threadIdx.x == 0) out[0] = blockIdx.x;  // race twoBlocks
}

int main(int argc, char** argv) {
  struct Case {
    const char* name;
    void (*kernel)(const int*, int*);
    int blocks;
    int (*expected)(int thread);
  };
  static const auto in = [](int i) { return i * i; };
  static const auto total = [](int) {
    int sum = 0;
    for (int i = 0; i < kThreads; ++i) sum += in(i);
    return sum;
  };
  const Case cases[] = {
      {"missingAfterLoad", missingAfterLoad, 1, [](int t) { return in(kThreads - 1 - t); }},
      {"missingBeforeOverwrite", missingBeforeOverwrite, 1,
       [](int t) { return 2 * in(kThreads - 1 - t) + 1; }},
      {"lostUpdate", lostUpdate, 1, [](int) { return kThreads; }},
      {"leftNeighbour", leftNeighbour, 1, [](int t) { return t > 0 ? in(t - 1) : 0; }},
      {"reduction", reduction, 1, total},
      {"correct", correct, 1, total},
      {"twoBlocks", twoBlocks, 2, [](int t) { return t == 0 ? 1 : -1; }},
  };
  for (const Case& each : cases) {
    if (argc != 2 || std::strcmp(argv[1], each.name) != 0) continue;
    std::vector<int> host(kThreads);
    for (int i = 0; i < kThreads; ++i) host[i] = in(i);
    int *a = nullptr, *b = nullptr;
    cudaMalloc(&a, kThreads * sizeof(int));
    cudaMalloc(&b, kThreads * sizeof(int));
    cudaMemcpy(a, host.data(), kThreads * sizeof(int), cudaMemcpyHostToDevice);
    each.kernel<<<each.blocks, kThreads>>>(a, b);
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    cudaMemcpy(host.data(), b, kThreads * sizeof(int), cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < kThreads; ++i) wrong += host[i] != each.expected(i);
    std::printf("%s\n", wrong == 0 ? "right" : "wrong");
    cudaFree(a);
    cudaFree(b);
    return 0;
  }
  std::fputs("usage: racy KERNEL\n", stderr);
  return 2;
}
