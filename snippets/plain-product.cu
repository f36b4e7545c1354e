// SPDX-License-Identifier: MIT
//
// The product that others are judged by, in double over the floats and in integers over
// codes: bit for bit what host loops make of it, where a float accumulator is not.
//
//   nvcc -std=c++17 -O3 -arch=sm_75 -o plain-product plain-product.cu

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kTile = 16;  // a block has kTile x kTile threads

// pull: src/quant_matmul.cu#inputs
struct Shape {
  int m = 0, n = 0, k = 0;    // A is m x k, B is k x n, both row-major
  std::string name() const {  // "MxNxK"
    return std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k);
  }
};

// A 32-bit linear congruential generator: the same inputs on every machine.
struct Generator {
  uint32_t state = 20260901u;
  // Uniform in [0, 1): the top 24 bits, which a float holds exactly.
  float unit() {
    state = 1664525u * state + 1013904223u;
    return static_cast<float>(state >> 8) / 16777216.0f;
  }
};

struct Inputs {
  Shape shape;
  std::vector<float> a, b;
};

// A: activations after a ReLU, never negative. B, drawn after A: weights whose columns
// differ 64-fold in gain, with an outlier every 37th element.
Inputs syntheticInputs(Shape shape) {
  Inputs in = {shape, std::vector<float>(size_t(shape.m) * shape.k),
               std::vector<float>(size_t(shape.k) * shape.n)};
  Generator random;
  for (float& value : in.a) value = random.unit();
  for (size_t i = 0; i < in.b.size(); ++i) {
    const float gain = 1.0f / static_cast<float>(1 << (i % shape.n % 7));
    in.b[i] = (2.0f * random.unit() - 1.0f) * gain * (i % 37 == 0 ? 8.0f : 1.0f);
  }
  return in;
}
// end pull

// pull: src/quant_matmul.cu#plain-product
// (A - subtract) times B in the arithmetic of Sum, as plainly as it can be written: it
// shares no step with the kernels that it judges. A thread makes 16 neighbouring
// outputs of a row, each in ascending k. A double holds the product of two floats
// exactly, and an int32_t that of two codes, so fusing multiply and add changes no bit.
constexpr int kRun = 16;
template <typename Sum, typename T>
__global__ void plainProduct(const T* a, const T* b, Sum* c, int m, int n, int k,
                             Sum subtract) {
  const int row = blockIdx.y * kTile + threadIdx.y;
  const int first = (blockIdx.x * kTile + threadIdx.x) * kRun;
  if (row >= m || first >= n) return;
  const int width = n - first < kRun ? n - first : kRun;

  Sum sum[kRun] = {};
  for (int p = 0; p < k; ++p) {
    const Sum x = Sum(a[size_t(row) * k + p]) - subtract;
    const T* y = b + size_t(p) * n + first;
    for (int j = 0; j < kRun; ++j) {
      if (j < width) sum[j] += x * Sum(y[j]);
    }
  }
  for (int j = 0; j < width; ++j) c[size_t(row) * n + first + j] = sum[j];
}

// One row of the same product by host loops, which the kernel is held against.
template <typename Sum, typename T>
std::vector<Sum> hostRow(const T* aRow, const std::vector<T>& b, Shape s,
                         Sum subtract) {
  std::vector<Sum> sum(s.n, 0);
  for (int p = 0; p < s.k; ++p) {
    const Sum x = Sum(aRow[p]) - subtract;
    for (int j = 0; j < s.n; ++j) sum[j] += x * Sum(b[size_t(p) * s.n + j]);
  }
  return sum;
}
// end pull

void check(cudaError_t status) {
  if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

// A copy on the device, where it stays until the program ends.
template <typename T>
T* onDevice(const std::vector<T>& host) {
  T* data = nullptr;
  check(cudaMalloc(&data, host.size() * sizeof(T)));
  check(cudaMemcpy(data, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
  return data;
}

// (A - subtract) times B by the kernel; `different` counts outputs that host loops
// make otherwise.
template <typename Sum, typename T>
std::vector<Sum> product(const std::vector<T>& a, const std::vector<T>& b, Shape s,
                         Sum subtract, long& different) {
  std::vector<Sum> c(size_t(s.m) * s.n);
  Sum* output = onDevice(c);
  const int columns = kTile * kRun;  // of a block
  const dim3 grid((s.n + columns - 1) / columns, (s.m + kTile - 1) / kTile);
  plainProduct<Sum, T><<<grid, dim3(kTile, kTile)>>>(onDevice(a), onDevice(b), output,
                                                     s.m, s.n, s.k, subtract);
  check(cudaGetLastError());
  check(cudaMemcpy(c.data(), output, c.size() * sizeof(Sum), cudaMemcpyDeviceToHost));
  different = 0;
  for (int row = 0; row < s.m; ++row) {
    const std::vector<Sum> want = hostRow(&a[size_t(row) * s.k], b, s, subtract);
    for (int col = 0; col < s.n; ++col) {
      different += !(c[size_t(row) * s.n + col] == want[col]);
    }
  }
  return c;
}

int main() try {
  const Inputs in = syntheticInputs({61, 45, 77});
  const Shape s = in.shape;
  std::vector<int8_t> a(in.a.size()), b(in.b.size());  // codes, in no telling order
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<int8_t>(i * 37 % 256 - 128);
  for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<int8_t>(i * 101 % 255 - 127);
  long differentDouble = 0, differentInteger = 0, floatDifferent = 0;
  product<int32_t, int8_t>(a, b, s, -128, differentInteger);
  const std::vector<double> c =
      product<double, float>(in.a, in.b, s, 0.0, differentDouble);

  double worst = 0.0;
  for (int i = 0; i < s.m * s.n; ++i) {
    float sum = 0.0f;
    for (int p = 0; p < s.k; ++p) {
      sum = std::fma(in.a[i / s.n * s.k + p], in.b[p * s.n + i % s.n], sum);
    }
    floatDifferent += static_cast<float>(c[i]) != sum;
    worst = std::max(worst, std::fabs(sum - c[i]));
  }
  std::printf("# %d outputs of %s\n\n", s.m * s.n, s.name().c_str());
  std::printf("differ from host loops in double: %ld\n", differentDouble);
  std::printf("differ from host loops in integers: %ld\n", differentInteger);
  std::printf("a loop in float is off by up to %.2e, in %ld of them\n", worst,
              floatDifferent);
  if (std::fflush(stdout) == 0) return differentDouble + differentInteger != 0;
  std::perror("stdout");
  return 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
