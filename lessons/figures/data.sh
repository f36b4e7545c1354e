#!/bin/sh
# The data of one plot, from the evidence:
#
#   data.sh TRANSCRIPT JQ ROOT PROGRAM MACHINE NAME.jq OUT.tsv
#
# What has not changed is not written, so that nothing is drawn again for it.
set -eu
transcript=$1 jq=$2 root=$3 program=$4 machine=$5 query=$6 out=$7
exported=$("$transcript" export --root "$root" --program "$program" --machine "$machine")
printf '%s\n' "$exported" | "$jq" -r -L "$(dirname "$query")" -f "$query" > "$out.new"
if cmp -s "$out.new" "$out"; then rm "$out.new"; else mv "$out.new" "$out"; fi
