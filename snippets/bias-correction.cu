// SPDX-License-Identifier: MIT
//
// Takes the columns' bias, mean(A) times their summed rounding errors, out again.
//
//   nvcc -std=c++17 -O3 -arch=sm_75 -o bias-correction bias-correction.cu &&
//   ./bias-correction

// pull: src/quant_matmul.cu#prelude
#include <cuda_fp8.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kTile = 16;  // a block computes kTile x kTile outputs, one a thread
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
  for (size_t i = 0; i < b.size(); ++i) {
    const float gain = std::ldexp(1.0f, -static_cast<int>(i % shape.n % 7));
    b[i] = (2.0f * random.unit() - 1.0f) * gain * (i % 37 == 0 ? 8.0f : 1.0f);
  }
  return b;
}
// end pull

// pull: src/quant_matmul.cu#quantize-symmetric
// Largest magnitude; refuses NaN and infinity by index, since no scale fits them.
float maxAbs(const std::vector<float>& x) {
  float largest = 0.0f;
  for (size_t i = 0; i < x.size(); ++i) {
    if (!std::isfinite(x[i])) {
      throw std::invalid_argument("value " + std::to_string(i) + " is not finite");
    }
    largest = std::max(largest, std::fabs(x[i]));
  }
  return largest;
}

// Scale of symmetric codes -127..127. Zeros alone (or values too small for a scale)
// take scale 1: every code is 0 and dequantizes to 0.
float symmetricScale(float largest) {
  const float scale = largest / 127.0f;
  return scale > 0.0f ? scale : 1.0f;
}

// Round to nearest, ties to even, then shift by the zero point and clamp.
int8_t quantize(float x, float scale, int zeroPoint, int lowest) {
  const float code = std::nearbyint(x / scale) + static_cast<float>(zeroPoint);
  return static_cast<int8_t>(
      std::min(std::max(code, static_cast<float>(lowest)), 127.0f));
}

float dequantize(int code, float scale, int zeroPoint) {
  return scale * static_cast<float>(code - zeroPoint);
}
// end pull

// pull: src/quant_matmul.cu#quantized
struct QuantizedA {
  std::vector<int8_t> codes;  // m x k
  float scale = 1.0f;
  int zeroPoint = 0;
};

struct QuantizedB {
  std::vector<int8_t> codes;  // k x n
  std::vector<float> scales;  // 1, or one for each column
};
// end pull

// pull: src/quant_matmul.cu#quantize-symmetric-a
QuantizedA quantizeSymmetricA(const std::vector<float>& a) {
  QuantizedA q;
  q.scale = symmetricScale(maxAbs(a));
  q.codes.reserve(a.size());
  for (float value : a) q.codes.push_back(quantize(value, q.scale, 0, -127));
  return q;
}
// end pull

// pull: src/quant_matmul.cu#quantize-columns
// Largest magnitude of each of B's n columns.
std::vector<float> columnMaxAbs(const std::vector<float>& b, int n) {
  maxAbs(b);  // refuses what is not finite
  std::vector<float> largest(n, 0.0f);
  for (size_t i = 0; i < b.size(); ++i) {
    largest[i % n] = std::max(largest[i % n], std::fabs(b[i]));
  }
  return largest;
}

// One symmetric scale for each column: a small column gets all 255 codes again.
QuantizedB quantizeColumnsB(const std::vector<float>& b, int n) {
  QuantizedB q;
  for (float largest : columnMaxAbs(b, n)) q.scales.push_back(symmetricScale(largest));
  q.codes.reserve(b.size());
  for (size_t i = 0; i < b.size(); ++i) {
    q.codes.push_back(quantize(b[i], q.scales[i % n], 0, -127));
  }
  return q;
}
// end pull

// pull: src/quant_matmul.cu#reference
// Rows [first, first + rows) of A*B in double, over the original floats. A product of
// two floats is exact in double, and each output adds its terms in ascending k. Four
// k at a time keep an output in a register for four terms: the same sums, sooner.
void referenceRows(const std::vector<float>& a, const std::vector<float>& b,
                   Shape shape, int first, int rows, std::vector<double>& out) {
  const int n = shape.n, k = shape.k;
  out.assign(size_t(rows) * n, 0.0);
  for (int p = 0; p < k; p += 4) {
    const float* bRow[4];
    for (int q = 0; q < 4; ++q) bRow[q] = &b[size_t(std::min(p + q, k - 1)) * n];
    for (int i = 0; i < rows; ++i) {
      double x[4];  // past the end of k a zero takes the place of a
      for (int q = 0; q < 4; ++q) {
        x[q] = p + q < k ? a[size_t(first + i) * k + p + q] : 0.0f;
      }
      double* sum = &out[size_t(i) * n];
      for (int j = 0; j < n; ++j) {
        sum[j] =
            (((sum[j] + x[0] * bRow[0][j]) + x[1] * bRow[1][j]) + x[2] * bRow[2][j]) +
            x[3] * bRow[3][j];
      }
    }
  }
}
// end pull

