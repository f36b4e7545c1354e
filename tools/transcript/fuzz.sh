#!/bin/sh
# Runs the fuzz targets: fuzz.sh BUILD SECONDS [TARGET...], seeded from the evidence.
# Corpora are kept in BUILD/fuzz, so that the next run goes on from there.
set -eu
build=$1 seconds=$2
shift 2
source=$(cd "$(dirname "$0")/../.." && pwd)
test $# -gt 0 || set -- transcript rules address
for target; do
  corpus=$build/fuzz/$target
  mkdir -p "$corpus"
  case $target in
    transcript)
      cp "$source"/tools/transcript/testdata/*.txt "$corpus"
      for one in "$source"/tools/transcript/testdata/*.txt; do
        for other in "$source"/tools/transcript/testdata/*.txt; do
          { cat "$one"; printf '\001'; cat "$other"; } >"$corpus/$(basename "$one")-$(basename "$other")"
        done
      done ;;
    rules)
      cp "$source"/transcripts/*/rules.toml "$corpus" ;;
    address)
      for address in 'case 256x256x256 / int8 per-column / rms err' \
        'case 256x256x256 / a scale sym / 3' 'case 256x256x256 [1] / line 3 / -1' \
        'case 256x256x256 / table [1]'; do
        for one in "$source"/tools/transcript/testdata/*.txt; do
          { echo "$address"; cat "$one"; } >"$corpus/$(echo "$address" | tr ' /' '__')-$(basename "$one")"
        done
      done ;;
  esac
  echo "fuzzing $target for $seconds s"
  "$build/tools/transcript/fuzz_$target" -max_total_time="$seconds" -timeout=10 \
    -rss_limit_mb=2048 -max_len=8192 -print_final_stats=1 \
    -artifact_prefix="$build/fuzz/$target-" "$corpus" 2>"$build/fuzz/$target.log" ||
    { tail -40 "$build/fuzz/$target.log"; exit 1; }
  tail -8 "$build/fuzz/$target.log"
done
