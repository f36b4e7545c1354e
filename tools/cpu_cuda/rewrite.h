// CUDA's launch syntax as C++: the only part of a .cu that a C++ compiler cannot read.
#pragma once

#include <string>
#include <string_view>

namespace cpu_cuda {

/// The C++ text of a CUDA source. `name` is what messages call the source.
///
///   K<<<grid, block>>>(a)        K ->* ::cpu_cuda::launch(grid, block)(a)
///   __shared__ float t[16];      ... ::cpu_cuda::poison(t);
///   extern __shared__ T s[];     T *s = ::cpu_cuda::dynamic_shared();
///
/// Everything else stays, byte for byte; no line moves, and `#line` keeps the file's
/// name. Comments, literals and directives other than #define are left alone. Throws
/// common::DiagnosticError for a launch that does not end, for shared memory that it
/// cannot rewrite, and for a barrier in a __device__ function.
std::string rewrite(std::string_view source, const std::string& name);

}  // namespace cpu_cuda
