#!/bin/sh
# Brings a lesson's pulls up to date in a copy, and gathers what its pages need to know
# of the places pulled:
#
#   pull.sh SNIPPET JQ ROOT LESSON MACHINE OUT.md OUT.lua DEPFILE
#
# MACHINE replaces the machine whose evidence the lesson names; '' leaves it. What has
# not changed is not written, so that nothing is rendered again for it.
set -eu
snippet=$1 jq=$2 root=$3 lesson=$(realpath "$4") machine=$5 md=$6 lua=$7 depfile=$8
here=$(dirname "$(realpath "$0")")
copy=$md.copy

"$snippet" sync --root "$root" --output "$copy" ${machine:+--machine "$machine"} \
  "$lesson" > /dev/null
pulled=$copy/$(realpath --relative-to="$root" "$lesson")
cmp -s "$pulled" "$md" || cp "$pulled" "$md"

# No provenance at all leaves the pattern itself, which names no file.
set -- "$root"/transcripts/*/*.json
[ -e "$1" ] || shift
{ "$snippet" index --root "$root"; [ $# = 0 ] || "$jq" -c \
  '{machines: {(input_filename | sub(".*/"; "") | sub("\\.json$"; "")):
    (.gpu.name // "a CPU")}}' "$@"; } |
  "$jq" -j -n --rawfile lesson "$md" -f "$here/index.jq" > "$lua.new"
if cmp -s "$lua.new" "$lua"; then rm "$lua.new"; else mv "$lua.new" "$lua"; fi

# Folders too: a program that is added may show what had none. In a depfile a space is
# written with a backslash.
printf '%s %s: ' "$md" "$lua" > "$depfile"
{
  grep -o '<!-- pull: [^ #]*#' "$md" | sed 's/.* //; s/#$//' | grep -v '^transcripts/' |
    sort -u | while read -r file; do printf '%s/%s\n' "$root" "$file"; done
  ls -d "$root"/src "$root"/snippets "$root"/src/*.cu "$root"/snippets/*.cu \
    "$root"/transcripts/*/* 2> /dev/null || true
} | sed 's/[ #]/\\&/g' | tr '\n' ' ' >> "$depfile"
