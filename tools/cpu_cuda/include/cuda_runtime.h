// The CUDA runtime on a CPU: a subset, for standalone .cu programs and their tests.
// What is missing here does not compile; README.md lists what there is.
#pragma once

#include <math.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <cstring>
#include <string>

#include "cpu_cuda/device.h"
#include "cpu_cuda/engine.h"
#include "cpu_cuda/errors.h"
#include "cpu_cuda/types.h"

// ---- Streams and events: every call has finished when it returns.

struct CUstream_st;
using cudaStream_t = CUstream_st*;
struct CUevent_st {
  bool recorded = false;
  std::chrono::steady_clock::time_point time{};
};
using cudaEvent_t = CUevent_st*;

// ---- Launches.

namespace cpu_cuda {

template <class... Arguments>
struct Call {
  Grid grid;
  cudaStream_t stream;
  std::tuple<Arguments&&...> arguments;
};

struct Launch {
  Grid grid;
  cudaStream_t stream;
  template <class... Arguments>
  Call<Arguments...> operator()(Arguments&&... arguments) const {
    return {grid, stream, {std::forward<Arguments>(arguments)...}};
  }
};

inline Launch launch(dim3 grid, dim3 block, std::size_t shared_bytes = 0,
                     cudaStream_t stream = nullptr) {
  return {{grid, block, shared_bytes, nullptr, nullptr}, stream};
}

inline std::map<const void*, std::size_t> shared_limits;  // by kernel, where raised

inline cudaError_t check_launch(const Grid& grid, cudaStream_t stream,
                                const void* kernel) {
  const auto [gx, gy, gz] = uint3(grid.grid);
  const auto [bx, by, bz] = uint3(grid.block);
  const std::uint64_t threads = std::uint64_t{bx} * by * bz;
  if (gx == 0 || gy == 0 || gz == 0 || gx > INT_MAX || gy > 65535 || gz > 65535 ||
      threads == 0 || bx > 1024 || by > 1024 || bz > 64 || threads > kMaxThreads) {
    return cudaErrorInvalidConfiguration;
  }
  const auto raised = shared_limits.find(kernel);
  const std::size_t limit =
      raised == shared_limits.end() ? kMaxStaticShared : raised->second;
  if (grid.shared_bytes > limit) return cudaErrorInvalidValue;
  if (stream != nullptr && !device.has(stream, Resource::Kind::stream)) {
    return cudaErrorInvalidResourceHandle;
  }
  return worker == nullptr ? cudaSuccess : cudaErrorNotSupported;
}

/// What a rewritten launch calls.
template <class... Parameters, class... Arguments>
void operator->*(void (*kernel)(Parameters...), Call<Arguments...> call) {
  static_assert(sizeof...(Parameters) == sizeof...(Arguments),
                "a kernel launch needs an argument for each parameter");
  const void* key = reinterpret_cast<const void*>(kernel);
  if (result(check_launch(call.grid, call.stream, key)) != cudaSuccess) return;
  using Bound = std::pair<void (*)(Parameters...), std::tuple<Parameters...>>;
  const Bound bound(kernel, std::move(call.arguments));
  call.grid.bound = &bound;
  call.grid.start = [](const void* memory) {
    const Bound& all = *static_cast<const Bound*>(memory);
    std::apply(all.first, all.second);
  };
  if (!run(call.grid)) {
    device.broken = true;
    result(cudaErrorLaunchFailure);
  }
}

}  // namespace cpu_cuda

enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout = 9,
};
template <class... Parameters>
cudaError_t cudaFuncSetAttribute(void (*kernel)(Parameters...),
                                 cudaFuncAttribute attribute, int value) {
  if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize) {
    const auto bytes = static_cast<std::size_t>(value);
    if (value < 0 || bytes > cpu_cuda::kMaxDynamicShared) {
      return cpu_cuda::result(cudaErrorInvalidValue);
    }
    cpu_cuda::shared_limits[reinterpret_cast<const void*>(kernel)] = bytes;
  }
  return cpu_cuda::result(cudaSuccess);
}

