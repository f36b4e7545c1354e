// The runtime, called as a program calls it. Faults that end a process, and messages,
// are in faults_test.cc.
#include <cuda_runtime.h>
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

namespace {

/// Device memory for the length of a test.
template <class T>
struct Buffer {
  explicit Buffer(std::size_t n) : size(n) {
    REQUIRE(cudaMalloc(&data, n * sizeof(T)) == cudaSuccess);
  }
  ~Buffer() { cudaFree(data); }
  std::vector<T> host() const {
    std::vector<T> all(size);
    CHECK(cudaMemcpy(all.data(), data, size * sizeof(T), cudaMemcpyDeviceToHost) ==
          cudaSuccess);
    return all;
  }
  T* data = nullptr;
  std::size_t size;
};

/// Options for the length of a test.
struct With {
  explicit With(cpu_cuda::Order order, unsigned long long seed = 0,
                unsigned workers = 1)
      : before(cpu_cuda::options) {
    cpu_cuda::options.order = order;
    cpu_cuda::options.seed = seed;
    cpu_cuda::options.workers = std::min(workers, before.workers);
  }
  ~With() { cpu_cuda::options = before; }
  cpu_cuda::Options before;
};

__global__ void whoAmI(uint3* thread, uint3* block, dim3* shape) {
  const int inBlock =
      threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const int blockId = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const int i = blockId * blockDim.x * blockDim.y * blockDim.z + inBlock;
  thread[i] = threadIdx;
  block[i] = blockIdx;
  if (i == 0) shape[0] = blockDim;
}

// Races, on purpose: the two cases that launch these are none for ThreadSanitizer.
__global__ void arrivals(int* order, int* next) {
  order[(*next)++] = threadIdx.x;
  __syncthreads();
  order[(*next)++] = threadIdx.x;
}

__global__ void blockArrivals(int* order, int* next) {
  order[(*next)++] = blockIdx.x;
}

// Hillis and Steele's scan: two barriers a step, and a different step count each time.
__global__ void scan(int* data) {
  __shared__ int tile[1024];
  tile[threadIdx.x] = data[threadIdx.x];
  for (unsigned step = 1; step < blockDim.x; step *= 2) {
    __syncthreads();
    const int left = threadIdx.x >= step ? tile[threadIdx.x - step] : 0;
    __syncthreads();
    tile[threadIdx.x] += left;
  }
  data[threadIdx.x] = tile[threadIdx.x];
}

template <int kFactor, class T>
__global__ void __launch_bounds__(64)
scale(T* data, float by, bool twice) {
  data[threadIdx.x] *= static_cast<T>(by * kFactor);
  if (!twice) return;
  data[threadIdx.x] *= static_cast<T>(by * kFactor);
}

__global__ void readsUnwritten(float* sum, int* bytes, unsigned char* dynamicBytes) {
  __shared__ float values[4];
  __shared__ signed char codes[4];
  extern __shared__ unsigned char dynamic[];
  if (threadIdx.x == 0) {
    *sum = values[0] + values[3];
    *bytes = codes[0] + codes[3];
    *dynamicBytes = dynamic[9];
  }
  __syncthreads();
  if (threadIdx.x < 10) dynamic[threadIdx.x] = 1;
  if (threadIdx.x < 4) {
    values[threadIdx.x] = 1.0f;
    codes[threadIdx.x] = 1;
  }
}

__global__ void dynamicReverse(float* data) {
  extern __shared__ float tile[];
  tile[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  data[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}

__device__ int twice(int x) {
  return 2 * x;
}
__constant__ int kOffset = 5;
__global__ void helpers(int* out) {
  out[threadIdx.x] = twice(threadIdx.x) + kOffset;
}

__global__ void halfWaits(int* out) {
  if (threadIdx.x < 32) __syncthreads();
  out[threadIdx.x] = 1;
}

__global__ void launches(cudaError_t* error) {
  helpers<<<1, 1>>>(nullptr);
  *error = cudaGetLastError();
}

__global__ void nothing() {}

cudaError_t launch_nothing(dim3 grid, dim3 block, std::size_t shared = 0) {
  nothing<<<grid, block, shared>>>();
  const cudaError_t peeked = cudaPeekAtLastError();
  CHECK(cudaGetLastError() == peeked);
  CHECK(cudaGetLastError() == cudaSuccess);
  return peeked;
}

}  // namespace

TEST_CASE("every thread of every block runs once and knows where it is") {
  const dim3 grid(3, 2, 2), block(4, 3, 2);
  Buffer<uint3> thread(12 * 24), blocks(12 * 24);
  Buffer<dim3> shape(1);
  cudaMemset(thread.data, 0x7f, 12 * 24 * sizeof(uint3));
  const With workers(cpu_cuda::Order::forward, 0, 2);
  whoAmI<<<grid, block>>>(thread.data, blocks.data, shape.data);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  const auto t = thread.host(), b = blocks.host();
  int wrong = 0;
  for (unsigned i = 0; i < 12 * 24; ++i) {
    const unsigned in = i % 24, at = i / 24;
    wrong += t[i].x != in % 4 || t[i].y != in / 4 % 3 || t[i].z != in / 12;
    wrong += b[i].x != at % 3 || b[i].y != at / 3 % 2 || b[i].z != at / 6;
  }
  CHECK(wrong == 0);
  CHECK(shape.host()[0].y == 3);
}

TEST_CASE("thread orders" * doctest::skip(cpu_cuda::tsan::kActive)) {
  const auto run = [](const With&) {
    Buffer<int> order(16), next(1);
    cudaMemset(next.data, 0, sizeof(int));
    arrivals<<<1, 8>>>(order.data, next.data);
    return order.host();
  };
  using cpu_cuda::Order;
  const std::vector<int> forward{0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7};
  const std::vector<int> reverse(forward.rbegin(), forward.rend());
  CHECK(run(With(Order::forward)) == forward);
  CHECK(run(With(Order::reverse)) == reverse);
  const auto one = run(With(Order::shuffle, 1)), two = run(With(Order::shuffle, 2));
  CHECK(one != forward);
  CHECK(one != two);
  CHECK(run(With(Order::shuffle, 1)) == one);
  const std::vector<int> before(one.begin(), one.begin() + 8);
  const std::vector<int> after(one.begin() + 8, one.end());
  CHECK(before != after);
  for (auto half : {before, after}) {
    std::sort(half.begin(), half.end());
    CHECK(half == std::vector<int>(forward.begin(), forward.begin() + 8));
  }
}

TEST_CASE("block orders visit every block once" *
          doctest::skip(cpu_cuda::tsan::kActive)) {
  const auto run = [](const With&) {
    Buffer<int> order(12), next(1);
    cudaMemset(next.data, 0, sizeof(int));
    blockArrivals<<<12, 1>>>(order.data, next.data);
    return order.host();
  };
  using cpu_cuda::Order;
  std::vector<int> forward(12);
  std::iota(forward.begin(), forward.end(), 0);
  CHECK(run(With(Order::forward)) == forward);
  CHECK(run(With(Order::reverse)) ==
        std::vector<int>(forward.rbegin(), forward.rend()));
  for (unsigned long long seed : {3ull, 4ull, ~0ull}) {
    auto shuffled = run(With(Order::shuffle, seed));
    CHECK(shuffled != forward);
    std::sort(shuffled.begin(), shuffled.end());
    CHECK(shuffled == forward);
  }
}

TEST_CASE("a kernel with barriers, in every order and size") {
  using cpu_cuda::Order;
  for (Order order : {Order::forward, Order::reverse, Order::shuffle}) {
    const With with(order, 7);
    for (int n : {1, 2, 31, 256, 1024}) {
      if (cpu_cuda::tsan::kActive && n > 256) continue;  // minutes
      Buffer<int> data(n);
      std::vector<int> host(n), expected(n);
      for (int i = 0; i < n; ++i) host[i] = i * i % 17 - 5;
      std::partial_sum(host.begin(), host.end(), expected.begin());
      cudaMemcpy(data.data, host.data(), n * sizeof(int), cudaMemcpyHostToDevice);
      scan<<<1, n>>>(data.data);
      CHECK(data.host() == expected);
    }
  }
}

TEST_CASE("templates, return without a barrier, and a launch in any expression") {
  Buffer<double> data(1);
  cudaMemset(data.data, 0, sizeof(double));
  const double one = 1.0;
  cudaMemcpy(data.data, &one, sizeof one, cudaMemcpyHostToDevice);
  if (data.size == 1)
    scale<3, double><<<1, 1>>>(data.data, 1, false);
  else
    scale<5, double><<<1, 1>>>(data.data, 1, false);
  CHECK(data.host()[0] == 3.0);
  const auto kernel = scale<2, double>;
  kernel<<<1, (data.size > 0 ? 1 : 2)>>>(data.data, 1.5f, true);
  CHECK(data.host()[0] == 27.0);
}

TEST_CASE("device functions and constants") {
  Buffer<int> out(3);
  helpers<<<1, 3>>>(out.data);
  CHECK(out.host() == std::vector<int>{5, 7, 9});
}

TEST_CASE("shared memory is poison when each block starts, and so is new memory") {
  Buffer<float> sum(1);
  Buffer<int> bytes(1);
  Buffer<unsigned char> dynamic(1);
  CHECK(std::isnan(sum.host()[0]));
  const With with(cpu_cuda::Order::forward);
  for (int blocks : {1, 2, 5}) {
    readsUnwritten<<<blocks, 16, 10>>>(sum.data, bytes.data, dynamic.data);
    CHECK(std::isnan(sum.host()[0]));
    CHECK(bytes.host()[0] == -2);
    CHECK(dynamic.host()[0] == 0xFF);
  }
}

TEST_CASE("dynamic shared memory") {
  Buffer<float> data(3);
  const std::vector<float> host{1, 2, 3};
  cudaMemcpy(data.data, host.data(), 12, cudaMemcpyHostToDevice);
  dynamicReverse<<<1, 3, 12>>>(data.data);
  CHECK(data.host() == std::vector<float>{3, 2, 1});
}

TEST_CASE("bad launches") {
  CHECK(launch_nothing(1, 1024) == cudaSuccess);
  CHECK(launch_nothing(dim3(1, 65535, 1), dim3(1, 1, 64)) == cudaSuccess);
  CHECK(launch_nothing(0, 1) == cudaErrorInvalidConfiguration);
  CHECK(launch_nothing(1, 0) == cudaErrorInvalidConfiguration);
  CHECK(launch_nothing(1, 1025) == cudaErrorInvalidConfiguration);
  CHECK(launch_nothing(1, dim3(32, 33)) == cudaErrorInvalidConfiguration);
  CHECK(launch_nothing(1, dim3(1, 1, 65)) == cudaErrorInvalidConfiguration);
  CHECK(launch_nothing(dim3(1, 65536), 1) == cudaErrorInvalidConfiguration);
  CHECK(launch_nothing(-1, 1) == cudaErrorInvalidConfiguration);
  CHECK(launch_nothing(1, dim3(65536, 65536)) == cudaErrorInvalidConfiguration);
  CHECK(launch_nothing(1, 1, 48 * 1024) == cudaSuccess);
  CHECK(launch_nothing(1, 1, 48 * 1024 + 1) == cudaErrorInvalidValue);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
}

TEST_CASE("more dynamic shared memory has to be asked for") {
  constexpr auto attribute = cudaFuncAttributeMaxDynamicSharedMemorySize;
  CHECK(cudaFuncSetAttribute(nothing, attribute, 100 * 1024) == cudaSuccess);
  CHECK(launch_nothing(1, 1, 100 * 1024) == cudaSuccess);
  CHECK(launch_nothing(1, 1, 100 * 1024 + 1) == cudaErrorInvalidValue);
  CHECK(cudaFuncSetAttribute(nothing, attribute, 228 * 1024) == cudaErrorInvalidValue);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
  cpu_cuda::shared_limits.clear();
}

TEST_CASE("a kernel cannot launch") {
  Buffer<cudaError_t> error(1);
  launches<<<1, 1>>>(error.data);
  CHECK(error.host()[0] == cudaErrorNotSupported);
}

TEST_CASE("a failed kernel fails every call until the device is reset") {
  int* out = nullptr;
  REQUIRE(cudaMalloc(&out, 64 * sizeof(int)) == cudaSuccess);
  halfWaits<<<1, 64>>>(out);
  CHECK(cudaPeekAtLastError() == cudaErrorLaunchFailure);
  CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
  CHECK(cudaGetLastError() == cudaErrorLaunchFailure);
  CHECK(cudaGetLastError() == cudaErrorLaunchFailure);
  void* memory = nullptr;
  CHECK(cudaMalloc(&memory, 1) == cudaErrorLaunchFailure);
  CHECK(memory == nullptr);
  CHECK(cudaDeviceReset() == cudaSuccess);
  CHECK(cudaGetLastError() == cudaSuccess);
  CHECK(cudaFree(out) == cudaErrorInvalidValue);
  CHECK(launch_nothing(1, 1) == cudaErrorInvalidValue);
}

TEST_CASE("memory: bad arguments, double frees, and bounds") {
  char host[16] = {};
  char* a = nullptr;
  CHECK(cudaMalloc(static_cast<char**>(nullptr), 1) == cudaErrorInvalidValue);
  CHECK(cudaMalloc(&a, std::size_t{1} << 60) == cudaErrorMemoryAllocation);
  CHECK(a == nullptr);
  CHECK(cudaMalloc(&a, 0) == cudaSuccess);
  CHECK(a == nullptr);
  REQUIRE(cudaMalloc(&a, 16) == cudaSuccess);
  CHECK(reinterpret_cast<std::uintptr_t>(a) % 256 == 0);
  CHECK(cudaMemset(a, 3, 16) == cudaSuccess);
  CHECK(cudaMemset(a, 3, 17) == cudaErrorInvalidValue);
  CHECK(cudaMemset(host, 3, 1) == cudaErrorInvalidValue);
  CHECK(cudaMemcpy(host, a + 8, 8, cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(host[7] == 3);
  CHECK(host[8] == 0);
  CHECK(cudaMemcpy(host, a + 8, 9, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
  CHECK(cudaMemcpy(a, host, 16, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
  CHECK(cudaMemcpy(host, a, 16, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  CHECK(cudaMemcpy(a, host, 16, cudaMemcpyDefault) == cudaSuccess);
  CHECK(cudaMemcpy(a, a + 8, 8, cudaMemcpyDeviceToDevice) == cudaSuccess);
  CHECK(cudaMemcpy(nullptr, a, 1, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
  CHECK(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(cudaMemcpy(a, host, 1, static_cast<cudaMemcpyKind>(7)) ==
        cudaErrorInvalidMemcpyDirection);
  CHECK(cudaFree(a + 1) == cudaErrorInvalidValue);
  CHECK(cudaFree(host) == cudaErrorInvalidValue);
  CHECK(cudaFree(a) == cudaSuccess);
  CHECK(cudaFree(a) == cudaErrorInvalidValue);
  CHECK(cudaFree(nullptr) == cudaSuccess);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
  CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE("copies of rows") {
  const std::array<char, 6> host{'a', 'b', 'c', 'd', 'e', 'f'};
  Buffer<char> a(10);
  cudaMemset(a.data, '.', 10);
  CHECK(cudaMemcpy2D(a.data, 4, host.data(), 3, 2, 2, cudaMemcpyHostToDevice) ==
        cudaSuccess);
  CHECK(a.host() ==
        std::vector<char>{'a', 'b', '.', '.', 'd', 'e', '.', '.', '.', '.'});
  CHECK(cudaMemcpy2DAsync(a.data, 4, host.data(), 2, 2, 3, cudaMemcpyHostToDevice) ==
        cudaSuccess);
  CHECK(a.host() ==
        std::vector<char>{'a', 'b', '.', '.', 'c', 'd', '.', '.', 'e', 'f'});
  CHECK(cudaMemcpy2D(a.data, 5, host.data(), 2, 2, 3, cudaMemcpyHostToDevice) ==
        cudaErrorInvalidValue);
  CHECK(cudaMemcpy2D(a.data, 1, host.data(), 2, 2, 1, cudaMemcpyHostToDevice) ==
        cudaErrorInvalidValue);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
}

TEST_CASE("streams") {
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  Buffer<int> out(2);
  helpers<<<1, 2, 0, stream>>>(out.data);
  int host[2] = {};
  CHECK(cudaMemcpyAsync(host, out.data, 8, cudaMemcpyDeviceToHost, stream) ==
        cudaSuccess);
  CHECK(cudaMemsetAsync(out.data, 0, 8, stream) == cudaSuccess);
  CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
  CHECK(host[1] == 7);
  CHECK(out.host()[1] == 0);
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
  CHECK(cudaStreamDestroy(stream) == cudaErrorInvalidResourceHandle);
  CHECK(cudaMemsetAsync(out.data, 0, 8, stream) == cudaErrorInvalidResourceHandle);
  CHECK(cudaGetLastError() == cudaErrorInvalidResourceHandle);
  helpers<<<1, 2, 0, stream>>>(out.data);
  CHECK(cudaGetLastError() == cudaErrorInvalidResourceHandle);
}

TEST_CASE("events") {
  cudaEvent_t start = nullptr, stop = nullptr;
  REQUIRE(cudaEventCreate(&start) == cudaSuccess);
  REQUIRE(cudaEventCreate(&stop) == cudaSuccess);
  float ms = -1;
  CHECK(cudaEventElapsedTime(&ms, start, stop) == cudaErrorInvalidResourceHandle);
  CHECK(cudaEventRecord(start) == cudaSuccess);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CHECK(cudaEventRecord(stop) == cudaSuccess);
  CHECK(cudaEventSynchronize(stop) == cudaSuccess);
  CHECK(cudaEventElapsedTime(&ms, start, stop) == cudaSuccess);
  CHECK(ms >= 5.0f);
  CHECK(ms < 5000.0f);
  CHECK(cudaFree(start) == cudaErrorInvalidValue);
  CHECK(cudaStreamDestroy(reinterpret_cast<cudaStream_t>(start)) ==
        cudaErrorInvalidResourceHandle);
  CHECK(cudaEventDestroy(start) == cudaSuccess);
  CHECK(cudaEventDestroy(start) == cudaErrorInvalidResourceHandle);
  CHECK(cudaEventRecord(start) == cudaErrorInvalidResourceHandle);
  CHECK(cudaEventDestroy(stop) == cudaSuccess);
  CHECK(cudaGetLastError() == cudaErrorInvalidResourceHandle);
}

TEST_CASE("the device says that it is a CPU") {
  int count = 0, device = -1, driver = -1, major = -1, value = -1;
  CHECK(cudaGetDeviceCount(&count) == cudaSuccess);
  CHECK(count == 1);
  CHECK(cudaGetDevice(&device) == cudaSuccess);
  CHECK(device == 0);
  CHECK(cudaSetDevice(0) == cudaSuccess);
  CHECK(cudaSetDevice(1) == cudaErrorInvalidDevice);
  cudaDeviceProp properties;
  CHECK(cudaGetDeviceProperties(&properties, 1) == cudaErrorInvalidDevice);
  CHECK(cudaGetDeviceProperties(&properties, 0) == cudaSuccess);
  CHECK(std::string(properties.name).find("CPU, ") == 0);
  CHECK(properties.major == 0);
  CHECK(properties.minor == 0);
  std::size_t free = 0, total = 0;
  CHECK(cudaMemGetInfo(&free, &total) == cudaSuccess);
  CHECK(total == properties.totalGlobalMem);
  CHECK(free < total);
  CHECK(total > 1 << 20);
  CHECK(cudaDriverGetVersion(&driver) == cudaSuccess);
  CHECK(driver == 0);
  CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0) ==
        cudaSuccess);
  CHECK(major == 0);
  CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxThreadsPerBlock, 0) ==
        cudaSuccess);
  CHECK(value == 1024);
  CHECK(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(5), 0) ==
        cudaErrorInvalidValue);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
}

TEST_CASE("names and texts of errors") {
  CHECK(std::string(cudaGetErrorName(cudaErrorInvalidConfiguration)) ==
        "cudaErrorInvalidConfiguration");
  CHECK(std::string(cudaGetErrorString(cudaErrorInvalidValue)) == "invalid argument");
  CHECK(std::string(cudaGetErrorString(static_cast<cudaError_t>(12345))) ==
        "unrecognized error code");
}

TEST_CASE("device arithmetic and vector types") {
  CHECK(__dp4a(0x01020304, 0x05060708, 10) == 10 + 5 + 12 + 21 + 32);
  CHECK(__dp4a(0x000000FF, 0x00000080, 0) == 128);
  CHECK(__dp4a(static_cast<int>(0x80808080), static_cast<int>(0x80808080), -1) ==
        65535);
  CHECK(__float2int_rn(2.5f) == 2);
  CHECK(__float2int_rn(-3.5f) == -4);
  CHECK(make_float4(1, 2, 3, 4).w == 4.0f);
  CHECK(alignof(float4) == 16);
  CHECK(alignof(int2) == 8);
  CHECK(sizeof(char4) == 4);
  CHECK(sizeof(uint3) == 12);
  const dim3 shape = make_uint3(2, 3, 4);
  CHECK(shape.z == 4);
  CHECK(dim3(7).y == 1);
}
