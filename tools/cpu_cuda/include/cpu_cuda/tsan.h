// ThreadSanitizer as a race detector for kernels: each CUDA thread is a context of its
// own, and nothing but the calls below orders one after another. No-ops in other
// builds.
#pragma once

#include <cstdio>
#include <vector>

#include "options.h"
#include "types.h"

#ifdef CPU_CUDA_TSAN
#include <sanitizer/tsan_interface.h>
// The engine's own bookkeeping runs in every context and is no part of the kernel.
#define CPU_CUDA_ENGINE __attribute__((no_sanitize("thread")))
#else
#define CPU_CUDA_ENGINE
#endif

namespace cpu_cuda::tsan {

#ifdef CPU_CUDA_TSAN
inline constexpr bool kActive = true;
using Context = void*;
inline Context current() {
  return __tsan_get_current_fiber();
}
CPU_CUDA_ENGINE inline void enter(Context c) {
  __tsan_switch_to_fiber(c, 1);
}
CPU_CUDA_ENGINE inline void release(char& token) {
  __tsan_release(&token);
}
CPU_CUDA_ENGINE inline void acquire(char& token) {
  __tsan_acquire(&token);
}

// Contexts are dear to make, so an operating system thread keeps those it has.
struct Pool {
  std::vector<Context> contexts;
  ~Pool() {
    for (Context each : contexts) __tsan_destroy_fiber(each);
  }
};

inline Context context(unsigned i, const uint3& id) {
  static thread_local Pool pool;
  while (pool.contexts.size() <= i) pool.contexts.push_back(__tsan_create_fiber(0));
  char name[64];
  std::snprintf(name, sizeof name, "CUDA thread (%u,%u,%u)", id.x, id.y, id.z);
  __tsan_set_fiber_name(pool.contexts[i], name);
  return pool.contexts[i];
}
#else
inline constexpr bool kActive = false;
struct Context {};
inline Context current() {
  return {};
}
inline void enter(Context) {}
inline void release(char&) {}
inline void acquire(char&) {}
inline Context context(unsigned, const uint3&) {
  return {};
}
#endif

}  // namespace cpu_cuda::tsan