// ---- Errors.

inline cudaError_t cudaPeekAtLastError() {
  return cpu_cuda::last_error;
}
inline cudaError_t cudaGetLastError() {
  const cudaError_t error = cpu_cuda::last_error;
  cpu_cuda::last_error = cpu_cuda::device.broken ? cudaErrorLaunchFailure : cudaSuccess;
  return error;
}

// ---- Memory.

enum cudaMemcpyKind {
  cudaMemcpyHostToHost = 0,
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost = 2,
  cudaMemcpyDeviceToDevice = 3,
  cudaMemcpyDefault = 4,
};

namespace cpu_cuda {

/// Are `bytes` from here the device's, or not at all the device's, as `expected` says?
inline bool is_side(const void* memory, std::size_t bytes, bool expected, bool any) {
  const std::size_t there = device.bytes_from(memory);
  if (there > 0) return (expected || any) && bytes <= there;
  return !expected || any;
}

inline cudaError_t check_copy(const void* to, std::size_t to_bytes, const void* from,
                              std::size_t from_bytes, cudaMemcpyKind kind) {
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) {
    return cudaErrorInvalidMemcpyDirection;
  }
  if (to_bytes == 0) return cudaSuccess;
  if (to == nullptr || from == nullptr) return cudaErrorInvalidValue;
  const bool any = kind == cudaMemcpyDefault;
  const bool good = is_side(to, to_bytes, (kind & 1) != 0, any) &&
                    is_side(from, from_bytes, (kind & 2) != 0, any);
  return good ? cudaSuccess : cudaErrorInvalidValue;
}

}  // namespace cpu_cuda

template <class T>
cudaError_t cudaMalloc(T** memory, std::size_t bytes,
                       const char* file = __builtin_FILE(),
                       int line = __builtin_LINE()) {
  using namespace cpu_cuda;
  if (memory == nullptr) return result(cudaErrorInvalidValue);
  *memory = nullptr;
  if (bytes == 0 || device.broken) return result(cudaSuccess);
  *memory =
      static_cast<T*>(device.make({Resource::Kind::memory, bytes, file, line}, bytes));
  return result(*memory == nullptr ? cudaErrorMemoryAllocation : cudaSuccess);
}

inline cudaError_t cudaFree(void* memory) {
  using namespace cpu_cuda;
  const bool good =
      memory == nullptr || device.give_back(memory, Resource::Kind::memory);
  return result(good ? cudaSuccess : cudaErrorInvalidValue);
}

inline cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes,
                              cudaMemcpyKind kind) {
  const cudaError_t error = cpu_cuda::check_copy(to, bytes, from, bytes, kind);
  if (error == cudaSuccess && bytes > 0) std::memmove(to, from, bytes);
  return cpu_cuda::result(error);
}

/// `height` rows of `width` bytes; rows start `*_pitch` bytes apart.
inline cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from,
                                std::size_t from_pitch, std::size_t width,
                                std::size_t height, cudaMemcpyKind kind) {
  if (width > to_pitch || width > from_pitch) {
    return cpu_cuda::result(cudaErrorInvalidValue);
  }
  const bool none = width == 0 || height == 0;
  const cudaError_t error =
      none ? cudaSuccess
           : cpu_cuda::check_copy(to, to_pitch * (height - 1) + width, from,
                                  from_pitch * (height - 1) + width, kind);
  for (std::size_t y = 0; y < height && !none && error == cudaSuccess; ++y) {
    std::memmove(static_cast<char*>(to) + y * to_pitch,
                 static_cast<const char*>(from) + y * from_pitch, width);
  }
  return cpu_cuda::result(error);
}

