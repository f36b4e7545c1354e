// Which race shows in which thread order, and that ThreadSanitizer finds each one.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "testing.h"

using cpu_cuda::testing::program;
using cpu_cuda::testing::Result;
using cpu_cuda::testing::run;
using cpu_cuda::testing::setting;

namespace {

std::string outcome(const std::string& order, const std::string& kernel) {
  const Result result = run("CPU_CUDA_ORDER=" + order + " CPU_CUDA_WORKERS=1 " +
                            program("RACY") + " " + kernel);
  CHECK(result.exit_code == 0);
  CHECK(result.err == "");
  return result.out;
}

/// "racy.cu:LINE" of each line marked `race KERNEL`.
std::vector<std::string> marked(const std::string& kernel) {
  const std::string text = common::read_file(setting("RACY_CU"));
  std::vector<std::string> lines;
  std::size_t line = 1, begin = 0;
  for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; ++line) {
    const std::string mark = "// race " + kernel;
    const std::string each = text.substr(begin, end - begin);
    if (each.size() >= mark.size() &&
        each.compare(each.size() - mark.size(), mark.size(), mark) == 0) {
      lines.push_back("racy.cu:" + std::to_string(line));
    }
    begin = end + 1;
  }
  return lines;
}

}  // namespace

TEST_CASE("what the orders show") {
  struct Row {
    const char *kernel, *forward, *reverse, *shuffle;
  };
  for (const Row& row : {
           Row{"missingAfterLoad", "wrong\n", "wrong\n", "wrong\n"},
           Row{"missingBeforeOverwrite", "wrong\n", "wrong\n", "wrong\n"},
           Row{"lostUpdate", "right\n", "right\n", "right\n"},
           Row{"leftNeighbour", "right\n", "wrong\n", "wrong\n"},
           Row{"reduction", "wrong\n", "right\n", "wrong\n"},
           Row{"correct", "right\n", "right\n", "right\n"},
       }) {
    CAPTURE(row.kernel);
    CHECK(outcome("forward", row.kernel) == row.forward);
    CHECK(outcome("reverse", row.kernel) == row.reverse);
    CHECK(outcome("shuffle:5", row.kernel) == row.shuffle);
  }
}

TEST_CASE(
    "ThreadSanitizer names the lines of each race, in an order that hides it too") {
  struct Row {
    const char *order, *kernel;
  };
  for (const Row& row : {
           Row{"forward", "missingAfterLoad"},
           Row{"reverse", "missingBeforeOverwrite"},
           Row{"forward", "lostUpdate"},
           Row{"shuffle:5", "lostUpdate"},
           Row{"forward", "leftNeighbour"},
           Row{"reverse", "reduction"},
       }) {
    CAPTURE(row.kernel);
    const Result result = run("CPU_CUDA_ORDER=" + std::string(row.order) + " " +
                              program("RACY_TSAN") + " " + row.kernel);
    CHECK(result.exit_code == 66);
    CHECK(result.err.find("WARNING: ThreadSanitizer: data race") != std::string::npos);
    CHECK(result.err.find("CUDA thread (") != std::string::npos);
    const auto lines = marked(row.kernel);
    REQUIRE(!lines.empty());
    for (const std::string& line : lines) {
      CHECK_MESSAGE(result.err.find(line) != std::string::npos, line << "\n"
                                                                     << result.err);
    }
  }
}

TEST_CASE("ThreadSanitizer tells blocks of different workers apart") {
  const Result two = run("CPU_CUDA_WORKERS=2 " + program("RACY_TSAN") + " twoBlocks");
  CHECK(two.exit_code == 66);
  CHECK(two.err.find(marked("twoBlocks").at(0)) != std::string::npos);
  const Result one = run("CPU_CUDA_WORKERS=1 " + program("RACY_TSAN") + " twoBlocks");
  CHECK(one.exit_code == 0);  // stated in README.md
}

TEST_CASE("ThreadSanitizer has nothing to say of a correct kernel") {
  for (const char* order : {"forward", "reverse", "shuffle:5"}) {
    const Result result = run("CPU_CUDA_ORDER=" + std::string(order) + " " +
                              program("RACY_TSAN") + " correct");
    CHECK(result.exit_code == 0);
    CHECK(result.err == "");
    CHECK(result.out == "right\n");
  }
}
