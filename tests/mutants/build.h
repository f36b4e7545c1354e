// Running commands, and building what is not up to date.
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

namespace mutants {

using Words = std::vector<std::string>;

struct Run {
  int code;  // 124: it took too long
  std::string out, err;
};

// Seconds: a run of a mutant takes one or two, a build or a sanitizer longer.
constexpr int kRunLimit = 20, kLongLimit = 600;

/// The child's output goes to files in `folder`.
Run run(const Words& words, const std::filesystem::path& folder, int limit = kRunLimit);

/// Runs the command, which makes `output`, unless it was made by the same command and
/// is newer than `source`, the files that the command names and its include folders.
/// Throws std::runtime_error with the compiler's words.
void build(Words command, const std::filesystem::path& source,
           const std::filesystem::path& output);

void write_if_changed(const std::filesystem::path& file, const std::string& text);

/// Runs job(0) to job(count - 1) on all cores. Throws the first error.
template <typename Job>
void on_all_cores(std::size_t count, const Job& job) {
  std::atomic<std::size_t> next{0};
  std::vector<std::exception_ptr> errors(count);
  std::vector<std::thread> workers;
  for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i) {
    workers.emplace_back([&] {
      for (std::size_t at; (at = next++) < count;) {
        try {
          job(at);
        } catch (...) {
          errors[at] = std::current_exception();
        }
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  for (const auto& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

}  // namespace mutants
