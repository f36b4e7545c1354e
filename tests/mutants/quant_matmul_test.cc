// What the program cannot notice itself when it runs the mutants' cases: values worked
// out by hand, and sums that a float does not hold.
#define main quant_matmul_main
#include "quant_matmul.cu.h"
#undef main

#include <doctest/doctest.h>

using Floats = std::vector<float>;

TEST_CASE("codes round to nearest, ties to even, and clamp") {
  CHECK(quantize(0.5f, 1.0f, 0, -127) == 0);
  CHECK(quantize(1.5f, 1.0f, 0, -127) == 2);
  CHECK(quantize(2.5f, 1.0f, 0, -127) == 2);
  CHECK(quantize(-0.5f, 1.0f, 0, -127) == 0);
  CHECK(quantize(-1.5f, 1.0f, 0, -127) == -2);
  CHECK(quantize(2.51f, 1.0f, 0, -127) == 3);
  CHECK(quantize(127.4f, 1.0f, 0, -127) == 127);
  CHECK(quantize(200.0f, 1.0f, 0, -127) == 127);
  CHECK(quantize(-200.0f, 1.0f, 0, -127) == -127);
  CHECK(quantize(-200.0f, 1.0f, 0, -128) == -128);
  CHECK(quantize(3.4e38f, 1e-30f, 5, -128) == 127);
  CHECK(quantize(-3.4e38f, 1e-30f, 5, -128) == -128);
  CHECK(quantize(1.0f, 0.5f, -128, -128) == -126);
  CHECK(dequantize(-126, 0.5f, -128) == 1.0f);
}

TEST_CASE("2:4 pruning keeps the two largest of four, the earlier when they tie") {
  Floats b = {1, -4, 3, 2, /**/ 5, 5, 5, 5, /**/ 0, 0, 7, 0};
  prune2to4(b, 12, 1);
  CHECK(b == Floats{0, -4, 3, 0, 5, 5, 0, 0, 0, 0, 7, 0});

  Floats ragged = {1, 2, 3, 4, /**/ 1, 3, 2};  // a last group of three
  prune2to4(ragged, 7, 1);
  CHECK(ragged == Floats{0, 0, 3, 4, 0, 3, 2});

  Floats columns = {1, 9, 2, 8, 3, 7, 4, 6};  // 4 x 2: groups run down a column
  prune2to4(columns, 4, 2);
  CHECK(columns == Floats{0, 9, 0, 8, 3, 0, 4, 0});
}

TEST_CASE("sums above 2^24: the small cases pass every gate") {
  CHECK(runSmallCases(Card()) == 0);
}
