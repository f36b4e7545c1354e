#!/bin/sh
# Counts what the 16 terms of one tile cost each kernel in machine instructions, by the
# programs' own compile line. Prints the table that the lesson pulls:
#
#   tools/profile/instructions.sh > transcripts/profiler/instructions.md
#
# Needs nvcc and cuobjdump. Address arithmetic and the loop itself are left out. Where
# the compiler has unrolled the loop over tiles, a kernel's counts are those of one tile.
set -eu
scratch=$(mktemp -d)
trap 'rm -r "$scratch"' EXIT
nvcc -std=c++17 -O3 -arch=sm_75 -cubin -o "$scratch/kernels.cubin" \
  "$(dirname "$0")/kernels.cu"
release=$(nvcc --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')
cuobjdump -sass "$scratch/kernels.cubin" | awk -v release="$release" '
  /Function :/ {
    kernel = /matmulTiledF32/ ? "f32" : /matmulInt8ILb1ELb0/ ? "int8" : \
             /matmulWords/ ? "words" : ""
  }
  kernel && match($0, /[ \t](LDS|FFMA|IDP|PRMT)[.A-Z0-9]*/) {
    name = substr($0, RSTART + 1, RLENGTH - 1)
    kind = name ~ /^LDS.*128/ ? "load of 16 bytes" : name ~ /^LDS.*U8/ ? "load of 1 byte" \
         : name ~ /^LDS/ ? "load of 4 bytes" : name ~ /^FFMA/ ? "multiply-add" \
         : name ~ /^IDP/ ? "dp4a, four at once" : "byte permute"
    ++count[kernel, kind]
    ++count[kernel, "together"]
  }
  function per_tile(kernel, kind,    tiles) {
    tiles = count[kernel, "multiply-add"] / 16 + count[kernel, "dp4a, four at once"] / 4
    return count[kernel, kind] / tiles
  }
  END {
    printf "# instructions for 16 terms (nvcc %s, -arch=sm_75)\n\n", release
    print "| instruction        | matmulTiledF32 | matmulInt8 | matmulWords |"
    print "| :----------------- | -------------: | ---------: | ----------: |"
    n = split("load of 16 bytes;load of 4 bytes;load of 1 byte;byte permute;" \
              "multiply-add;dp4a, four at once;together", kinds, ";")
    for (i = 1; i <= n; ++i) {
      printf "| %-18s | %14d | %10d | %11d |\n", kinds[i], per_tile("f32", kinds[i]), \
             per_tile("int8", kinds[i]), per_tile("words", kinds[i])
    }
  }'
