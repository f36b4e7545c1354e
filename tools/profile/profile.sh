#!/bin/sh
# Profiles the FP32 kernel, the INT8 kernel and the one that loads words, and prints how
# busy each part of a multiprocessor is, in percent of its peak:
#
#   tools/profile/profile.sh > transcripts/profiler/profile.md
#
# Needs nvcc, ncu, a GPU, and permission to read its counters.
set -eu
scratch=$(mktemp -d)
trap 'rm -r "$scratch"' EXIT
nvcc -std=c++17 -O3 -arch=sm_75 -o "$scratch/kernels" "$(dirname "$0")/kernels.cu"
load=sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_elapsed
issue=sm__inst_issued.avg.pct_of_peak_sustained_elapsed
alu=sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_elapsed
dram=dram__throughput.avg.pct_of_peak_sustained_elapsed
for kernel in matmulTiledF32 matmulInt8 matmulWords; do
  echo "kernel $kernel"
  ncu --csv --kernel-name "regex:$kernel" --launch-count 1 \
    --metrics $load,$issue,$alu,$dram "$scratch/kernels"
done | awk -F '","' -v load=$load -v issue=$issue -v alu=$alu -v dram=$dram '
  /^kernel / { kernels[++n] = substr($0, 8) }
  /^# word loads timed/ { sub(/.* on /, ""); sub(/\)$/, ""); card = $0 }
  /^"[0-9]/ { sub(/".*/, "", $NF); value[kernels[n], $(NF - 2)] = $NF }
  END {
    printf "# profile (2048x2048x2048 on %s, percent of peak)\n\n", card
    print "| kernel         | loads/stores | issuing | integer ALU | DRAM |"
    print "| :------------- | -----------: | ------: | ----------: | ---: |"
    for (i = 1; i <= n; ++i) {
      k = kernels[i]
      if (!((k, load) in value)) {
        print "profile: ncu reported no counters of " k >"/dev/stderr"
        exit 1
      }
      printf "| %-14s | %12.1f | %7.1f | %11.1f | %4.1f |\n", k, value[k, load], \
             value[k, issue], value[k, alu], value[k, dram]
    }
  }'
