#!/bin/sh
# Profiles the FP32 kernel, the INT8 kernel and the one that loads words, and prints how
# busy each part of a multiprocessor is, in percent of its peak:
#
#   lessons/evidence/profile.sh > lessons/evidence/profile.txt
#
# Needs nvcc, ncu, a GPU, and permission to read its counters.
set -eu
program=$(dirname "$0")/../../snippets/word-loads.cu
scratch=$(mktemp -d)
trap 'rm -r "$scratch"' EXIT
nvcc -std=c++17 -O3 -arch=sm_75 -o "$scratch/word-loads" "$program"
load=sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_elapsed
issue=sm__inst_issued.avg.pct_of_peak_sustained_elapsed
alu=sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_elapsed
dram=dram__throughput.avg.pct_of_peak_sustained_elapsed
for kernel in matmulTiledF32 matmulInt8 matmulWords; do
  # Past the comparisons, which launch matmulWords twice.
  skip=0
  if [ $kernel = matmulWords ]; then skip=2; fi
  ncu --csv --print-kernel-base function --kernel-name $kernel --launch-skip $skip \
    --launch-count 1 --metrics $load,$issue,$alu,$dram "$scratch/word-loads" --time
done | awk -F '","' -v load=$load -v issue=$issue -v alu=$alu -v dram=$dram '
  /^word loads timed/ { sub(/.* on /, ""); card = $0 }
  /^"[0-9]/ { sub(/".*/, "", $NF); value[$5, $(NF - 2)] = $NF }
  END {
    printf "profile, 2048x2048x2048 on %s, percent of peak\n", card
    printf "  %-16s%13s%10s%13s%8s\n", "kernel", "loads/stores", "issuing", \
           "integer ALU", "DRAM"
    n = split("matmulTiledF32 matmulInt8 matmulWords", kernels, " ")
    for (i = 1; i <= n; ++i) {
      k = kernels[i]
      printf "  %-16s%13.1f%10.1f%13.1f%8.1f\n", k, value[k, load], value[k, issue], \
             value[k, alu], value[k, dram]
    }
  }'
