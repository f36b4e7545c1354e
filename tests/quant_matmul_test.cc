// The program's own functions, on a CPU, against values worked out by hand and
// properties that hold for any input.
#define main quant_matmul_main
#include "quant_matmul.cu.h"
#undef main

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
  return Inputs(shape);
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
  Generator random, again;
  const Floats b = makeB(shape, random);
  for (int i = 0; i < 81; ++i) {
    const float gain = 1.0f / static_cast<float>(1 << (i % 9 % 7));
    const float outlier = i == 0 || i == 37 || i == 74 ? 8.0f : 1.0f;
    CHECK(b[i] == (2.0f * again.unit() - 1.0f) * gain * outlier);
  }
}

TEST_CASE("symmetric quantization of four numbers") {
  const QuantizedA q = quantizeSymmetricA({-1.0f, 0.5f, 0.25f, 1.0f});
  CHECK(q.scale == 1.0f / 127.0f);
  CHECK(q.zeroPoint == 0);
  CHECK(q.codes == Codes{-127, 64, 32, 127});  // 63.5 ties to 64, 31.75 rounds up
}

TEST_CASE("zeros and values too small for a scale become zero codes") {
  for (const Floats& x : {Floats{0.0f, -0.0f}, Floats{1e-45f, -1e-45f}}) {
    CHECK(quantizeSymmetricA(x).codes == Codes{0, 0});
    CHECK(quantizeSymmetricA(x).scale == 1.0f);
    CHECK(quantizeOneScaleB(x).codes == Codes{0, 0});
    CHECK(quantizeColumnsB(x, 2).codes == Codes{0, 0});
  }
  const QuantizedA zeros = quantizeAsymmetricA({0.0f, 0.0f});
  CHECK(zeros.scale == 1.0f);
  CHECK(zeros.zeroPoint == -128);
  CHECK(zeros.codes == Codes{-128, -128});
}

TEST_CASE("asymmetric quantization includes zero and saturates the zero point") {
  CHECK(quantizeAsymmetricA({1.0f, 2.0f}).zeroPoint == -128);
  CHECK(quantizeAsymmetricA({1.0f, 2.0f}).scale == 2.0f / 255.0f);

  const QuantizedA positive = quantizeAsymmetricA({1.0f, 255.0f / 128.0f});
  CHECK(positive.scale == 1.0f / 128.0f);
  CHECK(positive.zeroPoint == -128);
  CHECK(positive.codes == Codes{0, 127});

  const QuantizedA negative = quantizeAsymmetricA({-255.0f / 128.0f, -1.0f});
  CHECK(negative.scale == 1.0f / 128.0f);
  CHECK(negative.zeroPoint == 127);
  CHECK(negative.codes == Codes{-128, -1});

  const QuantizedA constant = quantizeAsymmetricA({5.0f, 5.0f, 5.0f});
  CHECK(constant.zeroPoint == -128);
  CHECK(constant.codes == Codes{127, 127, 127});

  const QuantizedA both = quantizeAsymmetricA({-1.0f, 0.0f, 3.0f});
  CHECK(both.zeroPoint == -64);  // -128 + 63.75, rounded
  CHECK(both.codes == Codes{-128, -64, 127});
  CHECK(dequantize(both.codes[1], both.scale, both.zeroPoint) == 0.0f);
}

TEST_CASE("one scale for B, and one for each column") {
  const Floats b = {1.0f, 127.0f, -2.0f, 63.5f};  // 2 x 2
  const QuantizedB one = quantizeOneScaleB(b);
  CHECK(one.scales == Floats{1.0f});
  CHECK(one.codes == Codes{1, 127, -2, 64});
  const QuantizedB columns = quantizeColumnsB(b, 2);
  CHECK(columns.scales == Floats{2.0f / 127.0f, 1.0f});
  CHECK(columns.codes == Codes{64, 127, -127, 64});
  CHECK(columnMaxAbs(b, 2) == Floats{2.0f, 127.0f});
}

