// The program's own functions, on a CPU, against values worked out by hand and
// properties that hold for any input.
#define main quant_matmul_main
#include "quant_matmul.cu.h"
#undef main

#include <cuda_fp8.h>
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <limits>

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

using Floats = std::vector<float>;
using Codes = std::vector<int8_t>;

template <typename Property>
void check(const char* description, Property property) {
  CHECK_MESSAGE(rc::check(description, property), description);
}

// Finite floats over many magnitudes, zeros and repeats included.
rc::Gen<float> finite() {
  return rc::gen::map(
      rc::gen::pair(rc::gen::inRange(-1000, 1001), rc::gen::inRange(-20, 21)),
      [](const std::pair<int, int>& x) {
        return std::ldexp(static_cast<float>(x.first), x.second);
      });
}

Floats someFloats(size_t count) {
  return *rc::gen::container<Floats>(count, finite());
}

Shape someShape(int largest) {
  const auto size = rc::gen::inRange(1, largest + 1);
  Shape shape;
  shape.m = *size;
  shape.n = *size;
  shape.k = *size;
  return shape;
}

Inputs inputs(int m, int n, int k) {
  Shape shape;
  shape.m = m;
  shape.n = n;
  shape.k = k;
  return syntheticInputs(shape);
}

}  // namespace

TEST_CASE("the generator's first values are the recurrence's") {
  Generator random;  // 20260901 -> 1706933056 -> ..., worked out apart
  CHECK(random.unit() == 6667707.0f / 16777216.0f);
  CHECK(random.unit() == 4779253.0f / 16777216.0f);
  CHECK(random.unit() == 5692358.0f / 16777216.0f);
}

TEST_CASE("B's columns fall in gain by halves, over seven columns, with outliers") {
  Shape shape;
  shape.m = 1;
  shape.n = 9;
  shape.k = 9;
  Generator again;
  const Floats b = syntheticInputs(shape).b;
  for (int i = 0; i < 9; ++i) again.unit();  // A is drawn first
  for (int i = 0; i < 81; ++i) {
    const float gain = 1.0f / static_cast<float>(1 << (i % 9 % 7));
    const float outlier = i == 0 || i == 37 || i == 74 ? 8.0f : 1.0f;
    CHECK(b[i] == (2.0f * again.unit() - 1.0f) * gain * outlier);
  }
}

TEST_CASE("symmetric quantization of four numbers") {
  const Quantized q = quantizeSymmetric({-1.0f, 0.5f, 0.25f, 1.0f});
  CHECK(q.scales[0] == 1.0f / 127.0f);
  CHECK(q.zeroPoint == 0);
  CHECK(q.codes == Codes{-127, 64, 32, 127});  // 63.5 ties to 64, 31.75 rounds up
}

TEST_CASE("zeros and values too small for a scale become zero codes") {
  for (const Floats& x : {Floats{0.0f, -0.0f}, Floats{1e-45f, -1e-45f}}) {
    CHECK(quantizeSymmetric(x).codes == Codes{0, 0});
    CHECK(quantizeSymmetric(x).scales[0] == 1.0f);
    CHECK(quantizeColumns(x, 2).codes == Codes{0, 0});
  }
  const Quantized zeros = quantizeAsymmetric({0.0f, 0.0f});
  CHECK(zeros.scales[0] == 1.0f);
  CHECK(zeros.zeroPoint == -128);
  CHECK(zeros.codes == Codes{-128, -128});
}

