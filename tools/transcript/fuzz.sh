#!/bin/sh
# Runs the fuzz targets: fuzz.sh BUILD SECONDS [TARGET...], seeded from the evidence, a
# block a seed, since small inputs go through faster. Corpora stay in BUILD/fuzz.
set -eu
mkdir -p "$1/fuzz"
build=$(cd "$1" && pwd) seconds=$2
shift 2
cd "$(dirname "$0")/../.."
test $# -gt 0 || set -- document rules address

blocks=$build/fuzz/blocks
mkdir -p "$blocks"
for evidence in tools/transcript/testdata/*.md transcripts/*/*.md; do
  test -f "$evidence" || continue
  awk -v to="$blocks/$(echo "$evidence" | tr / -)" \
    '{ print > (to "-" n + 0) } /^$/ { close(to "-" n + 0); n++ }' "$evidence"
done

for target; do
  corpus=$build/fuzz/$target
  mkdir -p "$corpus"
  case $target in
    document)
      before=
      for block in "$blocks"/*; do
        { cat "$block"; printf '\001'; cat "$block"; } >"$corpus/same-$(basename "$block")"
        test -z "$before" || { cat "$before"; printf '\001'; cat "$block"; } \
          >"$corpus/other-$(basename "$block")"
        before=$block
      done ;;
    rules)
      for rules in transcripts/*/rules.toml; do
        cp "$rules" "$corpus/$(echo "$rules" | tr / -)"
      done ;;
    address)
      for address in 'case 256x256x256 / int8 per-column / rms err' \
        'case 256x256x256 / a scale sym / 3' 'checks of case 256x256x256 / table [1]' \
        'top / line 1 / 1'; do
        for block in "$blocks"/*; do
          { echo "$address"; cat "$block"; } \
            >"$corpus/$(echo "$address" | tr ' /' '__')-$(basename "$block")"
        done
      done ;;
  esac
  echo "fuzz_$target for $seconds s"
  "$build/tools/transcript/fuzz_$target" -max_total_time="$seconds" -timeout=10 \
    -rss_limit_mb=2048 -max_len=2000 -print_final_stats=1 \
    -artifact_prefix="$build/fuzz/$target-" "$corpus" 2>"$build/fuzz/$target.log" || {
    tail -40 "$build/fuzz/$target.log"
    exit 1
  }
  grep -E '^stat|^Done' "$build/fuzz/$target.log"
done
