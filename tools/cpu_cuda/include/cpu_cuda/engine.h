// Runs a grid: blocks are spread over operating system threads, the threads of a block
// are coroutines that one of them resumes in turn, barrier by barrier.
#pragma once

#include <algorithm>
#include <atomic>
#include <coroutine>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <numeric>
#include <random>
#include <thread>
#include <tuple>
#include <type_traits>
#include <vector>

#include "device.h"
#include "options.h"
#include "tsan.h"
#include "types.h"

// A block stays on one operating system thread. AddressSanitizer puts red zones around
// static memory only, and has the one worker that makes this right.
#ifdef CPU_CUDA_ASAN
#define __shared__ static
#else
#define __shared__ static thread_local
#endif

// In C++ this makes the kernel around it a coroutine; a kernel without stays a
// function.
#define __syncthreads() (co_await ::cpu_cuda::Barrier{{__FILE__, __LINE__}})

inline thread_local uint3 threadIdx{}, blockIdx{};
inline thread_local dim3 blockDim{}, gridDim{};
inline constexpr int warpSize = 32;

namespace cpu_cuda {

inline constexpr unsigned kMaxThreads = 1024;
inline constexpr std::size_t kMaxStaticShared = 48 * 1024;
inline constexpr std::size_t kMaxDynamicShared = 227 * 1024;  // after opting in

inline constexpr std::size_t kStackStride = 4096;  // of CUDA threads under TSan

struct Site {
  const char* file;
  int line;
};

/// A kernel bound to its arguments: `start(bound)` calls it once, for one thread.
struct Grid {
  dim3 grid, block;
  std::size_t shared_bytes;
  void (*start)(const void* bound);
  const void* bound;
};

struct Thread {
  uint3 id;
  void* frame;  // of the coroutine; null while the kernel has met no barrier
  tsan::Context context;
};

/// One operating system thread's part of a launch.
class Worker {
 public:
  explicit Worker(const Grid& grid);
  ~Worker();

  /// Runs one block to its end. False after an error, which has been reported.
  bool run_block(std::uint64_t index);

  // Called by the coroutines.
  void* take_frame(std::size_t size);
  void arrive(void* frame, const Site& site);
  void depart() { tsan::acquire(barrier_[(round_ - 1) % 2]); }
  void poison(void* memory, std::size_t size);
  void* dynamic_shared() { return shared_.get(); }

 private:
  void run_thread(Thread& thread);
  bool converged();
  bool fail(const Site& site, const char* what);

  const Grid& grid_;
  unsigned count_;  // threads of a block
  std::unique_ptr<Thread[]> threads_;
  std::unique_ptr<unsigned[]> order_;
  std::unique_ptr<char[]> shared_;
  char* frames_ = nullptr;
  std::size_t frames_size_ = 0, frames_used_ = 0;
  void* poisoned_[64];
  unsigned poisoned_count_ = 0;