TEST_CASE("asymmetric quantization includes zero and saturates the zero point") {
  CHECK(quantizeAsymmetric({1.0f, 2.0f}).zeroPoint == -128);
  CHECK(quantizeAsymmetric({1.0f, 2.0f}).scales[0] == 2.0f / 255.0f);

  const Quantized positive = quantizeAsymmetric({1.0f, 255.0f / 128.0f});
  CHECK(positive.scales[0] == 1.0f / 128.0f);
  CHECK(positive.zeroPoint == -128);
  CHECK(positive.codes == Codes{0, 127});

  const Quantized negative = quantizeAsymmetric({-255.0f / 128.0f, -1.0f});
  CHECK(negative.scales[0] == 1.0f / 128.0f);
  CHECK(negative.zeroPoint == 127);
  CHECK(negative.codes == Codes{-128, -1});

  const Quantized constant = quantizeAsymmetric({5.0f, 5.0f, 5.0f});
  CHECK(constant.zeroPoint == -128);
  CHECK(constant.codes == Codes{127, 127, 127});

  const Quantized both = quantizeAsymmetric({-1.0f, 0.0f, 3.0f});
  CHECK(both.zeroPoint == -64);  // -128 + 63.75, rounded
  CHECK(both.codes == Codes{-128, -64, 127});
  CHECK(dequantize(both.codes[1], both.scales[0], both.zeroPoint) == 0.0f);
}

TEST_CASE("one scale for B, and one for each column") {
  const Floats b = {1.0f, 127.0f, -2.0f, 63.5f};  // 2 x 2
  const Quantized one = quantizeSymmetric(b);
  CHECK(one.scales == Floats{1.0f});
  CHECK(one.codes == Codes{1, 127, -2, 64});
  const Quantized columns = quantizeColumns(b, 2);
  CHECK(columns.scales == Floats{2.0f / 127.0f, 1.0f});
  CHECK(columns.codes == Codes{64, 127, -127, 64});
  CHECK(columnMaxAbs(b, 2) == Floats{2.0f, 127.0f});
}

TEST_CASE("NaN and infinity are refused by index") {
  for (float bad : {kNan, kInfinity, -kInfinity}) {
    const Floats x = {1.0f, 2.0f, bad, 3.0f};
    CHECK_THROWS_WITH_AS(quantizeSymmetric(x), "value 2 is not finite",
                         std::invalid_argument);
    CHECK_THROWS_WITH_AS(quantizeAsymmetric(x), "value 2 is not finite",
                         std::invalid_argument);
    CHECK_THROWS_WITH_AS(quantizeColumns(x, 2), "value 2 is not finite",
                         std::invalid_argument);
  }
}

TEST_CASE("any value comes back within half a step") {
  const auto within = [](float x, float back, float scale) {
    // Half a step, and the rounding of a quotient up to 127 and of its product.
    return std::fabs(double(back) - x) <= (0.5 + 3e-5) * scale;
  };
  check("symmetric", [&] {
    const Floats x = someFloats(*rc::gen::inRange(1, 50));
    const Quantized q = quantizeSymmetric(x);
    for (size_t i = 0; i < x.size(); ++i) {
      RC_ASSERT(q.codes[i] >= -127);
      RC_ASSERT(within(x[i], dequantize(q.codes[i], q.scales[0], 0), q.scales[0]));
    }
  });
  check("asymmetric: the zero point rounds too, so a step at the ends", [&] {
    const Floats x = someFloats(*rc::gen::inRange(1, 50));
    const Quantized q = quantizeAsymmetric(x);
    RC_ASSERT(q.zeroPoint >= -128 && q.zeroPoint <= 127);
    RC_ASSERT(quantize(0.0f, q.scales[0], q.zeroPoint, -128) == q.zeroPoint);
    for (size_t i = 0; i < x.size(); ++i) {
      const float back = dequantize(q.codes[i], q.scales[0], q.zeroPoint);
      const bool clamped = q.codes[i] == -128 || q.codes[i] == 127;
      RC_ASSERT(within(x[i], back, clamped ? 2.001f * q.scales[0] : q.scales[0]));
    }
  });
  check("per column", [&] {
    const int n = *rc::gen::inRange(1, 6);
    const Floats x = someFloats(n * *rc::gen::inRange(1, 10));
    const Quantized q = quantizeColumns(x, n);
    for (size_t i = 0; i < x.size(); ++i) {
      RC_ASSERT(
          within(x[i], dequantize(q.codes[i], q.scales[i % n], 0), q.scales[i % n]));
    }
  });
}

