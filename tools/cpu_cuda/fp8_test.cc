#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "cuda_fp8.h"

using cpu_cuda::decode;
using cpu_cuda::encode;

namespace {

const float kInfinity = std::numeric_limits<float>::infinity();
const float kNan = std::numeric_limits<float>::quiet_NaN();

float from_bits(std::uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

// The definition, in doubles that hold every value here exactly: the finite code
// nearest to x; of two as near, the even one. Beyond the largest: the largest.
template <int E, int M>
unsigned nearest(float x) {
  const double largest = decode<E, M>(cpu_cuda::kMaxCode<E>);
  const double magnitude = std::min(std::fabs(static_cast<double>(x)), largest);
  unsigned best = 0;
  for (unsigned code = 1; code <= cpu_cuda::kMaxCode<E>; ++code) {
    const double now = std::fabs(magnitude - static_cast<double>(decode<E, M>(code)));
    const double before =
        std::fabs(magnitude - static_cast<double>(decode<E, M>(best)));
    if (now < before || (now == before && code % 2 == 0)) best = code;
  }
  return best | (std::signbit(x) ? 1u << (E + M) : 0u);
}

// Every value of the format, every midpoint between two, the floats beside each, and
// a sample of all floats.
template <int E, int M>
std::vector<float> interesting() {
  std::vector<float> all;
  for (unsigned code = 0; code <= cpu_cuda::kMaxCode<E>; ++code) {
    const float value = decode<E, M>(code);
    const float next =
        code < cpu_cuda::kMaxCode<E> ? decode<E, M>(code + 1) : 2 * value;
    for (float x : {value, (value + next) / 2}) {
      for (float y : {x, std::nextafter(x, kInfinity), std::nextafter(x, -kInfinity)}) {
        all.push_back(y);
        all.push_back(-y);
      }
    }
  }
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += 65521) {
    const float x = from_bits(static_cast<std::uint32_t>(bits));
    if (!std::isnan(x) && !std::isinf(x)) all.push_back(x);
  }
  return all;
}

template <int E, int M>
void check_against_definition() {
  int wrong = 0;
  for (float x : interesting<E, M>()) wrong += encode<E, M>(x) != nearest<E, M>(x);
  CHECK(wrong == 0);
  for (unsigned code = 0; code < (1u << (1 + E + M)); ++code) {
    const float value = decode<E, M>(code);
    if (std::isfinite(value)) CHECK(encode<E, M>(value) == code);
  }
}

}  // namespace

TEST_CASE("values that the formats' definitions state") {
  CHECK(decode<4, 3>(0x7E) == 448.0f);
  CHECK(decode<4, 3>(0x01) == 0x1p-9f);
  CHECK(decode<4, 3>(0x08) == 0x1p-6f);
  CHECK(decode<4, 3>(0xFE) == -448.0f);
  CHECK(std::isnan(decode<4, 3>(0x7F)));
  CHECK(std::isnan(decode<4, 3>(0xFF)));
  CHECK(decode<5, 2>(0x7B) == 57344.0f);
  CHECK(decode<5, 2>(0x01) == 0x1p-16f);
  CHECK(decode<5, 2>(0x7C) == kInfinity);
  CHECK(decode<5, 2>(0xFC) == -kInfinity);
  CHECK(std::isnan(decode<5, 2>(0x7D)));
  const float e2m1[] = {0.0f, 0.5f, 1.0f, 1.5f, 2.0f, 3.0f, 4.0f, 6.0f};
  for (unsigned code = 0; code < 8; ++code) {
    CHECK(decode<2, 1>(code) == e2m1[code]);
    CHECK(decode<2, 1>(code | 8) == -e2m1[code]);
  }
}

TEST_CASE("out of range saturates, NaN keeps no sign") {
  CHECK(encode<4, 3>(465.0f) == 0x7E);
  CHECK(encode<4, 3>(kInfinity) == 0x7E);
  CHECK(encode<4, 3>(-kInfinity) == 0xFE);
  CHECK(encode<4, 3>(kNan) == 0x7F);
  CHECK(encode<4, 3>(-kNan) == 0x7F);
  CHECK(encode<5, 2>(1e30f) == 0x7B);
  CHECK(encode<5, 2>(kInfinity) == 0x7B);
  CHECK(encode<5, 2>(-kNan) == 0x7F);
  CHECK(encode<2, 1>(kInfinity) == 0x7);
  CHECK(encode<2, 1>(kNan) == 0x7);
  CHECK(encode<4, 3>(-0.0f) == 0x80);
  CHECK(encode<4, 3>(from_bits(1)) == 0x00);
}

TEST_CASE("ties go to the even code") {
  CHECK(encode<4, 3>(17.0f) == encode<4, 3>(16.0f));
  CHECK(encode<4, 3>(19.0f) == encode<4, 3>(20.0f));
  CHECK(encode<4, 3>(0x1p-10f) == 0x00);
  CHECK(encode<4, 3>(0x3p-10f) == 0x02);
  CHECK(encode<2, 1>(0.25f) == 0x0);
  CHECK(encode<2, 1>(0.75f) == 0x2);
  CHECK(encode<2, 1>(5.0f) == 0x6);
}

TEST_CASE("encode is the nearest code, and inverts decode") {
  check_against_definition<4, 3>();
  check_against_definition<5, 2>();
  check_against_definition<2, 1>();
}

TEST_CASE("the toolkit's names") {
  CHECK(static_cast<float>(__nv_fp8_e4m3(0.3f)) == 0.3125f);
  CHECK(static_cast<float>(__nv_fp8_e5m2(0.3f)) == 0.3125f);
  CHECK(static_cast<float>(__nv_fp8_e5m2(0.33f)) == 0.3125f);
  CHECK(__nv_cvt_float_to_fp8(465.0f, __NV_SATFINITE, __NV_E4M3) == 0x7E);
  CHECK(__nv_cvt_float_to_fp8(465.0f, __NV_SATFINITE, __NV_E5M2) == 0x5F);
  CHECK(sizeof(__nv_fp8_e4m3) == 1);
}

#ifdef HAVE_TOOLKIT_FP8
unsigned toolkit_e4m3(float x);
unsigned toolkit_e5m2(float x);
unsigned toolkit_e2m1(float x);

namespace {
bool same_as_toolkit(float x) {
  return encode<4, 3>(x) == toolkit_e4m3(x) && encode<5, 2>(x) == toolkit_e5m2(x) &&
         (encode<2, 1>(x) == toolkit_e2m1(x) || toolkit_e2m1(x) == ~0u);
}
}  // namespace

TEST_CASE("as the toolkit has it") {
  int wrong = 0;
  for (float x : interesting<4, 3>()) wrong += !same_as_toolkit(x);
  for (float x : interesting<5, 2>()) wrong += !same_as_toolkit(x);
  for (float x : interesting<2, 1>()) wrong += !same_as_toolkit(x);
  for (float x : {kInfinity, -kInfinity, kNan, -kNan}) wrong += !same_as_toolkit(x);
  CHECK(wrong == 0);
}

// A few minutes: cpu_cuda_fp8_test --no-skip --test-case="*every float*"
TEST_CASE("as the toolkit has it, every float" * doctest::skip()) {
  std::uint64_t same = 0;
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); ++bits) {
    same += same_as_toolkit(from_bits(static_cast<std::uint32_t>(bits)));
  }
  CHECK(same == std::uint64_t{1} << 32);
}
#endif
