// The program's whole output, byte for byte, whatever order the threads run in.
#include <doctest/doctest.h>

#include <string>

#include "testing.h"

using cpu_cuda::testing::program;
using cpu_cuda::testing::Result;
using cpu_cuda::testing::run;
using cpu_cuda::testing::setting;

TEST_CASE("every thread order prints the same bytes") {
  const auto output = [](const std::string& order) {
    const Result result =
        run("CPU_CUDA_ORDER=" + order + " " + program("QUANT_MATMUL") +
            " --cases 256,61x45x77 --timed-runs 0");
    CHECK(result.exit_code == 0);
    CHECK(result.err == "");
    return result.out;
  };
  const std::string forward = output("forward");
  CHECK(forward.find("all 2 cases passed their gates") != std::string::npos);
  CHECK(output("reverse") == forward);
  CHECK(output("shuffle:1") == forward);
  CHECK(output("shuffle:2") == forward);
}