TEST_CASE("column sums and the codes that a column uses") {
  CHECK(columnSums({1, -2, 3, 100, 127, -128}, 2) == std::vector<int32_t>{131, -30});
  const ColumnCodes column = columnCodes({0, 5, 0, 5, -1, 5, 0, 6}, 2, 0);
  CHECK(column.distinct == 2);
  CHECK(column.zeros == 0.75);
  CHECK(columnCodes({0, 5, 0, 5, -1, 5, 0, 6}, 2, 1).distinct == 2);
}

TEST_CASE("2:4 pruning drops nothing larger than what it keeps") {
  check("pruned groups", [] {
    const int k = *rc::gen::inRange(1, 20), n = *rc::gen::inRange(1, 4);
    const Floats before = someFloats(size_t(k) * n);
    Floats after = before;
    prune2to4(after, k, n);
    for (int col = 0; col < n; ++col) {
      for (int k0 = 0; k0 < k; k0 += 4) {
        float smallestKept = kInfinity, largestDropped = 0.0f;
        int kept = 0;
        for (int p = k0; p < std::min(k0 + 4, k); ++p) {
          const float was = before[size_t(p) * n + col],
                      is = after[size_t(p) * n + col];
          RC_ASSERT(is == was || is == 0.0f);
          kept += is != 0.0f;
          if (is != 0.0f) smallestKept = std::min(smallestKept, std::fabs(is));
          if (is != was) largestDropped = std::max(largestDropped, std::fabs(was));
        }
        RC_ASSERT(kept <= 2);
        RC_ASSERT(smallestKept >= largestDropped);
      }
    }
  });
}

// The program's plain product on the device, in the arithmetic of Sum.
template <typename Sum, typename T>
std::vector<Sum> product(const std::vector<T>& a, const std::vector<T>& b, Shape shape,
                         Sum subtract) {
  const DeviceBuffer<T> deviceA(a), deviceB(b);
  std::vector<Sum> c(size_t(shape.m) * shape.n);
  launchPlainProduct<Sum, T>(deviceA, deviceB, shape, subtract).read(0, c);
  return c;
}

TEST_CASE(
    "the reference adds the terms in order, bit for bit, and so does a host row") {
  check("reference", [&] {
    const Shape shape = someShape(40);
    const Floats a = someFloats(size_t(shape.m) * shape.k);
    const Floats b = someFloats(size_t(shape.k) * shape.n);
    const std::vector<double> got = product<double>(a, b, shape, 0.0);
    for (int i = 0; i < shape.m; ++i) {
      const std::vector<double> row = hostRow(&a[i * shape.k], b, shape, 0.0);
      for (int j = 0; j < shape.n; ++j) {
        double sum = 0.0;
        for (int p = 0; p < shape.k; ++p) {
          sum += double(a[i * shape.k + p]) * double(b[p * shape.n + j]);
        }
        RC_ASSERT(got[i * shape.n + j] == sum);
        RC_ASSERT(row[j] == sum);
      }
    }
  });
}

TEST_CASE("the oracle subtracts the zero point from each code") {
  const Codes a = {-128, 127}, b = {-127, 3, 127, 5};
  Shape shape;
  shape.m = 1, shape.n = shape.k = 2;
  CHECK(product<int32_t>(a, b, shape, 127) ==
        std::vector<int32_t>{255 * 127, -255 * 3});
  CHECK(product<int32_t>(a, b, shape, 0) ==
        std::vector<int32_t>{128 * 127 + 127 * 127, -128 * 3 + 127 * 5});
  CHECK(hostRow(a.data(), b, shape, 127) == std::vector<int32_t>{255 * 127, -255 * 3});
}

TEST_CASE("sums above 2^24 stay exact, and round once in the epilogue") {
  const int k = 4099;  // codes of 127 alone: 4099 * 127 * 127 = 66112771
  Inputs in = inputs(1, 1, k);
  for (auto* values : {&in.a, &in.b}) std::fill(values->begin(), values->end(), 1.0f);
  const CaseReport report = runLadder(in, 0);
  CHECK(report.rows[kPerColumn].largestSum == 66112771);
  std::vector<float> got(1);
  report.rows[kPerColumn].output.read(0, got);
  const float scale = 1.0f / 127.0f;
  CHECK(got[0] == 66112772.0f * (scale * scale));  // between two floats: to even
  for (const Row& row : report.rows) CHECK(row.exact.different == 0);
}

