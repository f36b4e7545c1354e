// Runs a program to its end, or ends it: never longer, and never larger, than stated.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace transcript {

struct RunLimits {
  std::chrono::milliseconds timeout{std::chrono::minutes(10)};
  /// Between SIGTERM and SIGKILL to the process group, and what a descendant gets that
  /// still holds the output open after the program ended.
  std::chrono::milliseconds grace{2000};
  std::size_t output = std::size_t{64} << 20;  // bytes of stdout; more ends the run
  std::size_t error = std::size_t{64} << 10;   // bytes of stderr that are kept
};

struct RunResult {
  enum class End { exited, signaled, timed_out, too_much_output, not_started };
  End end = End::not_started;
  int status = 0;          // exit status, or the signal's number
  std::string out, err;    // the bytes of stdout, the first ones of stderr
  double seconds = 0;      // wall time
  bool held_open = false;  // a descendant kept the output open, and was not waited for
  std::string reason;      // why it was not started

  bool ok() const { return end == End::exited && status == 0; }
};

/// Runs `command` (looked up in PATH unless it has a slash) in a process group of its
/// own with LC_ALL=C and no standard input, reading stdout and stderr together.
RunResult run(const std::vector<std::string>& command, const RunLimits& limits = {});

/// "exited with status 3", "was killed by SIGSEGV (Segmentation fault)", "did not end
/// within 600 s", ...: to follow the program's name.
std::string describe(const RunResult& result, const RunLimits& limits = {});

}  // namespace transcript
