// SPDX-License-Identifier: MIT
//
// What the tensor cores of this card could do.
//
//   nvcc -std=c++17 -O3 -arch=sm_75 -o capability-report capability-report.cu

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

// The report checks its calls by this name.
void CUDA_CHECK(cudaError_t status) {
  if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

// pull: src/quant_matmul.cu#formatted
// `value` as text; a quotient by an error of 0 has none.
std::string formatted(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return std::isfinite(value) ? text : "n/a";
}

// A Markdown table whose columns align in a terminal as well: the first as wide as
// told, the others as their headers, 9 at least.
class Table {
 public:
  Table(const std::vector<std::string>& header, int first = 17) : widths_{first} {
    for (size_t i = 1; i < header.size(); ++i) {
      widths_.push_back(std::max(9, static_cast<int>(header[i].size())));
    }
    std::printf("\n");
    row(header);
    for (size_t i = 0; i < header.size(); ++i) {
      const std::string dashes(widths_[i] - 1, '-');
      std::printf(i == 0 ? "| :%s " : "| %s: ", dashes.c_str());
    }
    std::printf("|\n");
  }
  void row(const std::vector<std::string>& cells) const {
    for (size_t i = 0; i < cells.size(); ++i) {
      std::printf(i == 0 ? "| %-*s " : "| %*s ", widths_[i], cells[i].c_str());
    }
    std::printf("|\n");
  }

 private:
  std::vector<int> widths_;
};
// end pull

// pull: src/quant_matmul.cu#capability-report
// Rates of the units that the kernels' inner loops keep busy, in 10^12 operations a
// second (a multiply-add is two): multiprocessors x clock x operations a cycle, by the
// CUDA programming guide's throughput table. NaN where that is not known.
struct Card {
  double multiplyAddPeak = NAN, dp4aPeak = NAN;
};

// What this card's tensor cores could do; none of it is used or timed here.
Card printCapabilities() {
  int device = 0, kilohertz = 0;
  cudaDeviceProp properties;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
  CUDA_CHECK(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, device));
  Card card;
  const int capability = 10 * properties.major + properties.minor;  // 75 is 7.5
  const double cycles = properties.multiProcessorCount * kilohertz / 1e9;
  if (cycles > 0.0 && capability >= 75) {
    card.multiplyAddPeak = cycles * 2 * (capability <= 80 ? 64 : 128);
    if (capability <= 90) card.dp4aPeak = cycles * 8 * 64;
  }
  std::printf("# quant_matmul on %s (compute capability %d.%d)\n", properties.name,
              properties.major, properties.minor);
  std::printf("\n## tensor-core support\n");
  const auto from = [&](int needed) { return capability >= needed ? "yes" : "no"; };
  const Table table({"unit", "on this card"}, 36);
  table.row({"INT8 tensor cores", from(75)});
  table.row({"2:4 sparse tensor cores (cuSPARSELt)", from(80)});
  table.row({"FP8 e4m3/e5m2 tensor cores", from(89)});
  std::printf(
      "\nthis program uses none of them: its INT8 loop runs on CUDA cores,\n"
      "and its FP8 and 2:4 rows are host arithmetic\n"
      "peaks of the units that it uses: FP32 multiply-add %s TFLOPS, dp4a %s TOPS\n",
      formatted("%.1f", card.multiplyAddPeak).c_str(),
      formatted("%.1f", card.dp4aPeak).c_str());
  return card;
}
// end pull

int main() try {
  printCapabilities();
  if (std::fflush(stdout) == 0) return 0;
  std::perror("stdout");
  return 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
