#!/bin/sh
# Times the FP32 kernel, the INT8 kernel and the one that loads words:
#
#   tools/profile/word_loads.sh > transcripts/profiler/word-loads.md
#
# Needs nvcc and a GPU.
set -eu
scratch=$(mktemp -d)
trap 'rm -r "$scratch"' EXIT
nvcc -std=c++17 -O3 -arch=sm_75 -o "$scratch/kernels" "$(dirname "$0")/kernels.cu"
"$scratch/kernels"