TEST_CASE("the exact gate sees every tile row, and every row of a small case") {
  check("rows", [] {
    Shape shape;
    shape.m = *rc::gen::inRange(1, 3000);
    shape.n = shape.k = *rc::gen::element(1, 256, 2048);
    const std::vector<int> rows = oracleRows(shape);
    const bool small = double(shape.m) * shape.n * shape.k <= 16777216.0;
    if (small) RC_ASSERT(int(rows.size()) == shape.m);
    std::vector<bool> seen((shape.m + kTile - 1) / kTile, false);
    for (int row : rows) {
      RC_ASSERT(row >= 0 && row < shape.m);
      seen[row / kTile] = true;
    }
    RC_ASSERT(std::count(seen.begin(), seen.end(), false) == 0);
  });
  Shape large;
  large.m = large.n = large.k = 1024;
  const std::vector<int> rows = oracleRows(large);
  std::vector<bool> offsets(kTile, false);
  for (int row : rows) offsets[row % kTile] = true;
  CHECK(std::count(offsets.begin(), offsets.end(), true) == kTile);
}

TEST_CASE("bits decide, not values") {
  const auto different = [](const Floats& got, const Floats& want) {
    Comparison comparison;
    comparison.add(got, want);
    CHECK(comparison.compared == long(want.size()));
    return comparison.different;
  };
  CHECK(different({1.0f, 0.0f, kNan}, {1.0f, 0.0f, kNan}) == 0);
  CHECK(different({1.0f, -0.0f, kNan}, {1.0f, 0.0f, 1.0f}) == 2);
  CHECK(different({std::nextafter(1.0f, 2.0f)}, {1.0f}) == 1);
}

TEST_CASE("the column gate, and that no error of a column's own scale passes it") {
  CHECK(columnGate(2, 1.0f, {127.0f, 0.0f}) == std::vector<double>{8.0, 0.0});
  check("bound", [] {
    const Shape shape = someShape(8);
    const Floats a = someFloats(size_t(shape.m) * shape.k);
    const Floats b = someFloats(size_t(shape.k) * shape.n);
    const Quantized qa = quantizeSymmetric(a);
    const Quantized qb = quantizeColumns(b, shape.n);
    const std::vector<double> gate =
        columnGate(shape.k, maxAbs(a), columnMaxAbs(b, shape.n));
    for (int i = 0; i < shape.m; ++i) {
      for (int j = 0; j < shape.n; ++j) {
        double error = 0.0;
        for (int p = 0; p < shape.k; ++p) {
          const int ia = i * shape.k + p, ib = p * shape.n + j;
          error += double(qa.codes[ia]) * qa.scales[0] * qb.codes[ib] * qb.scales[j] -
                   double(a[ia]) * b[ib];
        }
        // A quarter is what the derivation needs; the little is its second order.
        RC_ASSERT(std::fabs(error) <= gate[j] / 4.0 * (1.0 + 1.0 / 500.0));
      }
    }
  });
}

TEST_CASE("predicted rms of a product worked out by hand") {
  Shape shape;
  shape.m = 2;
  shape.n = 1;
  shape.k = 2;
  const Floats a = {1.0f, 3.0f, 1.0f, 3.0f};  // mean 2, mean square 5
  const Floats b = {1.25f, -0.75f};
  Quantized qb;
  qb.scales = {0.5f};
  qb.codes = {2, -2};  // 1.0 and -1.0: errors -0.25 and -0.25, summed -0.5
  const PredictedRms rms = predictRms(a, b, shape, 0.25f, qb);
  // From B: k * 5 * 0.25/12 = 0.208333; from A: (1.5625 + 0.5625) * 0.0625/12 =
  // 0.011068. With the bias: k * (5 - 4) * 0.25/12 + 4 * 0.25 = 1.041667.
  CHECK(rms.noise == doctest::Approx(std::sqrt(0.208333333 + 0.011067708)));
  CHECK(rms.withBias == doctest::Approx(std::sqrt(1.041666667 + 0.011067708)));
}

