// SPDX-License-Identifier: MIT
//
// The gate of the FP32 kernel: room for the rounding of k additions, and no more. A
// loop that forgets its last term does not fit through.
//
//   nvcc -std=c++17 -O3 -arch=sm_75 -o f32-gate f32-gate.cu

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

// pull: src/quant_matmul.cu#inputs
struct Shape {
  int m = 0, n = 0, k = 0;  // A is m x k, B is k x n, both row-major
  double work() const { return double(m) * n * k; }
};

// A 32-bit linear congruential generator: the same inputs on every machine.
class Generator {
 public:
  // Uniform in [0, 1): the top 24 bits, which a float holds exactly.
  float unit() {
    state_ = 1664525u * state_ + 1013904223u;
    return static_cast<float>(state_ >> 8) / 16777216.0f;
  }

 private:
  uint32_t state_ = 20260901u;
};

// Activations after a ReLU: never negative.
std::vector<float> makeA(Shape shape, Generator& random) {
  std::vector<float> a(size_t(shape.m) * shape.k);
  for (float& value : a) value = random.unit();
  return a;
}

// Weights whose columns differ 64-fold in gain, with an outlier every 37th element.
std::vector<float> makeB(Shape shape, Generator& random) {
  std::vector<float> b(size_t(shape.k) * shape.n);
  forEach(b.size(), shape.n, [&](size_t i, int col) {
    const float gain = 1.0f / static_cast<float>(1 << (col % 7));
    b[i] = (2.0f * random.unit() - 1.0f) * gain * (i % 37 == 0 ? 8.0f : 1.0f);
  });
  return b;
}
// end pull

// pull: src/quant_matmul.cu#host-simd
// Wider versions of a host loop, chosen when the program starts. The results are the
// same bits: these loops round nothing but single operations, or add exact products in
// a fixed order, so that even a fused multiply-add rounds as a product and a sum would.
#if defined(__linux__) && defined(__x86_64__) && !defined(__clang__) && \
    !defined(__AVX2__) && !defined(__SANITIZE_THREAD__)
#define HOST_SIMD                              \
  __attribute__((optimize("fp-contract=fast"), \
                 target_clones("avx512f", "arch=haswell", "default")))
#else
#define HOST_SIMD
#endif
// end pull

// pull: src/quant_matmul.cu#reference
// Two rows of a product at once, in a block of columns: for row r
// sum[r][j] += x[r][0] * b[0][j] + ... + x[r][15] * b[15][j], in that order.
constexpr int kTerms = 16, kColumns = 256;
template <typename T>
using Terms = std::array<std::array<T, kColumns>, kTerms>;
template <typename T>
using RowPair = std::array<std::array<T, kTerms>, 2>;
template <typename T>
HOST_SIMD void addTerms(const RowPair<T>& x, const Terms<T>& b, int columns,
                        T* __restrict sum0, T* __restrict sum1) {
  for (int j = 0; j < columns; ++j) {
    T value0 = sum0[j], value1 = sum1[j];
    for (int q = 0; q < kTerms; ++q) {
      value0 += x[0][q] * b[q][j];
      value1 += x[1][q] * b[q][j];
    }
    sum0[j] = value0;
    sum1[j] = value1;
  }
}

