// SPDX-License-Identifier: MIT
//
// What the tensor cores of this card could do.
//
//   nvcc -std=c++17 -O3 -arch=sm_75 -o capability-report capability-report.cu

// pull: src/quant_matmul.cu#includes
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

// pull: src/quant_matmul.cu#capability-report
// What this card's tensor cores could do; none of it is used or timed here.
void printCapabilities() {
  int device = 0;
  cudaDeviceProp properties;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
  const int capability = 10 * properties.major + properties.minor;
  const auto from = [&](int needed) { return capability >= needed ? "yes" : "no"; };
  std::printf("GPU: %s (compute capability %d.%d)\n\n", properties.name,
              properties.major, properties.minor);
  std::printf("tensor-core support (compute capability %d.%d)\n", properties.major,
              properties.minor);
  std::printf("  INT8 tensor cores                      %s\n", from(75));
  std::printf("  2:4 sparse tensor cores (cuSPARSELt)   %s\n", from(80));
  std::printf("  FP8 e4m3/e5m2 tensor cores             %s\n", from(89));
  std::printf(
      "  this program uses none of them: its INT8 loop runs on CUDA cores,\n"
      "  and its FP8 and 2:4 rows are host arithmetic\n");
}
// end pull

int main() try {
  printCapabilities();
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