TEST_CASE("the FP32 gate judges by the largest reference, and no NaN passes it") {
  CHECK(f32Relative(1) == 1e-5);
  CHECK(f32Relative(1024) == std::ldexp(128.0, -23));
  Inputs in = inputs(3, 2, 1);
  in.a = {1.0f, 2.0f, 3.0f}, in.b = {1.0f, -2.0f};
  CaseReport report(in);
  CHECK(report.maxReference == 6.0);
  CHECK(report.host.compared == 2);
  // 1 2 3 and -2 -4 -6: all may be off by 1e-5 * (6 + |ref|).
  Row row("matmulTiledF32", in.shape);
  const Floats output = {1.0f, -2.0f, 2.0f + 7e-5f, -4.0f, 3.0f + 9.5e-5f, kNan};
  cudaMemcpy(row.output.get(), output.data(), 6 * sizeof(float),
             cudaMemcpyHostToDevice);
  report.rows.push_back(std::move(row));
  judge(in.shape, report);
  CHECK(report.f32Failures == 2);
  CHECK(report.rows[0].notFinite == 1);
}

TEST_CASE("every code of E2M1 and the ties between them") {
  const float codes[] = {0.0f, 0.5f, 1.0f, 1.5f, 2.0f, 3.0f, 4.0f, 6.0f};
  for (int i = 0; i < 8; ++i) {
    CHECK(roundE2M1(codes[i]) == codes[i]);
    CHECK(roundE2M1(-codes[i]) == -codes[i]);
    if (i == 7) continue;
    const float middle = (codes[i] + codes[i + 1]) / 2.0f;
    CHECK(roundE2M1(std::nextafter(middle, 0.0f)) == codes[i]);
    CHECK(roundE2M1(middle) == codes[i + i % 2]);  // the code with an even mantissa
    CHECK(roundE2M1(std::nextafter(middle, 9.0f)) == codes[i + 1]);
  }
  CHECK(roundE2M1(1e30f) == 6.0f);
  CHECK(roundE2M1(-7.0f) == -6.0f);
}

TEST_CASE("every code of E4M3 and the ties between them") {
  std::vector<float> codes;  // S.1111.111 is NaN, so 448 is the largest
  for (int code = 0; code < 0x7F; ++code) {
    const int exponent = code >> 3, mantissa = code & 7;
    codes.push_back(exponent == 0 ? std::ldexp(float(mantissa), -9)
                                  : std::ldexp(float(8 + mantissa), exponent - 10));
  }
  CHECK(codes.back() == 448.0f);
  for (size_t i = 0; i < codes.size(); ++i) {
    CHECK(roundE4M3(codes[i]) == codes[i]);
    CHECK(roundE4M3(-codes[i]) == -codes[i]);
    if (i + 1 == codes.size()) continue;
    const float middle = (codes[i] + codes[i + 1]) / 2.0f;
    CHECK(roundE4M3(std::nextafter(middle, 0.0f)) == codes[i]);
    CHECK(roundE4M3(middle) == codes[i + i % 2]);
    CHECK(roundE4M3(std::nextafter(middle, 999.0f)) == codes[i + 1]);
  }
  CHECK(roundE4M3(465.0f) == 448.0f);
  CHECK(roundE4M3(kInfinity) == 448.0f);
}

TEST_CASE("E4M3 rounds as the toolkit's type does") {
  for (uint64_t bits = 0; bits < 0x7F800000u; bits += 1009) {
    const uint32_t pattern = static_cast<uint32_t>(bits);
    float x;
    std::memcpy(&x, &pattern, sizeof x);
    if (roundE4M3(-x) == static_cast<float>(__nv_fp8_e4m3(-x))) continue;
    FAIL_CHECK(x << ": " << roundE4M3(-x));
    break;
  }
}