inline cudaError_t cudaMemset(void* memory, int value, std::size_t bytes) {
  const bool good = bytes == 0 || cpu_cuda::device.bytes_from(memory) >= bytes;
  if (good && bytes > 0) std::memset(memory, value, bytes);
  return cpu_cuda::result(good ? cudaSuccess : cudaErrorInvalidValue);
}

inline cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  *free = static_cast<std::size_t>(sysconf(_SC_AVPHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  *total = cpu_cuda::memory_size();
  return cpu_cuda::result(cudaSuccess);
}

// ---- Streams.

inline cudaError_t cudaStreamCreate(cudaStream_t* stream,
                                    const char* file = __builtin_FILE(),
                                    int line = __builtin_LINE()) {
  using namespace cpu_cuda;
  if (stream == nullptr) return result(cudaErrorInvalidValue);
  *stream = static_cast<cudaStream_t>(
      device.make({Resource::Kind::stream, 1, file, line}, 1));
  return result(cudaSuccess);
}

inline cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  using namespace cpu_cuda;
  const bool good = stream == nullptr || device.has(stream, Resource::Kind::stream);
  return result(good ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

inline cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  using namespace cpu_cuda;
  const bool good = device.give_back(stream, Resource::Kind::stream);
  return result(good ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

inline cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes,
                                   cudaMemcpyKind kind, cudaStream_t stream = nullptr) {
  const cudaError_t error = cudaStreamSynchronize(stream);
  return error != cudaSuccess ? error : cudaMemcpy(to, from, bytes, kind);
}

inline cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                                     std::size_t from_pitch, std::size_t width,
                                     std::size_t height, cudaMemcpyKind kind,
                                     cudaStream_t stream = nullptr) {
  const cudaError_t error = cudaStreamSynchronize(stream);
  return error != cudaSuccess
             ? error
             : cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind);
}

inline cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes,
                                   cudaStream_t stream = nullptr) {
  const cudaError_t error = cudaStreamSynchronize(stream);
  return error != cudaSuccess ? error : cudaMemset(memory, value, bytes);
}

// ---- Events.

inline cudaError_t cudaEventCreate(cudaEvent_t* event,
                                   const char* file = __builtin_FILE(),
                                   int line = __builtin_LINE()) {
  using namespace cpu_cuda;
  if (event == nullptr) return result(cudaErrorInvalidValue);
  const Resource resource{Resource::Kind::event, 1, file, line};
  *event = new (device.make(resource, sizeof(CUevent_st))) CUevent_st;
  return result(cudaSuccess);
}

inline cudaError_t cudaEventDestroy(cudaEvent_t event) {
  using namespace cpu_cuda;
  const bool good = device.give_back(event, Resource::Kind::event);
  return result(good ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr) {
  using namespace cpu_cuda;
  if (!device.has(event, Resource::Kind::event)) {
    return result(cudaErrorInvalidResourceHandle);
  }
  event->time = std::chrono::steady_clock::now();
  event->recorded = true;
  return cudaStreamSynchronize(stream);
}

inline cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  using namespace cpu_cuda;
  const bool good = device.has(event, Resource::Kind::event);
  return result(good ? cudaSuccess : cudaErrorInvalidResourceHandle);
}
inline cudaError_t cudaEventQuery(cudaEvent_t event) {
  return cudaEventSynchronize(event);
}

inline cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start,
                                        cudaEvent_t stop) {
  using namespace cpu_cuda;
  if (milliseconds == nullptr) return result(cudaErrorInvalidValue);
  if (!device.has(start, Resource::Kind::event) ||
      !device.has(stop, Resource::Kind::event) || !start->recorded || !stop->recorded) {
    return result(cudaErrorInvalidResourceHandle);
  }
  *milliseconds =
      std::chrono::duration<float, std::milli>(stop->time - start->time).count();
  return result(cudaSuccess);
}

// ---- The device.

inline cudaError_t cudaDeviceSynchronize() {
  return cpu_cuda::result(cudaSuccess);
}
inline cudaError_t cudaDeviceReset() {
  cpu_cuda::device.reset();
  cpu_cuda::last_error = cudaSuccess;
  return cudaSuccess;
}

