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

enum class Change { none, last_place, all };

/// `size` bytes of numbers, `line` of them a line: as they are, with one figure of
/// every line moved by a unit of its last place, or all of them other ones.
std::string numbers(std::size_t size, std::size_t line, Change change) {
  Random random;
  std::string text = "# numbers, generated\n\n";
  text.reserve(size + 100);
  while (text.size() < size) {
    for (std::size_t i = 0; i < line && text.size() < size; ++i) {
      const std::uint32_t exponent = random.next() >> 12;
      std::uint32_t value = exponent;
      if (change == Change::last_place && i == 3 && value < 1'000'000) ++value;
      if (change == Change::all) value = value / 2 + 500'000;
      char number[32];
      std::snprintf(number, sizeof number, " %u.%06ue-%02u", value / 1'000'000 % 10,
                    value % 1'000'000, exponent % 20);
      text += number;
    }
    text += '\n';
  }
  return text;
}

int failures = 0;

void fail(const std::string& why) {
  std::printf("  FAILED: %s\n", why.c_str());
  ++failures;
}

/// The sides are made by functions and gone before a program starts: a child's peak
/// memory is never less than its parent's when it was forked.
void compare(const std::string& what, const std::function<std::string()>& recorded,
             const std::function<std::string()>& actual, int expected,
             const std::vector<std::string>& programs) {
  const common::Scratch scratch;
  common::write_atomically(scratch / "recorded.md", recorded());
  common::write_atomically(scratch / "actual.md", actual());
  const double mb =
      static_cast<double>(std::filesystem::file_size(scratch / "recorded.md")) / 1e6;
  std::printf("%s (%.0f MB a side)\n", what.c_str(), mb);
  Measured ours;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    std::vector<std::string> command{programs[i]};
    if (i == 0) command.push_back("diff");
    command.push_back((scratch / "recorded.md").string());
    command.push_back((scratch / "actual.md").string());
    const Measured measured = measure(command);
    std::printf("  %-10s %7.2f s (wall %7.2f)  %6.1f MB/s  peak %6.1f MB, %.1fx%s\n",
                i == 0 ? "transcript" : "numdiff", measured.seconds,
                measured.wall_seconds, mb / measured.seconds, measured.peak_mb,
                measured.peak_mb / mb, measured.status >= 128 ? "  (stopped)" : "");
    std::fflush(stdout);
    if (i == 0) {
      ours = measured;
      if (measured.status != expected) {
        fail(fmt::format("exit status {}, not {}", measured.status, expected));
      }
      if (mb / measured.seconds < 50 || measured.peak_mb > 4 * mb + 8) {
        fail("the budget is 50 MB/s, and 4 times one input + 8 MB");
      }
    } else {
      std::printf("  %.1f times as fast, %.2f of the memory\n",
                  measured.seconds / ours.seconds, ours.peak_mb / measured.peak_mb);
      // One that was stopped would have taken longer and more.
      if (measured.seconds < 10 * ours.seconds) fail("not 10 times as fast");
      if (measured.peak_mb < 5 * ours.peak_mb && measured.status < 128) {
        fail("more than a fifth of the memory");
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> programs(argv + 1, argv + argc);
  const std::vector<std::string> alone(programs.begin(), programs.begin() + 1);
  const std::size_t large = 100'000'000;
  const auto text = [&] { return numbers(large, 6, Change::none); };
  const auto line = [&] { return numbers(8'000'000, large, Change::none); };
  compare("numeric text, equal", text, text, 0, programs);
  compare(
      "numeric text, a last place moved in every line", text,
      [&] { return numbers(large, 6, Change::last_place); }, 0, programs);
  compare(
      "numeric text, a line inserted in the middle", text,
      [&] {
        std::string inserted = text();
        inserted.insert(inserted.find('\n', large / 2) + 1, " 1.5 inserted\n");
        return inserted;
      },
      1, programs);
  compare(
      "numeric text, all lines different", text,
      [&] { return numbers(large, 6, Change::all); }, 1, programs);
  compare(
      "1,000 lines of 1,000 numbers, all different",
      [&] { return numbers(14'000'000, 1000, Change::none); },
      [&] { return numbers(14'000'000, 1000, Change::all); }, 1, programs);
  compare("one line, equal", line, line, 0, alone);
  compare(
      "one line, a figure changed in the middle", line,
      [&] {
        std::string changed = line();
        char& digit = changed[changed.find('.', changed.size() / 2) + 1];
        digit = digit == '7' ? '4' : '7';
        return changed;
      },
      1, alone);
  return failures;
}
