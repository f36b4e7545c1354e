// CUDA's keywords, dim3 and vector types.
#pragma once

/// Defined in this build alone: a source that holds inline PTX leaves it out here.
#define __CPU_CUDA__ 1
/// The toolkit whose names these headers follow.
#define CUDART_VERSION 11080

#define __global__
#define __device__
#define __host__
#define __constant__
#define __launch_bounds__(...)
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(n) alignas(n)

#define CPU_CUDA_VECTOR(T, name, align2, align4)         \
  struct name##1 {                                       \
    T x;                                                 \
  };                                                     \
  struct alignas(align2) name##2 {                       \
    T x, y;                                              \
  };                                                     \
  struct name##3 {                                       \
    T x, y, z;                                           \
  };                                                     \
  struct alignas(align4) name##4 {                       \
    T x, y, z, w;                                        \
  };                                                     \
  constexpr name##1 make_##name##1(T x) {                \
    return {x};                                          \
  }                                                      \
  constexpr name##2 make_##name##2(T x, T y) {           \
    return {x, y};                                       \
  }                                                      \
  constexpr name##3 make_##name##3(T x, T y, T z) {      \
    return {x, y, z};                                    \
  }                                                      \
  constexpr name##4 make_##name##4(T x, T y, T z, T w) { \
    return {x, y, z, w};                                 \
  }
CPU_CUDA_VECTOR(signed char, char, 2, 4)
CPU_CUDA_VECTOR(unsigned char, uchar, 2, 4)
CPU_CUDA_VECTOR(short, short, 4, 8)
CPU_CUDA_VECTOR(unsigned short, ushort, 4, 8)
CPU_CUDA_VECTOR(int, int, 8, 16)
CPU_CUDA_VECTOR(unsigned, uint, 8, 16)
CPU_CUDA_VECTOR(float, float, 8, 16)
CPU_CUDA_VECTOR(double, double, 16, 16)
#undef CPU_CUDA_VECTOR

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1)
      : x(x_), y(y_), z(z_) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};