inline cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cpu_cuda::result(cudaSuccess);
}
inline cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cpu_cuda::result(cudaSuccess);
}
inline cudaError_t cudaSetDevice(int device) {
  return cpu_cuda::result(device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}
/// No driver is installed: 0, as CUDA has it.
inline cudaError_t cudaDriverGetVersion(int* version) {
  *version = 0;
  return cpu_cuda::result(cudaSuccess);
}
inline cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cpu_cuda::result(cudaSuccess);
}

enum cudaDeviceAttr {
  cudaDevAttrMaxThreadsPerBlock = 1,
  cudaDevAttrMaxSharedMemoryPerBlock = 8,
  cudaDevAttrWarpSize = 10,
  cudaDevAttrClockRate = 13,
  cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrMemoryClockRate = 36,
  cudaDevAttrGlobalMemoryBusWidth = 37,
  cudaDevAttrL2CacheSize = 38,
  cudaDevAttrComputeCapabilityMajor = 75,
  cudaDevAttrComputeCapabilityMinor = 76,
  cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
};

/// Compute capability 0.0: no GPU's. Clocks, bus and cache are 0, that is not known.
inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute,
                                          int device) {
  using namespace cpu_cuda;
  if (value == nullptr) return result(cudaErrorInvalidValue);
  if (device != 0) return result(cudaErrorInvalidDevice);
  *value = 0;
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
      *value = kMaxThreads;
      break;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      *value = kMaxStaticShared;
      break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      *value = kMaxDynamicShared;
      break;
    case cudaDevAttrWarpSize:
      *value = warpSize;
      break;
    case cudaDevAttrMultiProcessorCount:
      *value = options.workers;
      break;
    case cudaDevAttrComputeCapabilityMajor:
    case cudaDevAttrComputeCapabilityMinor:
    case cudaDevAttrClockRate:
    case cudaDevAttrMemoryClockRate:
    case cudaDevAttrGlobalMemoryBusWidth:
    case cudaDevAttrL2CacheSize:
      break;
    default:
      return result(cudaErrorInvalidValue);
  }
  return result(cudaSuccess);
}

struct cudaDeviceProp {
  char name[256];
  std::size_t totalGlobalMem, sharedMemPerBlock, sharedMemPerBlockOptin;
  int warpSize, maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3];
  int major, minor, multiProcessorCount;
};

inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  using namespace cpu_cuda;
  if (properties == nullptr) return result(cudaErrorInvalidValue);
  if (device != 0) return result(cudaErrorInvalidDevice);
  *properties = {};
  std::snprintf(properties->name, sizeof properties->name, "CPU, %u worker%s (no GPU)",
                options.workers, options.workers == 1 ? "" : "s");
  properties->totalGlobalMem = memory_size();
  properties->sharedMemPerBlock = kMaxStaticShared;
  properties->sharedMemPerBlockOptin = kMaxDynamicShared;
  properties->warpSize = warpSize;
  properties->maxThreadsPerBlock = kMaxThreads;
  const int block[3] = {1024, 1024, 64}, grid[3] = {INT_MAX, 65535, 65535};
  std::copy(block, block + 3, properties->maxThreadsDim);
  std::copy(grid, grid + 3, properties->maxGridSize);
  properties->multiProcessorCount = static_cast<int>(options.workers);
  return result(cudaSuccess);
}

// ---- Device functions.

using std::max;
using std::min;

/// The dot product of four signed bytes, added to `sum`.
inline int __dp4a(int a, int b, int sum) {
  for (int shift = 0; shift < 32; shift += 8) {
    sum += static_cast<signed char>(a >> shift) * static_cast<signed char>(b >> shift);
  }
  return sum;
}
template <class T>
T __ldg(const T* memory) {
  return *memory;
}
inline int __float2int_rn(float x) {
  return static_cast<int>(std::lrint(x));
}