TEST_CASE("NaN and infinity are refused by index") {
  for (float bad : {kNan, kInfinity, -kInfinity}) {
    const Floats x = {1.0f, 2.0f, bad, 3.0f};
    CHECK_THROWS_WITH_AS(quantizeSymmetricA(x), "value 2 is not finite",
                         std::invalid_argument);
    CHECK_THROWS_WITH_AS(quantizeAsymmetricA(x), "value 2 is not finite",
                         std::invalid_argument);
    CHECK_THROWS_WITH_AS(quantizeOneScaleB(x), "value 2 is not finite",
                         std::invalid_argument);
    CHECK_THROWS_WITH_AS(quantizeColumnsB(x, 2), "value 2 is not finite",
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
    const QuantizedA q = quantizeSymmetricA(x);
    for (size_t i = 0; i < x.size(); ++i) {
      RC_ASSERT(q.codes[i] >= -127);
      RC_ASSERT(within(x[i], dequantize(q.codes[i], q.scale, 0), q.scale));
    }
  });
  check("asymmetric: the zero point rounds too, so a step at the ends", [&] {
    const Floats x = someFloats(*rc::gen::inRange(1, 50));
    const QuantizedA q = quantizeAsymmetricA(x);
    RC_ASSERT(q.zeroPoint >= -128 && q.zeroPoint <= 127);
    RC_ASSERT(quantize(0.0f, q.scale, q.zeroPoint, -128) == q.zeroPoint);
    for (size_t i = 0; i < x.size(); ++i) {
      const float back = dequantize(q.codes[i], q.scale, q.zeroPoint);
      const bool clamped = q.codes[i] == -128 || q.codes[i] == 127;
      RC_ASSERT(within(x[i], back, clamped ? 2.001f * q.scale : q.scale));
    }
  });
  check("per column", [&] {
    const int n = *rc::gen::inRange(1, 6);
    const Floats x = someFloats(n * *rc::gen::inRange(1, 10));
    const QuantizedB q = quantizeColumnsB(x, n);
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

TEST_CASE("the streamed reference adds the terms in order, bit for bit") {
  const auto inOrder = [](Shape shape, int first, const Floats& a, const Floats& b) {
    std::vector<double> got;
    referenceRows(a, b, shape, first, shape.m - first, got);
    for (int i = first; i < shape.m; ++i) {
      for (int j = 0; j < shape.n; ++j) {
        double sum = 0.0;
        for (int p = 0; p < shape.k; ++p) {
          sum += double(a[i * shape.k + p]) * double(b[p * shape.n + j]);
        }
        if (got[(i - first) * shape.n + j] != sum) return false;
      }
    }
    return true;
  };
  check("reference", [&] {
    const Shape shape = someShape(12);
    const int first = *rc::gen::inRange(0, shape.m);
    RC_ASSERT(inOrder(shape, first, someFloats(size_t(shape.m) * shape.k),
                      someFloats(size_t(shape.k) * shape.n)));
  });
  Shape blocks;  // over one row pair, one block of columns and one of terms
  blocks.m = 5, blocks.n = kColumns + 37, blocks.k = 2 * kTerms + 3;
  const Inputs in(blocks);
  CHECK(inOrder(blocks, 2, in.a, in.b));
}

TEST_CASE("the oracle is an integer sum, one conversion, one product") {
  std::vector<float> out(2);
  const Codes a = {-128, 127}, b = {-127, 3, 127, 5};
  oracle(a.data(), 1, 127, b, {0.5f, 2.0f}, 2, 2, out);
  CHECK(out == Floats{255 * 127 * 0.5f, -255 * 3 * 2.0f});
  oracle(a.data(), 1, 0, b, {0.5f}, 2, 2, out);
  CHECK(out == Floats{(128 * 127 + 127 * 127) * 0.5f, (-128 * 3 + 127 * 5) * 0.5f});
}

TEST_CASE("an accumulator above 2^24 rounds once, to even") {
  std::vector<float> out(1);
  const Codes full(1041, 127);  // 1041 * 127 * 127 = 16790289, between two floats
  oracle(full.data(), 1, 0, full, {1.0f}, 1, 1041, out);
  CHECK(out[0] == 16790288.0f);
}

TEST_CASE("the exact gate sees every tile row, and every row of a small case") {
  check("rows", [] {
    Shape shape;
    shape.m = *rc::gen::inRange(1, 3000);
    shape.n = shape.k = *rc::gen::element(1, 256, 2048);
    const std::vector<int> rows = oracleRows(shape);
    const bool small = shape.work() <= 16777216.0;
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
  CHECK(countDifferentBits({1.0f, 0.0f, kNan}, {1.0f, 0.0f, kNan}) == 0);
  CHECK(countDifferentBits({1.0f, -0.0f, kNan}, {1.0f, 0.0f, 1.0f}) == 2);
  CHECK(countDifferentBits({std::nextafter(1.0f, 2.0f)}, {1.0f}) == 1);
}

TEST_CASE("the column gate, and that no error of a column's own scale passes it") {
  CHECK(columnGate(2, 1.0f, {127.0f, 0.0f}) == std::vector<double>{8.0, 0.0});
  check("bound", [] {
    const Shape shape = someShape(8);
    const Floats a = someFloats(size_t(shape.m) * shape.k);
    const Floats b = someFloats(size_t(shape.k) * shape.n);
    const QuantizedA qa = quantizeSymmetricA(a);
    const QuantizedB qb = quantizeColumnsB(b, shape.n);
    const std::vector<double> gate =
        columnGate(shape.k, maxAbs(a), columnMaxAbs(b, shape.n));
    for (int i = 0; i < shape.m; ++i) {
      for (int j = 0; j < shape.n; ++j) {
        double error = 0.0;
        for (int p = 0; p < shape.k; ++p) {
          const int ia = i * shape.k + p, ib = p * shape.n + j;
          error += double(qa.codes[ia]) * qa.scale * qb.codes[ib] * qb.scales[j] -
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
  QuantizedB qb;
  qb.scales = {0.5f};
  qb.codes = {2, -2};  // 1.0 and -1.0: errors -0.25 and -0.25, summed -0.5
  const PredictedRms rms = predictRms(a, b, shape, 0.25f, qb);
  // From B: k * 5 * 0.25/12 = 0.208333; from A: (1.5625 + 0.5625) * 0.0625/12 =
  // 0.011068. With the bias: k * (5 - 4) * 0.25/12 + 4 * 0.25 = 1.041667.
  CHECK(rms.noise == doctest::Approx(std::sqrt(0.208333333 + 0.011067708)));
  CHECK(rms.withBias == doctest::Approx(std::sqrt(1.041666667 + 0.011067708)));
}

TEST_CASE("the FP32 gate judges by the largest reference that it ever sees") {
  CHECK(F32Gate(1).relative() == 1e-5);
  CHECK(F32Gate(1024).relative() == std::ldexp(128.0, -23));
  F32Gate gate(1);
  gate.raise(-1.0);
  gate.add(1.9e-5, 1.0);  // within 1e-5 * (1 + 1)
  CHECK(gate.failures() == 0);
  gate.add(2.5e-5, 1.0);
  CHECK(gate.failures() == 1);
  gate.raise(2.0);  // now within 1e-5 * (2 + 1)
  CHECK(gate.failures() == 0);
  gate.add(kNan, 1.0);
  CHECK(gate.failures() == 1);
  CHECK(gate.absolute() == 2e-5);
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
}

TEST_CASE("arguments") {
  const auto parse = [](std::vector<const char*> words, Options& options) {
    words.insert(words.begin(), "quant_matmul");
    options = Options();
    return parseOptions(int(words.size()), const_cast<char**>(words.data()), options);
  };
  Options options;
  CHECK(parse({}, options));
  CHECK(options.cases.empty());
  CHECK(options.timedRuns == 10);
  REQUIRE(parse({"--cases", "5,300x70x129", "--timed-runs", "0"}, options));
  REQUIRE(options.cases.size() == 2);
  CHECK(options.cases[0].k == 5);
  CHECK(options.cases[1].m == 300);
  CHECK(options.cases[1].n == 70);
  CHECK(options.cases[1].k == 129);
  CHECK(options.timedRuns == 0);
  for (const char* bad :
       {"", "0", "x", "5x", "5x6", "5x6x", "5x6x7x8", "5,", ",5", "-5", "+5", "5.0",
        " 5", "65537", "99999999999999999999", "5x0x5"}) {
    INFO(bad);
    CHECK_FALSE(parse({"--cases", bad}, options));
  }
  CHECK_FALSE(parse({"--cases"}, options));
  CHECK_FALSE(parse({"--timed-runs"}, options));
  CHECK_FALSE(parse({"--timed-runs", "1001"}, options));
  CHECK_FALSE(parse({"--timed-runs", "1x"}, options));
  CHECK_FALSE(parse({"--unknown"}, options));
  CHECK_FALSE(parse({"256"}, options));
}

// Run in three thread orders, by the suite.
TEST_CASE("each kernel on ragged shapes: INT8 to the bit, FP32 within its gate") {
  const int shapes[][3] = {{1, 1, 1},    {16, 16, 16}, {17, 16, 15}, {3, 40, 1},
                           {33, 2, 100}, {61, 45, 77}, {64, 48, 32}};
  for (const auto& s : shapes) {
    CAPTURE(s[0]);
    CAPTURE(s[1]);
    CAPTURE(s[2]);
    const Inputs in = inputs(s[0], s[1], s[2]);
    CaseReport report = runLadder(in, 0);
    judge(in, report);
    REQUIRE(report.rows.size() == 5);
    CHECK(report.f32Gate.failures() == 0);
    for (const Row& row : report.rows) {
      CAPTURE(row.name);
      CHECK(row.notFinite == 0);
      CHECK(row.different == 0);
      CHECK(row.compared == (&row == &report.f32() ? 0 : long(s[0]) * s[1]));
    }
  }
}

TEST_CASE("a run that any gate fails says so") {
  const Inputs in = inputs(20, 30, 40);
  CaseReport report = runLadder(in, 0);
  judge(in, report);
  CHECK(judgeGates(in, report));
  report.rows[4].different = 1;
  CHECK_FALSE(judgeGates(in, report));
  report.rows[4].different = 0;
  report.rows[0].notFinite = 1;
  CHECK_FALSE(judgeGates(in, report));
  report.rows[0].notFinite = 0;
  report.rows[3].gateFraction = 1.01;
  CHECK_FALSE(judgeGates(in, report));
}