TEST_CASE("MXINT8 elements are 64ths, up to 127/64") {
  CHECK(roundMxInt8(1.0f) == 1.0f);
  CHECK(roundMxInt8(1.0f / 128.0f) == 0.0f);  // ties to even
  CHECK(roundMxInt8(3.0f / 128.0f) == 2.0f / 64.0f);
  CHECK(roundMxInt8(1.999f) == 127.0f / 64.0f);
  CHECK(roundMxInt8(-5.0f) == -127.0f / 64.0f);
}

TEST_CASE("every scale of E8M0, by the specification's rule and rounded up") {
  for (int exponent = -127; exponent <= 119; ++exponent) {
    // The block maximum 2^(e+8) has the largest exponent of E4M3, so its scale is 2^e.
    const float power = std::ldexp(1.0f, exponent + 8),
                scale = std::ldexp(1.0f, exponent);
    CHECK(specificationScale(power, kE4M3) == scale);
    CHECK(specificationScale(power * 1.99f, kE4M3) == scale);
    CHECK(roundedUpScale(power * 1.75f, kE4M3) == scale);
    CHECK(roundedUpScale(power * 1.76f, kE4M3) == 2.0f * scale);
  }
  CHECK(specificationScale(1e-40f, kE4M3) == std::ldexp(1.0f, -127));
  CHECK(specificationScale(6.5f, kE2M1) == 1.0f);
  CHECK(specificationScale(1.5f, kMxInt8) == 1.0f);
  CHECK(specificationScale(0.0f, kE4M3) == 1.0f);
}

TEST_CASE("a block's format error, worked out by hand") {
  // One block of E2M1 with scale 2^(2 - 2) = 1: 7 is clipped to 6, 0.25 ties to 0.
  const Floats b = {7.0f, 0.25f, -3.0f, 1.0f};
  const FormatError mxfp4 = blockFormatError(b, 4, 1, 32, kE2M1, specificationScale);
  CHECK(mxfp4.saturated == 1);
  CHECK(mxfp4.values == 4);
  CHECK(mxfp4.maxErr == 1.0);
  CHECK(mxfp4.rms() == doctest::Approx(std::sqrt((1.0 + 0.0625) / 4.0)));
  // Two blocks down a column: the second block's scale fits its own maximum.
  const Floats two = {6.0f, 0.0f, 0.06f, 0.03f};
  CHECK(blockFormatError(two, 4, 1, 2, kE2M1, floatScale).maxErr < 1e-8);
  // Columns are blocked apart: element (0, 1) shares a block with (1, 1).
  const Floats side = {6.0f, 0.006f, 3.0f, 0.003f};
  CHECK(blockFormatError(side, 2, 2, 2, kE2M1, floatScale).maxErr < 1e-8);
}

TEST_CASE("NVFP4 rounds a block's scale to E4M3 under one tensor scale") {
  // max 42 over 6 * 448: tensor scale 1/64. Block 2 holds 17: 17 / 6 * 64 = 181.33
  // rounds to 176 in E4M3, so its scale is 2.75 and 17 becomes 6 * 2.75 = 16.5.
  Floats b(32, 0.0f);
  b[0] = 42.0f;
  b[16] = 17.0f;
  const FormatError error =
      blockFormatError(b, 32, 1, 16, kE2M1, floatScale, 42.0f / 2688.0f, true);
  CHECK(error.maxErr == 0.5);
  CHECK(error.saturated == 1);
}

TEST_CASE("the storage census names the formats, and counts the bits of the scales") {
  const Inputs in = inputs(1, 64, 64);
  const std::vector<StorageRow> rows = storageCensus(in.b, 64, 64);
  REQUIRE(rows.size() == 9);
  CHECK(rows[1].bits == 8.5);
  CHECK(rows[4].bits == 8.25);
  CHECK(rows[5].error.saturated == 0);
  CHECK(rows[4].error.saturated > 0);
  CHECK(rows[8].bits == 4.5);
  // A last block of one value counts as well.
  const Inputs odd = inputs(1, 5, 33);
  for (const StorageRow& row : storageCensus(odd.b, 33, 5)) {
    CAPTURE(row.name);
    CHECK(row.error.values == 33 * 5);
  }
}

