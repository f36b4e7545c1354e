// One fault for each name: what these headers report at run time, and how it ends.
#include <cstdio>
#include <cstring>

// Hidden from the rewriter, which refuses the barrier in a helper where it sees it.
#define SYNC __syncthreads()
__device__ void helper(int) {
  SYNC;  // line of nested
}

__global__ void half(int*) {
  if (threadIdx.x < 32) {
    __syncthreads();  // line of half
  }
}

__global__ void branches(int*) {
  if (threadIdx.x % 2 == 0) {
    __syncthreads();  // line of branches
  } else {
    __syncthreads();  // other line of branches
  }
}

__global__ void nested(int* out) {
  __syncthreads();
  helper(out[0]);
}

__global__ void writes(int* out) { out[threadIdx.x] = 1; }  // line of overrun

__global__ void outsideTile(int* out) {
  __shared__ int tile[8];
  __shared__ int other[64];
  other[threadIdx.x] = 1;
  int* first = tile;
  first[threadIdx.x] = 1;  // line of outsideTile
  __syncthreads();
  out[threadIdx.x] = tile[0] + other[threadIdx.x];
}

template <class T>
__global__ void outsideTemplate(T* out) {
  __shared__ T tile[8];
  T* first = tile;
  first[threadIdx.x] = 1;  // line of outsideTemplate
  __syncthreads();
  out[threadIdx.x] = tile[0];
}

__global__ void overflows(int* out) {
  out[threadIdx.x] = 0x7fffffff + out[threadIdx.x];  // line of overflows
}

int main(int argc, char** argv) {
  const auto is = [&](const char* name) {
    return argc == 2 && std::strcmp(argv[1], name) == 0;
  };
  int* out = nullptr;
  cudaMalloc(&out, 64 * sizeof(int));
  cudaMemset(out, 0x11, 64 * sizeof(int));
  if (is("half")) half<<<dim3(2, 2), 64>>>(out);
  if (is("branches")) branches<<<1, 64>>>(out);
  if (is("nested")) nested<<<1, 64>>>(out);
  if (is("overrun")) writes<<<1, 65>>>(out);
  if (is("outsideTile")) outsideTile<<<1, 64>>>(out);
  if (is("outsideTemplate")) outsideTemplate<int><<<1, 64>>>(out);
  if (is("overflows")) overflows<<<1, 64>>>(out);
  if (is("leak")) {
    cudaEvent_t event;
    cudaEventCreate(&event);  // line of event
    cudaMalloc(&out, 100);    // line of leak
  }
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  if (!is("leak")) cudaFree(out);
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