// A (rows x k) times B (k x n) in the arithmetic of T. Each output adds its terms in
// ascending k; a few terms of a block of columns at a time stay in the cache: the same
// sums, sooner.
template <typename T, typename TA, typename TB>
void productRows(const TA* a, const std::vector<TB>& b, int rows, int n, int k,
                 std::vector<T>& out) {
  alignas(64) Terms<T> bTerms = {};     // past the end of k, 0 * something is added
  std::array<T, kColumns> unused = {};  // the second row of a last odd one
  out.assign(size_t(rows) * n, 0);
  for (int j0 = 0; j0 < n; j0 += kColumns) {
    const int columns = std::min(kColumns, n - j0);
    for (int p = 0; p < k; p += kTerms) {
      const int terms = std::min(kTerms, k - p);
      for (int q = 0; q < terms; ++q) {
        const TB* bRow = &b[size_t(p + q) * n + j0];
        std::copy(bRow, bRow + columns, bTerms[q].begin());
      }
      for (int i = 0; i < rows; i += 2) {
        RowPair<T> x = {};
        T* sums[2] = {unused.data(), unused.data()};
        for (int r = 0; r < std::min(2, rows - i); ++r) {
          const TA* aRow = a + size_t(i + r) * k + p;
          std::copy(aRow, aRow + terms, x[r].begin());
          sums[r] = &out[size_t(i + r) * n + j0];
        }
        addTerms(x, bTerms, columns, sums[0], sums[1]);
      }
    }
  }
}

// Rows [first, first + rows) of A*B in double, over the original floats: a product of
// two floats is exact in double.
void referenceRows(const std::vector<float>& a, const std::vector<float>& b,
                   Shape shape, int first, int rows, std::vector<double>& out) {
  productRows(&a[size_t(first) * shape.k], b, rows, shape.n, shape.k, out);
}
// end pull

// pull: src/quant_matmul.cu#f32-gate
// |got - ref| <= relative * (max|ref| + |ref|): the rounding of k additions, with the
// factor sqrt(k) of errors that partly cancel. max|ref| is known only at the end of a
// streamed pass, so what fails the gate so far is kept and judged again then.
class F32Gate {
 public:
  explicit F32Gate(int k)
      : relative_(std::max(1e-5, 4.0 * std::ldexp(1.0, -23) * std::sqrt(double(k)))) {}

  void raise(double reference) {
    maxReference_ = std::max(maxReference_, std::fabs(reference));
  }
  void add(double error, double reference) {
    if (!passes({error, reference})) doubtful_.push_back({error, reference});
  }
  long failures() const {
    return std::count_if(doubtful_.begin(), doubtful_.end(),
                         [this](const Element& element) { return !passes(element); });
  }
  double relative() const { return relative_; }
  double absolute() const { return relative_ * maxReference_; }
  double maxReference() const { return maxReference_; }

 private:
  struct Element {
    double error, reference;
  };
  bool passes(const Element& element) const {
    return element.error <= absolute() + relative_ * std::fabs(element.reference);
  }

  double relative_, maxReference_ = 0.0;
  std::vector<Element> doubtful_;
};
// end pull

// One row of A * B in float, over the first `k` terms.
std::vector<float> floatRow(const std::vector<float>& a, const std::vector<float>& b,
                            Shape shape, int row, int k) {
  std::vector<float> sum(shape.n, 0.0f);
  for (int p = 0; p < k; ++p) {
    for (int j = 0; j < shape.n; ++j) {
      sum[j] = std::fma(a[row * shape.k + p], b[p * shape.n + j], sum[j]);
    }
  }
  return sum;
}

void judge(const char* what, int missing) {
  const Shape shape = {64, 64, 256};
  Generator random;
  const std::vector<float> a = makeA(shape, random), b = makeB(shape, random);
  F32Gate gate(shape.k);
  std::vector<double> reference;
  double worst = 0.0;
  for (int i = 0; i < shape.m; ++i) {
    referenceRows(a, b, shape, i, 1, reference);
    const std::vector<float> got = floatRow(a, b, shape, i, shape.k - missing);
    for (int j = 0; j < shape.n; ++j) {
      const double error = std::fabs(got[j] - reference[j]);
      gate.raise(reference[j]);
      gate.add(error, reference[j]);
      worst = std::max(worst, error);
    }
  }
  std::printf("%-22s max error %.2e, gate %.2e + %.2e |ref|, %ld of %d fail\n", what,
              worst, gate.absolute(), gate.relative(), gate.failures(),
              shape.m * shape.n);
}

int main() {
  judge("a float loop", 0);
  judge("without its last term", 1);
}
