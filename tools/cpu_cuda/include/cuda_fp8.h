// Eight-bit floating point on the host, under the toolkit's names: what a program needs
// to price a format. Conversions saturate and round to nearest even; others are
// missing.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace cpu_cuda {

/// The code of the largest finite value: E5M2 keeps IEEE's infinities, E4M3 gives up
/// the one code S.1111.111 for NaN, E2M1 (of four bits) has neither.
template <int kExponent>
inline constexpr unsigned kMaxCode = kExponent == 5   ? 0x7B
                                     : kExponent == 4 ? 0x7E
                                                      : 0x7;

/// The code of `x` in a format of 1 + kExponent + kMantissa bits: round to nearest
/// even, saturating (infinity too), NaN to 0x7F without its sign (E2M1: to the
/// largest).
template <int kExponent, int kMantissa>
unsigned encode(float x) {
  constexpr int bias = (1 << (kExponent - 1)) - 1;
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  const std::uint32_t magnitude = bits & 0x7FFFFFFF;
  if (magnitude > 0x7F800000) return kExponent == 2 ? 0x7 : 0x7F;
  const int exponent = static_cast<int>(magnitude >> 23) - 127;
  const std::uint32_t significand = (magnitude & 0x7FFFFF) | 0x800000;
  // Below the smallest normal number the mantissa loses one more bit each time.
  const int denormal = exponent < 1 - bias ? 1 - bias - exponent : 0;
  const int shift = 23 - kMantissa + (denormal < 5 ? denormal : 5);
  const std::uint32_t even = (significand >> shift) & 1;
  const std::uint32_t rounded = (significand + (1u << (shift - 1)) - 1 + even) >> shift;
  // The hidden bit, and a carry out of the mantissa, add one to the exponent.
  const std::uint32_t below = denormal > 0 ? 0 : exponent + bias - 1;
  const std::uint32_t code = (below << kMantissa) + rounded;
  constexpr std::uint32_t max_code = kMaxCode<kExponent>;
  const std::uint32_t sign = (bits >> 31) << (kExponent + kMantissa);
  return sign | (code < max_code ? code : max_code);
}

/// The value of a code, exactly.
template <int kExponent, int kMantissa>
float decode(unsigned code) {
  constexpr int bias = (1 << (kExponent - 1)) - 1;
  const unsigned magnitude = code & ((1u << (kExponent + kMantissa)) - 1);
  const int exponent = static_cast<int>(magnitude >> kMantissa);
  const int mantissa = static_cast<int>(magnitude & ((1u << kMantissa) - 1));
  float value;
  if (magnitude > kMaxCode<kExponent>) {
    value = mantissa == 0 ? std::numeric_limits<float>::infinity()
                          : std::numeric_limits<float>::quiet_NaN();
  } else if (exponent == 0) {
    value = std::ldexp(static_cast<float>(mantissa), 1 - bias - kMantissa);
  } else {
    value = std::ldexp(static_cast<float>(mantissa + (1 << kMantissa)),
                       exponent - bias - kMantissa);
  }
  return (code >> (kExponent + kMantissa)) & 1 ? -value : value;
}

}  // namespace cpu_cuda

using __nv_fp8_storage_t = unsigned char;
enum __nv_saturation_t { __NV_SATFINITE = 1 };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };

inline __nv_fp8_storage_t __nv_cvt_float_to_fp8(float x, __nv_saturation_t,
                                                __nv_fp8_interpretation_t format) {
  return static_cast<__nv_fp8_storage_t>(
      format == __NV_E4M3 ? cpu_cuda::encode<4, 3>(x) : cpu_cuda::encode<5, 2>(x));
}

#define CPU_CUDA_FP8(name, exponent, mantissa)                                        \
  struct name {                                                                       \
    __nv_fp8_storage_t __x;                                                           \
    name() = default;                                                                 \
    explicit name(float x)                                                            \
        : __x(static_cast<unsigned char>(cpu_cuda::encode<exponent, mantissa>(x))) {} \
    template <class T>                                                                \
    explicit name(T) = delete; /* would round twice */                                \
    explicit operator float() const {                                                 \
      return cpu_cuda::decode<exponent, mantissa>(__x);                               \
    }                                                                                 \
  };
CPU_CUDA_FP8(__nv_fp8_e4m3, 4, 3)
CPU_CUDA_FP8(__nv_fp8_e5m2, 5, 2)
#undef CPU_CUDA_FP8
