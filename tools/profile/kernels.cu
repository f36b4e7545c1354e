// Times the three kernels that the lesson compares, on 2048x2048x2048 values, and is
// what the profiler looks at:
//
//   nvcc -std=c++17 -O3 -arch=sm_75 -o kernels kernels.cu && ./kernels

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

// Both programs have a main() and a kTile of their own. What they include is above.
namespace program {
#include "../../src/quant_matmul.cu"
}
namespace words {
#include "../../snippets/word-loads.cu"
}

constexpr int kSize = 2048, kBlock = program::kTile;

template <typename Launch>
void timed(const char* name, float& f32, const Launch& launch) {
  const float milliseconds = program::launchAndTime(launch, 10);
  if (f32 == 0.0f) f32 = milliseconds;
  std::printf("| %-14s | %9.4f | %6.2f |\n", name, milliseconds, f32 / milliseconds);
}

int main() try {
  cudaDeviceProp card;
  words::check(cudaGetDeviceProperties(&card, 0));
  std::printf("# word loads timed (2048x2048x2048 on %s)\n\n", card.name);
  std::printf("| kernel         | time (ms) | vs f32 |\n");
  std::printf("| :------------- | --------: | -----: |\n");

  const program::Inputs in = program::syntheticInputs({kSize, kSize, kSize});
  const program::Quantized qa = program::quantizeSymmetric(in.a);
  const program::Quantized qb = program::quantizeColumns(in.b, kSize);
  std::vector<float> outputScale;
  for (float scale : qb.scales) outputScale.push_back(qa.scales[0] * scale);
  const program::DeviceBuffer<float> a(in.a), b(in.b), scale(outputScale),
      c(in.a.size());
  const program::DeviceBuffer<int8_t> codesA(qa.codes), codesB(qb.codes);
  const dim3 grid(kSize / kBlock, kSize / kBlock), block(kBlock, kBlock);
  float f32 = 0.0f;
  timed("matmulTiledF32", f32, [&] {
    program::matmulTiledF32<<<grid, block>>>(a.get(), b.get(), c.get(), kSize, kSize,
                                             kSize);
  });
  timed("matmulInt8", f32, [&] {
    program::matmulInt8<true, false><<<grid, block>>>(codesA.get(), codesB.get(),
                                                      c.get(), kSize, kSize, kSize,
                                                      scale.get(), 0, nullptr);
  });
  timed("matmulWords", f32, [&] {
    words::matmulWords<<<grid, block>>>(codesA.get(), codesB.get(), c.get(), kSize,
                                        kSize, kSize, scale.get());
  });
  if (std::fflush(stdout) == 0) return 0;
  std::perror("stdout");
  return 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
