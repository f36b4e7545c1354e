// CUDA's error codes, as far as these headers give them.
#pragma once

#define CPU_CUDA_ERRORS(X)                                                    \
  X(cudaSuccess, 0, "no error")                                               \
  X(cudaErrorInvalidValue, 1, "invalid argument")                             \
  X(cudaErrorMemoryAllocation, 2, "out of memory")                            \
  X(cudaErrorInvalidConfiguration, 9, "invalid configuration argument")       \
  X(cudaErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy") \
  X(cudaErrorNoDevice, 100, "no CUDA-capable device is detected")             \
  X(cudaErrorInvalidDevice, 101, "invalid device ordinal")                    \
  X(cudaErrorInvalidResourceHandle, 400, "invalid resource handle")           \
  X(cudaErrorNotReady, 600, "device not ready")                               \
  X(cudaErrorLaunchFailure, 719, "unspecified launch failure")                \
  X(cudaErrorNotSupported, 801, "operation not supported")                    \
  X(cudaErrorUnknown, 999, "unknown error")

enum cudaError {
#define CPU_CUDA_ENUM(name, value, text) name = value,
  CPU_CUDA_ERRORS(CPU_CUDA_ENUM)
#undef CPU_CUDA_ENUM
};
using cudaError_t = cudaError;

inline const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
#define CPU_CUDA_CASE(name, value, text) \
  case name:                             \
    return #name;
    CPU_CUDA_ERRORS(CPU_CUDA_CASE)
#undef CPU_CUDA_CASE
  }
  return "unrecognized error code";
}

inline const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
#define CPU_CUDA_CASE(name, value, text) \
  case name:                             \
    return text;
    CPU_CUDA_ERRORS(CPU_CUDA_CASE)
#undef CPU_CUDA_CASE
  }
  return "unrecognized error code";
}
#undef CPU_CUDA_ERRORS
