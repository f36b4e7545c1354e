// What the CUDA Toolkit's own header says, apart from ours: the names are the same.
#include <cuda_fp8.h>
#if __has_include(<cuda_fp4.h>)
#include <cuda_fp4.h>
#endif

unsigned toolkit_e4m3(float x) {
  return __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E4M3);
}
unsigned toolkit_e5m2(float x) {
  return __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E5M2);
}
#if __has_include(<cuda_fp4.h>)
unsigned toolkit_e2m1(float x) {
  return __nv_cvt_float_to_fp4(x, __NV_E2M1, cudaRoundNearest);
}
#else
unsigned toolkit_e2m1(float) {
  return ~0u;
}  // a toolkit before 12.8
#endif
