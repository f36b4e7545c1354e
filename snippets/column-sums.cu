// SPDX-License-Identifier: MIT
//
// The zero-point correction on one output: with codes a and zero point z,
// sum (a - z) b = sum a b - z * sum b, so a column sum of B's codes, taken once,
// replaces a subtraction in the inner loop.
//
//   nvcc -std=c++17 -O3 -arch=sm_75 -o column-sums column-sums.cu

#include <cstdint>
#include <cstdio>
#include <vector>

// pull: src/quant_matmul.cu#column-sums
// Sum of each column of B's codes: what a zero point in A has to be multiplied by.
std::vector<int32_t> columnSums(const std::vector<int8_t>& codes, int n) {
  std::vector<int32_t> sums(n, 0);
  for (size_t i = 0; i < codes.size();) {
    for (int32_t& sum : sums) sum += codes[i++];
  }
  return sums;
}
// end pull

int main() {
  const int n = 3, zeroPoint = -128;
  const std::vector<int8_t> a = {-128, -64, 0, 127};  // codes of 0, 64, 128, 255 steps
  const std::vector<int8_t> b = {5, -100, 127, -3, 40, 127, 7, 0, 127, 1, -8, -127};
  const std::vector<int32_t> sums = columnSums(b, n);
  std::printf("# column sums\n\n");
  std::printf("| column | sum (a-z)b | sum ab | z * sum b | difference |\n");
  std::printf("| :----- | ---------: | -----: | --------: | ---------: |\n");
  for (int col = 0; col < n; ++col) {
    int32_t direct = 0, plain = 0;
    for (size_t p = 0; p < a.size(); ++p) {
      direct += (a[p] - zeroPoint) * b[p * n + col];
      plain += a[p] * b[p * n + col];
    }
    const int32_t correction = zeroPoint * sums[col];
    std::printf("| %-6d | %10d | %6d | %9d | %10d |\n", col, direct, plain, correction,
                plain - correction);
  }
  if (std::fflush(stdout) == 0) return 0;
  std::perror("stdout");
  return 1;
}
