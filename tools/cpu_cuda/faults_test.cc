// What a faulty program is told: messages of the runtime, of the sanitizers, and of the
// compiler where the subset ends.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "testing.h"

using cpu_cuda::testing::line_of;
using cpu_cuda::testing::program;
using cpu_cuda::testing::Result;
using cpu_cuda::testing::run;
using cpu_cuda::testing::setting;

namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// "faults.cu:LINE" for the line marked `mark`.
std::string at(const std::string& mark) {
  static const std::string source = setting("FAULTS_CU");
  static const std::string text = common::read_file(source);
  return "faults.cu:" + line_of(text, "// " + mark);
}

/// Without the folder that the build puts before the source's name in each line.
std::string shorten(std::string text) {
  for (std::size_t i = 0; (i = text.find("faults.cu:", i)) != std::string::npos; ++i) {
    const std::size_t begin = text.rfind('\n', i) + 1;
    text.erase(begin, i - begin);
    i = begin;
  }
  return text;
}

/// Compiles a source; the result's err is the rewriter's or the compiler's.
Result compile(const std::string& source) {
  const common::Scratch scratch;
  std::ofstream(scratch / "a.cu") << source;
  const std::string folder = scratch.path();
  return run("export LC_ALL=C && cd " + folder + " && " + program("REWRITE") +
             " a.cu a.cc && " + setting("COMPILE") + " -I" + program("INCLUDE") +
             " -fsyntax-only a.cc");
}

}  // namespace

TEST_CASE("barrier divergence names the line and the block") {
  const Result half = run("CPU_CUDA_WORKERS=1 " + program("FAULTS") + " half");
  CHECK(
      shorten(half.err) ==
      at("line of half") +
          ": barrier divergence: 32 of 64 threads wait here, the others have left the "
          "kernel; block (0,0,0)\n");
  CHECK(half.out == "cudaErrorLaunchFailure\n");
  CHECK(half.exit_code == 1);
  const Result branches = run(program("FAULTS") + " branches");
  const std::string other = at("other line of branches");
  CHECK(shorten(branches.err) ==
        at("line of branches") +
            ": barrier divergence: some threads wait here, others at line " +
            other.substr(other.find(':') + 1) + "; block (0,0,0)\n");
  CHECK(branches.exit_code == 1);
}

TEST_CASE("a barrier in a helper that the rewriter could not see") {
  const Result result = run(program("FAULTS") + " nested");
  CHECK(shorten(result.err) ==
        at("line of nested") +
            ": a barrier outside of the __global__ function itself; block (0,0,0)\n");
  CHECK(result.exit_code == 1);
}

TEST_CASE("leaks are reported when asked for") {
  const Result quiet = run(program("FAULTS") + " leak");
  CHECK(quiet.err == "");
  CHECK(quiet.exit_code == 0);
  const Result loud = run("CPU_CUDA_LEAKS=1 " + program("FAULTS") + " leak");
  const std::string text = shorten(loud.err);
  CHECK(has(text, at("line of leak") + ": leak: 100 bytes of device memory\n"));
  CHECK(has(text, at("line of event") + ": leak: 1 event\n"));
  CHECK(has(text, ": leak: 256 bytes of device memory\n"));
  CHECK(std::count(text.begin(), text.end(), '\n') == 3);
  CHECK(loud.out == "cudaSuccess\n");
  CHECK(loud.exit_code == 23);
}

TEST_CASE("bad options: one line, exit 2") {
  const auto refused = [](const std::string& variable) {
    const Result result = run(variable + " " + program("FAULTS"));
    CHECK(result.exit_code == 2);
    CHECK(result.out == "");
    return result.err;
  };
  const std::string order = ": expected forward, reverse or shuffle:SEED\n";
  for (const char* value :
       {"", "random", "shuffle", "shuffle:", "shuffle:x", "shuffle:-1", "shuffle:1x",
        "shuffle:18446744073709551616", "reverse "}) {
    CHECK(refused("CPU_CUDA_ORDER='" + std::string(value) + "'") ==
          std::string("CPU_CUDA_ORDER=") + value + order);
  }
  for (const char* value : {"0", "-1", "two", "1025", "1 "}) {
    CHECK(refused("CPU_CUDA_WORKERS='" + std::string(value) + "'") ==
          std::string("CPU_CUDA_WORKERS=") + value + ": expected 1 to 1024\n");
  }
  CHECK(run("CPU_CUDA_WORKERS=2 " + program("FAULTS_ASAN")).err ==
        "CPU_CUDA_WORKERS=2: expected 1 in this sanitizer build\n");
  CHECK(refused("CPU_CUDA_LEAKS=yes") == "CPU_CUDA_LEAKS=yes: expected 0 or 1\n");
  CHECK(refused("CPU_CUDA_ODER=reverse") ==
        "CPU_CUDA_ODER=reverse: no such variable; there are CPU_CUDA_ORDER, "
        "_WORKERS and _LEAKS\n");
}

TEST_CASE("the ASan and UBSan build sees past the end of device and shared memory") {
  std::istringstream names(setting("OVERRUNS"));
  for (std::string name; names >> name;) {
    CAPTURE(name);
    const Result result = run(program("FAULTS_ASAN") + " " + name);
    CHECK(result.exit_code != 0);
    CHECK(has(result.err, at("line of " + name)));
  }
  CHECK(run(program("FAULTS_ASAN") + " none").exit_code == 0);
}

TEST_CASE("UndefinedBehaviorSanitizer sees into a kernel") {
  const Result result = run(program("FAULTS_ASAN") + " overflows");
  CHECK(result.exit_code != 0);
  CHECK(has(result.err, at("line of overflows")));
  CHECK(has(result.err, "signed integer overflow"));
}

TEST_CASE("what is outside the subset does not compile") {
  CHECK(compile("__global__ void k() { __syncthreads(); }\n"
                "int main() { k<<<1, 1>>>(); }\n")
            .exit_code == 0);
  const auto error = [](const std::string& source) {
    const Result result = compile(source);
    CHECK(result.exit_code != 0);
    return result.err;
  };
  CHECK(has(error("__global__ void k(int i) {\n"
                  "  if (i) return;\n"
                  "  __syncthreads();\n"
                  "}\n"),
            "co_return"));
  CHECK(has(error("float f() {\n  __syncthreads();\n  return 1;\n}\n"), "coroutine"));
  CHECK(has(error("__global__ void k() {\n"
                  "  const auto f = [&]() -> void { __syncthreads(); };\n"
                  "  f();\n"
                  "}\n"),
            "a barrier must stand in a __global__ function itself"));
  CHECK(has(error("__global__ void k(int) {}\n"
                  "int main() {\n"
                  "  k<<<1, 1>>>();\n"
                  "}\n"),
            "a kernel launch needs an argument for each parameter"));
  CHECK(has(error("template <class T> __global__ void k(T) {}\n"
                  "int main() {\n"
                  "  k<<<1, 1>>>(1);\n"
                  "}\n"),
            "a.cu:3:"));
  CHECK(has(error("__global__ void k() {\n"
                  "  __shared__ float t[12289];\n"
                  "}\n"),
            "over 48 KiB of shared memory"));
  CHECK(has(error("__global__ void k(float x) {\n"
                  "  x += __shfl_down_sync(~0u, x, 1);\n"
                  "}\n"),
            "a.cu:2:"));
  CHECK(error("void f() {\n  k<<<1, 1>>(x);\n}\n") ==
        "a.cu:2: launch `<<<` without its `>>>`\n"
        "    k<<<1, 1>>(x);\n"
        "     ^\n");
}
