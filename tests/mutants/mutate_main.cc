// mutate SOURCE.cu OUTPUT.cc MUTANT: the changed program, as C++ for the CPU.
#include <cstdio>
#include <exception>
#include <stdexcept>

#include "file.h"
#include "mutate.h"
#include "rewrite.h"

int main(int argc, char** argv) {
  try {
    if (argc != 4) throw std::runtime_error("usage: mutate SOURCE.cu OUTPUT.cc MUTANT");
    for (const mutants::Mutant& each : mutants::all()) {
      if (each.name != argv[3]) continue;
      const std::string changed = mutants::mutate(common::read_file(argv[1]), each);
      common::write_atomically(argv[2], cpu_cuda::rewrite(changed, argv[1]));
      return 0;
    }
    throw std::runtime_error("no mutant " + std::string(argv[3]));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