  Thread* running_ = nullptr;
  unsigned round_ = 0;    // barriers passed in this block
  unsigned arrived_ = 0;  // threads that wait at the next one
  Site site_{}, other_site_{};
  bool nested_ = false;
  tsan::Context own_context_ = tsan::current();
  // Two barrier tokens in turn: a thread that is already at the next barrier must not
  // seem to come before one that has yet to leave this one.
  char start_ = 0, barrier_[2] = {}, end_ = 0;
};

inline thread_local Worker* worker = nullptr;

inline Worker::Worker(const Grid& grid)
    : grid_(grid),
      count_(grid.block.x * grid.block.y * grid.block.z),
      threads_(new Thread[count_]),
      order_(new unsigned[count_]),
      shared_(new char[grid.shared_bytes]) {
  for (unsigned i = 0; i < count_; ++i) {
    const uint3 id{i % grid.block.x, i / grid.block.x % grid.block.y,
                   i / grid.block.x / grid.block.y};
    threads_[i] = {id, nullptr, tsan::context(i, id)};
    order_[i] = options.order == Order::reverse ? count_ - 1 - i : i;
  }
  blockDim = grid.block;
  gridDim = grid.grid;
  worker = this;
}

inline Worker::~Worker() {
  delete[] frames_;
  worker = nullptr;
}

CPU_CUDA_ENGINE inline bool Worker::run_block(std::uint64_t index) {
  const dim3& grid = grid_.grid;
  blockIdx = {static_cast<unsigned>(index % grid.x),
              static_cast<unsigned>(index / grid.x % grid.y),
              static_cast<unsigned>(index / grid.x / grid.y)};
  std::minstd_rand random(static_cast<unsigned>(options.seed * 2654435761u + index));
  frames_used_ = 0;
  poisoned_count_ = 0;
  poison(shared_.get(), grid_.shared_bytes);
  tsan::release(start_);
  for (unsigned i = 0; i < count_; ++i) threads_[i].frame = nullptr;
  for (round_ = 0;; ++round_) {
    arrived_ = 0;
    if (options.order == Order::shuffle) {
      std::shuffle(order_.get(), order_.get() + count_, random);
    }
    for (unsigned i = 0; i < count_; ++i) run_thread(threads_[order_[i]]);
    if (arrived_ == 0 || !converged()) break;
  }
  tsan::acquire(end_);
  return arrived_ == 0;
}

CPU_CUDA_ENGINE inline void Worker::run_thread(Thread& thread) {
  threadIdx = thread.id;
  running_ = &thread;
#ifdef CPU_CUDA_TSAN
  // The threads' calls share this stack; apart from each other, no slot looks shared.
  static_cast<volatile char*>(
      alloca((&thread - threads_.get()) * kStackStride + 1))[0] = 0;
#endif
  tsan::enter(thread.context);
  if (round_ == 0) {
    tsan::acquire(start_);
    grid_.start(grid_.bound);
  } else {
    std::coroutine_handle<>::from_address(thread.frame).resume();
  }
  tsan::release(end_);
  tsan::enter(own_context_);
}

// Frames of one kernel have one size, and all of a block's live at once.
CPU_CUDA_ENGINE inline void* Worker::take_frame(std::size_t size) {
  size = (size + 15) / 16 * 16;
  if (frames_used_ == 0 && frames_size_ < size * count_) {
    tsan::enter(own_context_);
    delete[] frames_;
    frames_size_ = size * count_;
    frames_ = new char[frames_size_];
    tsan::release(start_);
    tsan::enter(running_->context);
    tsan::acquire(start_);
  }
  frames_used_ += size;
  // Only a barrier outside of the kernel, which arrive() reports, needs more.
  void* const frame = frames_used_ <= frames_size_ ? frames_ + frames_used_ - size
                                                   : ::operator new(size);
  // The kernel's own is the thread's first. Asking the promise for it would be too
  // early: since clang 15 the promise may still lie elsewhere while the coroutine
  // starts.
  if (running_->frame == nullptr) running_->frame = frame;
  return frame;
}

CPU_CUDA_ENGINE inline void Worker::arrive(void* frame, const Site& site) {
  if (frame != running_->frame) nested_ = true;
  if (arrived_++ == 0) site_ = other_site_ = site;
  if (site.line != site_.line) other_site_ = site;
  tsan::release(barrier_[round_ % 2]);
}

CPU_CUDA_ENGINE inline bool Worker::converged() {
  if (nested_) {
    return fail(site_, "a barrier outside of the __global__ function itself");
  }
  char what[160];
  if (arrived_ != count_) {
    std::snprintf(
        what, sizeof what,
        "barrier divergence: %u of %u threads wait here, the others have left "
        "the kernel",
        arrived_, count_);
    return fail(site_, what);
  }
  if (other_site_.line != site_.line) {
    std::snprintf(what, sizeof what,
                  "barrier divergence: some threads wait here, others at line %d",
                  other_site_.line);
    return fail(site_, what);
  }
  return true;
}

CPU_CUDA_ENGINE inline bool Worker::fail(const Site& site, const char* what) {
  std::fprintf(stderr, "%s:%d: %s; block (%u,%u,%u)\n", site.file, site.line, what,
               blockIdx.x, blockIdx.y, blockIdx.z);
  return false;
}

// Volatile: a call of memset would be seen by ThreadSanitizer as the kernel's own.
CPU_CUDA_ENGINE inline void Worker::poison(void* memory, std::size_t size) {
  for (unsigned i = 0; i < poisoned_count_; ++i) {
    if (poisoned_[i] == memory) return;
  }
  if (poisoned_count_ == 64) return;
  poisoned_[poisoned_count_++] = memory;
  auto* bytes = static_cast<volatile unsigned char*>(memory);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = kPoison;
}

/// Follows each `__shared__` declaration: the first thread of a block to come by fills
/// the memory, so that what the kernel reads before writing it is no lucky zero.
template <class... T>
CPU_CUDA_ENGINE inline void poison(T&... memory) {
  static_assert((sizeof(T) + ...) <= kMaxStaticShared, "over 48 KiB of shared memory");
  (worker->poison(&memory, sizeof(T)), ...);
}

/// The memory that the third launch parameter asked for, as any pointer.
struct DynamicShared {
  template <class T>
  operator T*() const {
    return static_cast<T*>(worker->dynamic_shared());
  }
};
inline DynamicShared dynamic_shared() {
  return {};
}

/// Starts at once, ends by itself; between barriers the worker holds its handle.
struct Kernel {
  CPU_CUDA_ENGINE static void* operator new(std::size_t n) {
    return worker->take_frame(n);
  }
  static void operator delete(void*) {}
  void get_return_object() {}
  std::suspend_never initial_suspend() noexcept { return {}; }
  std::suspend_never final_suspend() noexcept { return {}; }
  void return_void() {}
  void unhandled_exception() { std::terminate(); }
};

struct Barrier {
  Site site;
  bool await_ready() const noexcept { return false; }
  // Not inlined: into the part of a kernel before its first barrier, clang 22 would,
  // and then drop what that part leaves in the frame.
  CPU_CUDA_ENGINE __attribute__((noinline)) void await_suspend(
      std::coroutine_handle<> frame) const noexcept {
    worker->arrive(frame.address(), site);
  }
  CPU_CUDA_ENGINE void await_resume() const noexcept { worker->depart(); }
};

/// Runs every block; false when one of them failed. Returns when all have ended.
inline bool run(const Grid& grid) {
  const std::uint64_t blocks =
      static_cast<std::uint64_t>(grid.grid.x) * grid.grid.y * grid.grid.z;
  const std::uint64_t workers = std::min<std::uint64_t>(options.workers, blocks);
  std::atomic<std::uint64_t> next{0};
  std::atomic<bool> good{true};
  // Any stride without a common factor visits every block once.
  std::uint64_t stride = options.order == Order::shuffle ? options.seed % 65521 + 1 : 1;
  while (std::gcd(stride, blocks) != 1) ++stride;
  // Under ThreadSanitizer a block waits until the one before it has run, and a worker
  // until the last one has: it finds the same races in every run, since it may miss one
  // between accesses at the same moment, or with a worker that is gone. Relaxed, the
  // waiting is no order in its eyes.
  std::atomic<std::uint64_t> turn{0};
  const auto wait_for_turn = [&](std::uint64_t block) {
    while (tsan::kActive && turn.load(std::memory_order_relaxed) < block &&
           good.load(std::memory_order_relaxed)) {
      std::this_thread::yield();
    }
    return good.load(std::memory_order_relaxed);
  };
  const auto work = [&](std::uint64_t first) {
    Worker worker(grid);
    for (std::uint64_t i = first; i < blocks && wait_for_turn(i);) {
      const std::uint64_t block =
          options.order == Order::reverse ? blocks - 1 - i : i * stride % blocks;
      if (!worker.run_block(block)) good.store(false, std::memory_order_relaxed);
      if (tsan::kActive) turn.store(i + 1, std::memory_order_relaxed);
      i = tsan::kActive ? i + workers
                        : workers + next.fetch_add(1, std::memory_order_relaxed);
    }
    wait_for_turn(blocks);
  };
  std::vector<std::thread> others;
  for (std::uint64_t i = 1; i < workers; ++i) others.emplace_back(work, i);
  work(0);
  for (std::thread& each : others) each.join();
  return good;
}

}  // namespace cpu_cuda

template <class... Parameters>
struct std::coroutine_traits<void, Parameters...> {
  static_assert(
      !(std::is_reference_v<Parameters> || ...),
      "on a CPU a barrier must stand in a __global__ function itself, not in a "
      "lambda, a member or a helper");
  using promise_type = ::cpu_cuda::Kernel;
};
