// What the environment may choose: CPU_CUDA_ORDER, CPU_CUDA_WORKERS, CPU_CUDA_LEAKS.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#if defined(__SANITIZE_THREAD__)
#define CPU_CUDA_TSAN 1
#elif defined(__SANITIZE_ADDRESS__)
#define CPU_CUDA_ASAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CPU_CUDA_TSAN 1
#elif __has_feature(address_sanitizer)
#define CPU_CUDA_ASAN 1
#endif
#endif

namespace cpu_cuda {

enum class Order { forward, reverse, shuffle };

/// `order`: in which the threads of a block run up to each barrier, and the blocks of
/// a grid start. A correct kernel gives the same result in each.
struct Options {
  Order order = Order::forward;
  unsigned long long seed = 0;
  unsigned workers = 1;  // operating system threads that share the blocks
  bool leaks = false;    // report at exit what was never freed, and exit 23
};

#ifdef CPU_CUDA_ASAN  // sees no red zones around memory of one thread: see engine.h
inline constexpr unsigned kMaxWorkers = 1;
#else
inline constexpr unsigned kMaxWorkers = 1024;
#endif

/// Every core; one under ThreadSanitizer, whose contexts are dear to make.
inline unsigned default_workers() {
#ifdef CPU_CUDA_TSAN
  return 1;
#else
  return std::clamp(std::thread::hardware_concurrency(), 1u, kMaxWorkers);
#endif
}

/// The whole of `text` as a decimal number up to `limit`, or false.
inline bool read_number(const char* text, unsigned long long limit,
                        unsigned long long& value) {
  if (*text < '0' || *text > '9') return false;
  errno = 0;
  char* end = nullptr;
  value = std::strtoull(text, &end, 10);
  return errno == 0 && *end == '\0' && value <= limit;
}

/// The options of this process. A bad value or a name that is none of the three: one
/// line on stderr, exit 2.
inline Options read_environment() {
  Options options;
  options.workers = default_workers();
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (std::strncmp(*entry, "CPU_CUDA_", 9) != 0) continue;
    const char* equals = std::strchr(*entry, '=');
    const char* value = equals + 1;
    const auto is = [&](const char* name) {
      return std::strncmp(*entry, name, equals - *entry) == 0 &&
             name[equals - *entry] == '\0';
    };
    unsigned long long number = 0;
    const char* error = nullptr;
    if (is("CPU_CUDA_ORDER")) {
      if (std::strncmp(value, "shuffle:", 8) == 0 &&
          read_number(value + 8, ~0ull, options.seed)) {
        options.order = Order::shuffle;
      } else if (std::strcmp(value, "reverse") == 0) {
        options.order = Order::reverse;
      } else if (std::strcmp(value, "forward") != 0) {
        error = "expected forward, reverse or shuffle:SEED";
      }
    } else if (is("CPU_CUDA_WORKERS")) {
      error = read_number(value, kMaxWorkers, number) && number > 0 ? nullptr
              : kMaxWorkers == 1 ? "expected 1 in this sanitizer build"
                                 : "expected 1 to 1024";
      options.workers = static_cast<unsigned>(number);
    } else if (is("CPU_CUDA_LEAKS")) {
      error = read_number(value, 1, number) ? nullptr : "expected 0 or 1";
      options.leaks = number == 1;
    } else {
      error = "no such variable; there are CPU_CUDA_ORDER, _WORKERS and _LEAKS";
    }
    if (error != nullptr) {
      std::fprintf(stderr, "%s: %s\n", *entry, error);
      std::exit(2);
    }
  }
  return options;
}

inline Options options = read_environment();

}  // namespace cpu_cuda
