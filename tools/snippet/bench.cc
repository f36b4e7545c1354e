// Prints how long `snippet check` takes, as a command, and the budgets that hold.
//   bench SNIPPET ROOT
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "file.h"
#include "scratch.h"

namespace {

constexpr int kRuns = 5;

struct Time {
  double wall = 1e9, cpu = 1e9;  // seconds
};

double cpu_of_children() {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  const auto seconds = [](timeval t) {
    return double(t.tv_sec) + 1e-6 * double(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// The fastest of some runs.
Time fastest(const std::string& command) {
  Time best;
  for (int i = 0; i < kRuns; ++i) {
    const double cpu = cpu_of_children();
    const auto start = std::chrono::steady_clock::now();
    const int status = std::system((command + " >/dev/null").c_str());
    if (!WIFEXITED(status) || WEXITSTATUS(status) > 1) std::exit(2);  // 1 is stale
    const std::chrono::duration<double> taken =
        std::chrono::steady_clock::now() - start;
    best.wall = std::min(best.wall, taken.count());
    best.cpu = std::min(best.cpu, cpu_of_children() - cpu);
  }
  return best;
}

bool report(const char* what, Time time, double budget) {
  const bool within = time.wall <= budget;
  std::printf("%-34s %8.1f ms (CPU %6.1f ms), budget %6.0f ms%s\n", what,
              1e3 * time.wall, 1e3 * time.cpu, 1e3 * budget,
              within ? "" : ", EXCEEDED");
  return within;
}

// 100 MB of C++ with a thousand regions, one of which a document pulls.
void write_large(const common::Scratch& scratch) {
  std::string text;
  for (int region = 0; text.size() < 100'000'000; ++region) {
    const std::string name = std::to_string(region);
    text += "// snippet: r" + name + "\n";
    for (int line = 0; line < 2000; ++line) {
      text += "  const auto value = compute(\"" + name + "\");  // step\n";
    }
    text += "// end snippet\n";
  }
  common::write_atomically(scratch / "large.cu", text);
  common::write_atomically(scratch / "a.md",
                           "<!-- pull: large.cu#r7 -->\n<!-- end pull -->\n");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string check = std::string(argv[1]) + " check --root ";
  bool within = report("check of the repository", fastest(check + argv[2]), 0.050);
  const common::Scratch scratch;
  write_large(scratch);
  const std::string sync = std::string(argv[1]) + " sync --root ";
  if (std::system((sync + scratch.path().string() + " >/dev/null").c_str()) != 0)
    return 2;
  within &= report("check against a source of 100 MB",
                   fastest(check + scratch.path().string()), 2.0);
  return within ? 0 : 1;
}
