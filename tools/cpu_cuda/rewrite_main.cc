// cpu_cuda_rewrite SOURCE.cu OUTPUT.cc
#include <cstdio>
#include <exception>

#include "diagnostic.h"
#include "file.h"
#include "rewrite.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: cpu_cuda_rewrite SOURCE.cu OUTPUT.cc\n", stderr);
    return 2;
  }
  try {
    common::write_atomically(argv[2],
                             cpu_cuda::rewrite(common::read_file(argv[1]), argv[1]));
    return 0;
  } catch (const common::DiagnosticError& error) {
    for (const auto& each : error.diagnostics())
      std::fputs(format(each).c_str(), stderr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cpu_cuda_rewrite: %s\n", error.what());
  }
  return 2;
}