// pull: src/quant_matmul.cu#exact-gate
// One row of the INT8 output, to the bit: integer sum, one conversion, one product.
// It subtracts the zero point from each code instead of correcting afterwards, so
// that it shares no step with the kernel that it judges.
void oracleRow(const int8_t* aCodes, int zeroPoint, const std::vector<int8_t>& bCodes,
               const std::vector<float>& outputScale, int n, int k,
               std::vector<float>& out) {
  std::vector<int32_t> sum(n, 0);
  for (int p = 0; p < k; ++p) {
    const int16_t aValue = static_cast<int16_t>(aCodes[p] - zeroPoint);
    const int8_t* bRow = &bCodes[size_t(p) * n];
    for (int j = 0; j < n; ++j) sum[j] += static_cast<int16_t>(aValue * bRow[j]);
  }
  for (int j = 0; j < n; ++j) {
    out[j] = static_cast<float>(sum[j]) * outputScale[outputScale.size() == 1 ? 0 : j];
  }
}

// Which rows the exact gate compares: all of a small case; of a large one a row of
// every tile row, at a wandering offset, so that every block answers in every column.
std::vector<int> oracleRows(Shape shape) {
  std::vector<int> rows;
  const bool every = shape.work() <= 256.0 * 256.0 * 256.0;
  for (int first = 0, tile = 0; first < shape.m; first += every ? 1 : kTile, ++tile) {
    const int height = every ? 1 : std::min(kTile, shape.m - first);
    rows.push_back(first + 7 * tile % height);
  }
  return rows;
}

// Bit patterns decide, so that a NaN or a -0 in the output differs too.
long countDifferentBits(const std::vector<float>& got, const std::vector<float>& want) {
  long different = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    different += std::memcmp(&got[i], &want[i], sizeof(float)) != 0;
  }
  return different;
}
// end pull

// pull: src/quant_matmul.cu#predicted-rms
struct PredictedRms {
  double noise = 0.0, withBias = 0.0;
};

// Rms error of the product, from first order in the rounding errors e of B's codes
// and d of A's: sum over k of a e + b d. Uniform noise over one step has variance
// step^2/12, so `noise` averages sum_k (a^2 sB^2/12 + b^2 sA^2/12) over the outputs,
// with the scales really used. But where A's mean is not zero, mean(A) * sum_k e is
// one number for a whole column of the output: a bias, and n draws of it average
// badly. `withBias` takes those sums as they are instead of their expected size.
PredictedRms predictRms(const std::vector<float>& a, const std::vector<float>& b,
                        Shape shape, float scaleA, const QuantizedB& qb) {
  double sumA = 0.0, sumA2 = 0.0, sumB2 = 0.0;
  for (float value : a) {
    sumA += value;
    sumA2 += double(value) * value;
  }
  for (float value : b) sumB2 += double(value) * value;
  const double meanA = sumA / double(a.size()), meanA2 = sumA2 / double(a.size());

  std::vector<double> bias(shape.n, 0.0);
  const auto scaleB = [&](size_t col) {
    return qb.scales[qb.scales.size() == 1 ? 0 : col];
  };
  for (size_t i = 0; i < b.size(); ++i) {
    const size_t col = i % shape.n;
    bias[col] += double(qb.codes[i]) * scaleB(col) - b[i];
  }
  double expected = 0.0, actual = 0.0;  // sums over columns of B's share
  for (int col = 0; col < shape.n; ++col) {
    const double noise = shape.k * double(scaleB(col)) * scaleB(col) / 12.0;
    expected += meanA2 * noise;
    actual += (meanA2 - meanA * meanA) * noise + meanA * meanA * bias[col] * bias[col];
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

double rmsError(const std::vector<double>& got, const std::vector<double>& want) {
  double squares = 0.0;
  for (size_t i = 0; i < want.size(); ++i) {
    squares += (got[i] - want[i]) * (got[i] - want[i]);
  }
  return std::sqrt(squares / double(want.size()));
}

int main() {
  constexpr Shape shape = {256, 256, 256};
  Generator random;
  const std::vector<float> a = makeA(shape, random), b = makeB(shape, random);
  const QuantizedA qa = quantizeSymmetricA(a);
  const QuantizedB qb = quantizeColumnsB(b, shape.n);
  std::vector<float> outputScale;
  for (float scale : qb.scales) outputScale.push_back(qa.scale * scale);

  double meanA = 0.0;  // in a network, from calibration
  for (float value : a) meanA += value / double(a.size());
  std::vector<double> bias(shape.n, 0.0);
  for (size_t i = 0; i < b.size(); ++i) {
    const int col = i % shape.n;
    bias[col] += meanA * (double(qb.codes[i]) * qb.scales[col] - b[i]);
  }

  std::vector<double> reference, plain, corrected;
  referenceRows(a, b, shape, 0, shape.m, reference);
  std::vector<float> out(shape.n);
  for (int row = 0; row < shape.m; ++row) {
    oracleRow(&qa.codes[size_t(row) * shape.k], 0, qb.codes, outputScale, shape.n,
              shape.k, out);
    for (int col = 0; col < shape.n; ++col) {
      plain.push_back(out[col]);
      corrected.push_back(out[col] - bias[col]);
    }
  }

  const PredictedRms predicted = predictRms(a, b, shape, qa.scale, qb);
  const double before = rmsError(plain, reference);
  const double after = rmsError(corrected, reference);
  std::printf("bias correction (256x256x256, a scale for each column)\n");
  std::printf("  %-12s%11s%11s\n", "output", "rms err", "predicted");
  std::printf("  %-12s%11.3e%11.3e\n", "as it is", before, predicted.withBias);
  std::printf("  %-12s%11.3e%11s\n", "corrected", after, "-");
  std::printf("  one number for each column cuts the rms error by %.2fx\n",
              before / after);
}
