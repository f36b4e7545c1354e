// SPDX-License-Identifier: MIT
//
// How large the error of an INT8 product should be, and how large it is. Where one
// scale leaves a small column few codes, the model does not hold.
//
//   nvcc -std=c++17 -O3 -arch=sm_75 -o predicted-rms predicted-rms.cu

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

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

struct Quantized {
  std::vector<int8_t> codes;
  std::vector<float> scales;  // 1, or one for each column
  float scale(size_t col) const { return scales[scales.size() == 1 ? 0 : col]; }
};

// pull: src/quant_matmul.cu#predicted-rms
struct PredictedRms {
  double noise = 0.0, withBias = 0.0;
};

// Rms error of the product, to first order in the rounding errors e of B's codes and d
// of A's: sum over k of a e + b d. Uniform noise over one step has variance step^2/12,
// so `noise` averages sum_k (a^2 sB^2/12 + b^2 sA^2/12) over the outputs. But where A's
// mean is not zero, mean(A) * sum_k e is one number for a whole column of the output, a
// bias: `withBias` takes it as it is.
PredictedRms predictRms(const std::vector<float>& a, const std::vector<float>& b,
                        Shape shape, float scaleA, const Quantized& qb) {
  double sumA = 0.0, sumA2 = 0.0, sumB2 = 0.0;
  for (float value : a) {
    sumA += value;
    sumA2 += double(value) * value;
  }
  const double meanA = sumA / double(a.size()), meanA2 = sumA2 / double(a.size());

  std::vector<double> bias(shape.n, 0.0);  // of each column of B, summed over k
  for (size_t i = 0; i < b.size();) {
    for (int col = 0; col < shape.n; ++col, ++i) {
      sumB2 += double(b[i]) * b[i];
      bias[col] += double(qb.codes[i]) * qb.scale(col) - b[i];
    }
  }
  double expected = 0.0, actual = 0.0;  // sums over columns of B's share
  for (int col = 0; col < shape.n; ++col) {
    const double noise = shape.k * double(qb.scale(col)) * qb.scale(col) / 12.0;
    expected += meanA2 * noise;
    actual += std::max(meanA2 - meanA * meanA, 0.0) * noise +
              meanA * meanA * bias[col] * bias[col];
  }
  const double fromA = sumB2 * double(scaleA) * scaleA / 12.0;
  return {std::sqrt((expected + fromA) / shape.n),
          std::sqrt((actual + fromA) / shape.n)};
}

// How far measured/withBias may stand from 1: one percent for the model, and what an
// average over so many outputs wanders.
double predictionBand(Shape shape) {
  return 0.01 + 2.5 / std::sqrt(double(shape.m) * shape.n);
}

// Whether the model fits the inputs at all: an average needs many terms, and where n
// is a multiple of 37 B's outliers fill whole columns instead of being strewn.
bool predictionHolds(Shape shape) {
  return std::min({shape.m, shape.n, shape.k}) >= 128 && shape.n % 37 != 0;
}
// end pull

// Symmetric codes of a row-major matrix, with one scale or as many as it has columns.
Quantized quantized(const std::vector<float>& x, size_t count) {
  Quantized q;
  q.scales.assign(count, 0.0f);
  for (size_t i = 0; i < x.size(); ++i) {
    q.scales[i % count] = std::max(q.scales[i % count], std::fabs(x[i]) / 127.0f);
  }
  for (size_t i = 0; i < x.size(); ++i) {
    q.codes.push_back(static_cast<int8_t>(std::nearbyint(x[i] / q.scales[i % count])));
  }
  return q;
}

void printRow(const char* name, const Inputs& in, const Quantized& qb) {
  const int m = in.shape.m, n = in.shape.n, k = in.shape.k;
  const Quantized qa = quantized(in.a, 1);
  double squares = 0.0;
  for (int row = 0; row < m; ++row) {
    std::vector<double> reference(n, 0.0);
    std::vector<int32_t> sum(n, 0);
    for (int p = 0; p < k; ++p) {
      for (int col = 0; col < n; ++col) {
        reference[col] += double(in.a[row * k + p]) * in.b[p * n + col];
        sum[col] += qa.codes[row * k + p] * qb.codes[p * n + col];
      }
    }
    for (int col = 0; col < n; ++col) {
      const float got = static_cast<float>(sum[col]) * (qa.scales[0] * qb.scale(col));
      squares += (got - reference[col]) * (got - reference[col]);
    }
  }
  const double rms = std::sqrt(squares / (double(m) * n));
  const PredictedRms predicted = predictRms(in.a, in.b, in.shape, qa.scales[0], qb);
  std::printf("| %-15s | %9.3e | %9.3e | %9.4f | %9.3e | %11.4f |\n", name, rms,
              predicted.noise, rms / predicted.noise, predicted.withBias,
              rms / predicted.withBias);
}

int main() {
  const Inputs in = syntheticInputs({256, 256, 256});
  std::printf(
      "# predicted rms (%s)\n\n"
      "| B               |       rms |     noise | meas/pred | with bias | meas/biased "
      "|\n| :-------------- | --------: | --------: | --------: | --------: | "
      "----------: |\n",
      in.shape.name().c_str());
  printRow("int8 one scale", in, quantized(in.b, 1));
  printRow("int8 per-column", in, quantized(in.b, in.shape.n));
  std::printf("\na right kernel stands within %.4f of a ratio of 1 with bias\n",
              predictionBand(in.shape));
  if (std::fflush(stdout) == 0) return 0;
  std::perror("stdout");
  return 1;
}
