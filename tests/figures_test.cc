// Every figure of tests/figures.txt, by its address, in a run's output.
//   figures_test FIGURES OUTPUT
#include <cstdio>
#include <exception>
#include <sstream>
#include <string>

#include "evidence.h"
#include "file.h"

namespace {

// "ADDRESS = VALUE" lines; addresses may hold a "=" of their own, values hold none.
int compare(const std::string& expected, const std::string& output) {
  int compared = 0, different = 0;
  std::istringstream lines(expected);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::size_t equals = line.rfind(" = ");
    const std::string address = line.substr(0, equals), want = line.substr(equals + 3);
    ++compared;
    std::string got;
    try {
      got = transcript::get(output, address, "output");
    } catch (const std::exception& error) {
      got = error.what();
    }
    if (got == want) continue;
    ++different;
    std::printf("%s: expected %s, got %s\n", address.c_str(), want.c_str(), got.c_str());
  }
  std::printf("%d figures compared, %d differ\n", compared, different);
  return compared > 0 && different == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: figures_test FIGURES OUTPUT\n");
    return 2;
  }
  try {
    return compare(common::read_file(argv[1]), common::read_file(argv[2]));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "figures_test: %s\n", error.what());
    return 2;
  }
}
