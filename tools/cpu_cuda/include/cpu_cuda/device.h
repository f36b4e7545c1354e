// What the device remembers: its memory, events and streams, and the last error.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "errors.h"
#include "options.h"

namespace cpu_cuda {

/// Memory that nobody wrote yet holds this: a NaN in any floating-point type, -1 in
/// any signed integer.
inline constexpr unsigned char kPoison = 0xFF;

/// Something the program made and has to give back, and the line that made it.
struct Resource {
  enum class Kind { memory, event, stream };
  Kind kind;
  std::size_t size;  // bytes of memory, else 1
  const char* file;
  int line;
};

/// Bytes of memory that this machine has.
inline std::size_t memory_size() {
  return static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
}

class Device {
 public:
  ~Device() {
    if (!options.leaks || made_.empty()) return;
    for (const auto& [address, each] : made_) {
      static const char* const kinds[] = {"bytes of device memory", "event", "stream"};
      std::fprintf(stderr, "%s:%d: leak: %zu %s\n", each.file, each.line, each.size,
                   kinds[static_cast<int>(each.kind)]);
    }
    std::fflush(nullptr);
    std::_Exit(23);
  }

  /// Memory of `bytes` bytes; null when the machine has not that much.
  void* make(const Resource& resource, std::size_t bytes) {
    if (bytes > memory_size()) return nullptr;
    // 256 bytes is what cudaMalloc aligns to; the block itself is exactly as large as
    // asked for, so that AddressSanitizer sees the first byte past it.
    void* address = nullptr;
    if (posix_memalign(&address, 256, bytes) != 0) return nullptr;
    std::memset(address, kPoison, bytes);
    const std::lock_guard<std::mutex> lock(mutex_);
    made_[static_cast<char*>(address)] = resource;
    return address;
  }

  /// False when there is no such thing, or no longer.
  bool give_back(void* address, Resource::Kind kind) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = made_.find(static_cast<char*>(address));
    if (found == made_.end() || found->second.kind != kind) return false;
    std::free(const_cast<char*>(found->first));
    made_.erase(found);
    return true;
  }

  bool has(const void* address, Resource::Kind kind) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = made_.find(static_cast<const char*>(address));
    return found != made_.end() && found->second.kind == kind;
  }

  /// How many bytes of device memory start at `address`: 0 when it is not the device's.
  std::size_t bytes_from(const void* address) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto* at = static_cast<const char*>(address);
    auto next = made_.upper_bound(at);
    if (next == made_.begin()) return 0;
    const auto& [begin, resource] = *--next;
    const auto offset = static_cast<std::size_t>(at - begin);
    if (resource.kind != Resource::Kind::memory || offset > resource.size) return 0;
    return resource.size - offset;
  }

  void reset() {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& each : made_) std::free(const_cast<char*>(each.first));
    made_.clear();
    broken = false;
  }

  bool broken = false;  // a kernel failed: every call does from then on

 private:
  std::mutex mutex_;
  std::map<const char*, Resource> made_;
};

inline Device device;
inline thread_local cudaError_t last_error = cudaSuccess;

/// Remembers a failure for cudaGetLastError; every API function returns through this.
inline cudaError_t result(cudaError_t error) {
  if (device.broken) error = cudaErrorLaunchFailure;
  if (error != cudaSuccess) last_error = error;
  return error;
}

}  // namespace cpu_cuda