TEST_CASE("a column that is zero, and a tensor of zeros, have figures and no NaN") {
  Inputs in = inputs(3, 37, 1);
  std::fill(in.a.begin(), in.a.end(), 0.0f);
  std::fill(in.b.begin(), in.b.end(), 0.0f);
  CHECK(predictRms(in.a, in.b, in.shape, 1.0f, quantizeColumns(in.b, 37)).withBias ==
        std::sqrt(0.0));
  CHECK(formatted("%.2f", NAN) == "n/a");
  CHECK(formatted("%.2f", -INFINITY) == "n/a");
  CHECK(formatted("%#.3g%%", 2.0) == "2.00%");
}

TEST_CASE("arguments") {
  std::vector<Shape> cases;
  int timedRuns = 10;
  const auto parse = [&](std::vector<const char*> words) {
    words.insert(words.begin(), "quant_matmul");
    cases.clear();
    timedRuns = 10;
    return parseOptions(int(words.size()), const_cast<char**>(words.data()), cases,
                        timedRuns);
  };
  CHECK(parse({}));
  CHECK(cases.empty());
  CHECK(timedRuns == 10);
  REQUIRE(parse({"--cases", "5,300x70x129", "--timed-runs", "0"}));
  REQUIRE(cases.size() == 2);
  CHECK(cases[0].k == 5);
  CHECK(cases[1].name() == "300x70x129");
  CHECK(timedRuns == 0);
  for (const char* bad :
       {"", "0", "x", "5x", "5x6", "5x6x", "5x6x7x8", "5,", ",5", "-5", "+5", "5.0",
        " 5", "65537", "99999999999999999999", "5x0x5"}) {
    INFO(bad);
    CHECK_FALSE(parse({"--cases", bad}));
  }
  CHECK_FALSE(parse({"--cases"}));
  CHECK_FALSE(parse({"--timed-runs"}));
  CHECK_FALSE(parse({"--timed-runs", "1001"}));
  CHECK_FALSE(parse({"--timed-runs", "1x"}));
  CHECK_FALSE(parse({"--unknown"}));
  CHECK_FALSE(parse({"256"}));
}

// Run in three thread orders, by the suite.
TEST_CASE("each kernel on ragged shapes: INT8 to the bit, FP32 within its gate") {
  const int shapes[][3] = {{1, 1, 1},    {16, 16, 16}, {17, 16, 15}, {3, 40, 1},
                           {33, 2, 100}, {61, 45, 77}, {64, 48, 32}};
  for (const auto& s : shapes) {
    CAPTURE(s[0]);
    CAPTURE(s[1]);
    CAPTURE(s[2]);
    Inputs in = inputs(s[0], s[1], s[2]);
    CaseReport report = runLadder(in, 0);
    judge(in.shape, report);
    REQUIRE(report.rows.size() == 5);
    CHECK(report.f32Failures == 0);
    CHECK(report.host.different == 0);
    CHECK(report.twoOfFour);
    for (const Row& row : report.rows) {
      CAPTURE(row.name);
      CHECK(row.notFinite == 0);
      CHECK(row.exact.different == 0);
      CHECK(row.exact.compared == (&row == &report.rows[0] ? 0 : long(s[0]) * s[1]));
    }
  }
}

TEST_CASE("a run that any gate fails says so") {
  Inputs in = inputs(20, 30, 40);
  CaseReport report = runLadder(in, 0);
  judge(in.shape, report);
  const auto failsWith = [&](auto& figure, auto value) {
    const auto was = figure;
    figure = value;
    const bool passed = judgeGates(in, report);
    figure = was;
    return !passed;
  };
  CHECK(judgeGates(in, report));
  CHECK(failsWith(report.rows[kPruned].exact.different, 1));
  CHECK(failsWith(report.rows[kF32].notFinite, 1));
  CHECK(failsWith(report.rows[kZeroPoint].gateFraction, 1.01));
  CHECK(failsWith(report.host.different, 1));
  CHECK(failsWith(report.f32Failures, 1));
  CHECK(failsWith(report.twoOfFour, false));
  CHECK(judgeGates(in, report));
}
