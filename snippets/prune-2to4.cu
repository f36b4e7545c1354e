// SPDX-License-Identifier: MIT
//
// 2:4 pruning by hand: of every four values down a column the two largest stay.
//
//   nvcc -std=c++17 -O3 -arch=sm_75 -o prune-2to4 prune-2to4.cu

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

// pull: src/quant_matmul.cu#prune-2to4
// Of every four consecutive values along k keeps the two largest magnitudes (the
// earlier one when they tie) and zeroes the rest; so too in a shorter last group.
void prune2to4(std::vector<float>& b, int k, int n) {
  for (int k0 = 0; k0 < k; k0 += 4) {
    for (int col = 0; col < n; ++col) {
      float* group = &b[size_t(k0) * n + col];  // its values are n apart
      const int size = std::min(4, k - k0);
      float magnitude[4] = {};
      for (int i = 0; i < size; ++i) magnitude[i] = std::fabs(group[size_t(i) * n]);
      for (int i = 0; i < size; ++i) {
        int ahead = 0;
        for (int j = 0; j < size; ++j) {
          ahead +=
              magnitude[j] > magnitude[i] || (magnitude[j] == magnitude[i] && j < i);
        }
        if (ahead >= 2) group[size_t(i) * n] = 0.0f;
      }
    }
  }
}
// end pull

void printValue(float value) {
  if (value != 0.0f) std::printf(" | %8.2f", value);
  if (value == 0.0f) std::printf(" | %8s", ".");
}

int main() {
  constexpr int k = 10, n = 3;  // the last group has two rows and keeps both
  const std::vector<float> b = {0.1f, -0.9f, 0.5f,  0.4f, 0.8f,  0.5f,  -0.3f, 0.1f,
                                0.5f, -0.2f, 0.2f,  0.5f, 0.7f,  -0.1f, 0.0f,  -0.6f,
                                0.3f, 0.0f,  0.65f, 0.2f, -0.2f, 0.1f,  -0.4f, 0.0f,
                                0.3f, 0.9f,  0.1f,  0.2f, -0.8f, 0.4f};
  std::vector<float> pruned = b;
  prune2to4(pruned, k, n);
  std::printf(
      "# before and after (the first of equal magnitudes stays)\n\n"
      "| k  | before 0 | before 1 | before 2 |  after 0 |  after 1 |  after 2 |\n"
      "| :- | -------: | -------: | -------: | -------: | -------: | -------: |\n");
  for (int p = 0; p < k; ++p) {
    std::printf("| %-2d", p);
    for (int col = 0; col < n; ++col) printValue(b[p * n + col]);
    for (int col = 0; col < n; ++col) printValue(pruned[p * n + col]);
    std::printf(" |\n");
  }
  std::printf(
      "\na column of B goes down; its groups are k = 0 to 3, 4 to 7, 8 and 9\n");
  if (std::fflush(stdout) == 0) return 0;
  std::perror("stdout");
  return 1;
}
