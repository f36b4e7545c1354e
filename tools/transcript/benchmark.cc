// Time and peak memory of `transcript diff` on generated transcripts, beside numdiff's.
// Usage: benchmark TRANSCRIPT [NUMDIFF]; fails when a budget is broken.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>

#include "file.h"
#include "scratch.h"

namespace {

struct Measured {
  double seconds = 0;  // of processor time: other work on the machine must not count
  double wall_seconds = 0;
  double peak_mb = 0;
  int status = -1;
};

/// One run of a program without its output.
Measured measure(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& one : command)
    arguments.push_back(const_cast<char*>(one.c_str()));
  arguments.push_back(nullptr);
  const auto begin = std::chrono::steady_clock::now();
  const pid_t child = ::fork();
  if (child == 0) {
    const int null = ::open("/dev/null", O_RDWR);
    ::dup2(null, 1);
    ::dup2(null, 2);
    ::alarm(120);  // numdiff does not end on some inputs
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }
  int status = 0;
  rusage usage{};
  ::wait4(child, &status, 0, &usage);
  Measured measured;
  measured.wall_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  for (const timeval& time : {usage.ru_utime, usage.ru_stime}) {
    measured.seconds +=
        static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  }
  measured.peak_mb = static_cast<double>(usage.ru_maxrss) * 1024 / 1e6;
  measured.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return measured;
}

/// Small, fast, and the same everywhere.
struct Random {
  std::uint32_t state = 20260901;
  std::uint32_t next() { return state = 1664525 * state + 1013904223; }
};

/// `size` bytes of numbers, `line` of them a line; with `noise`, one figure of every
/// line moved by a unit of its last place.
std::string numbers(std::size_t size, std::size_t line, bool noise) {
  Random random;
  std::string text = "numbers, generated\n";
  text.reserve(size + 100);
  while (text.size() < size) {
    for (std::size_t i = 0; i < line && text.size() < size; ++i) {
      const std::uint32_t value = random.next() >> 12;
      char number[32];
      const std::uint32_t moved =
          noise && i == 3 && value < 1'000'000 ? value + 1 : value;
      std::snprintf(number, sizeof number, " %u.%06ue-%02u", moved / 1'000'000 % 10,
                    moved % 1'000'000, value % 20);
      text += number;
    }
    text += '\n';
  }
  return text;
}

int failures = 0;

/// The sides are made by functions and gone before a program starts: a child's peak
/// memory is never less than its parent's when it was forked.
void compare(const std::string& what, const std::function<std::string()>& recorded,
             const std::function<std::string()>& actual, int expected,
             const std::vector<std::string>& programs) {
  const common::Scratch scratch;
  common::write_atomically(scratch / "recorded.txt", recorded());
  common::write_atomically(scratch / "actual.txt", actual());
  const double mb =
      static_cast<double>(std::filesystem::file_size(scratch / "recorded.txt")) / 1e6;
  std::printf("%s (%.0f MB a side)\n", what.c_str(), mb);
  for (std::size_t i = 0; i < programs.size(); ++i) {
    std::vector<std::string> command{programs[i]};
    if (i == 0) command.push_back("diff");
    command.push_back((scratch / "recorded.txt").string());
    command.push_back((scratch / "actual.txt").string());
    const Measured measured = measure(command);
    std::printf("  %-10s %7.2f s (wall %7.2f)  %6.1f MB/s  peak %6.1f MB, %.1fx%s\n",
                i == 0 ? "transcript" : "numdiff", measured.seconds,
                measured.wall_seconds, mb / measured.seconds, measured.peak_mb,
                measured.peak_mb / mb, measured.status >= 128 ? "  (stopped)" : "");
    std::fflush(stdout);
    if (i > 0) continue;
    if (measured.status != expected) {
      std::printf("  FAILED: exit status %d, not %d\n", measured.status, expected);
      ++failures;
    }
    if (mb / measured.seconds < 50 || measured.peak_mb > 4 * mb + 8) {
      std::printf("  FAILED: the budget is 50 MB/s, and 4 times one input + 8 MB\n");
      ++failures;
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> programs(argv + 1, argv + argc);
  const std::size_t large = 100'000'000;
  const auto text = [&] { return numbers(large, 6, false); };
  const auto line = [&] { return numbers(8'000'000, large, false); };
  compare("numeric text, equal", text, text, 0, programs);
  compare(
      "numeric text, a last place moved in every line", text,
      [&] { return numbers(large, 6, true); }, 0, programs);
  compare(
      "numeric text, a line inserted in the middle", text,
      [&] {
        std::string inserted = text();
        inserted.insert(inserted.find('\n', large / 2) + 1, " 1.5 inserted\n");
        return inserted;
      },
      1, programs);
  compare("one line, equal", line, line, 0, programs);
  compare(
      "one line, a figure changed in the middle", line,
      [&] {
        std::string changed = line();
        char& digit = changed[changed.find('.', changed.size() / 2) + 1];
        digit = digit == '7' ? '4' : '7';
        return changed;
      },
      1, programs);
  return failures;
}
