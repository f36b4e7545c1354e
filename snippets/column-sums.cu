// SPDX-License-Identifier: MIT
//
// The zero-point correction on one output: with codes a and zero point z,
// sum (a - z) b = sum a b - z * sum b, so a column sum of B's codes, taken once,
// replaces a subtraction in the inner loop.
//
//   nvcc -std=c++17 -O3 -arch=sm_75 -o column-sums column-sums.cu

// pull: src/quant_matmul.cu#includes
#include <cuda_fp8.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>
// end pull

// pull: src/quant_matmul.cu#for-each
// Calls visit(i, column) for each of `count` values of a row-major matrix.
template <typename Visit>
void forEach(size_t count, int columns, const Visit& visit) {
  for (size_t i = 0; i < count;) {
    for (int column = 0; column < columns; ++column, ++i) visit(i, column);
  }
}
// end pull

// pull: src/quant_matmul.cu#column-sums
// Sum of each column of B's codes: what a zero point in A has to be multiplied by.
std::vector<int32_t> columnSums(const std::vector<int8_t>& codes, int n) {
  std::vector<int32_t> sums(n, 0);
  forEach(codes.size(), n, [&](size_t i, int col) { sums[col] += codes[i]; });
  return sums;
}
// end pull

int main() {
  const int n = 3, zeroPoint = -128;
  const std::vector<int8_t> a = {-128, -64, 0, 127};  // codes of 0, 64, 128, 255 steps
  const std::vector<int8_t> b = {5, -100, 127, -3, 40, 127, 7, 0, 127, 1, -8, -127};
  const std::vector<int32_t> sums = columnSums(b, n);
  std::printf("%6s %12s %12s %12s %12s\n", "column", "sum (a-z)b", "sum ab",
              "z * sum b", "difference");
  for (int col = 0; col < n; ++col) {
    int32_t direct = 0, plain = 0;
    for (size_t p = 0; p < a.size(); ++p) {
      direct += (a[p] - zeroPoint) * b[p * n + col];
      plain += a[p] * b[p * n + col];
    }
    const int32_t correction = zeroPoint * sums[col];
    std::printf("%6d %12d %12d %12d %12d\n", col, direct, plain, correction,
                plain - correction);
  }
}
