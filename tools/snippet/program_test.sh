#!/bin/sh
# Tests of one snippet program.
#   program_test.sh run BINARY EXPECTED SOURCE
#     holds the source to its length, runs the program and compares its output with the
#     recorded one; EXPECTED "-" compares nothing
#   program_test.sh nvcc SOURCE OPTIONS EXPECTED
#     pastes it alone into an empty folder, builds it there with the line at its head,
#     which has to give the options that its link gives, and runs it; where no GPU
#     answers, a program that needs one has to say so
set -eu
mode=$1
shift

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() {
  echo "$1" >&2
  exit 1
}

# Exit status 1, one line on stderr.
refused() {  # STATUS WHEN
  [ "$1" -eq 1 ] || fail "exits $1 $2; it has to exit 1"
  [ "$(wc -l <"$folder/errors")" -eq 1 ] ||
    fail "one line on stderr has to say why it fails $2: $(cat "$folder/errors")"
}

compare() {  # EXPECTED
  lines=$(wc -l <"$folder/output")
  [ "$lines" -lt 40 ] || fail "prints $lines lines; a snippet prints fewer than 40"
  [ "$1" = - ] || diff -u "$1" "$folder/output"
}

run() {  # BINARY EXPECTED
  status=0
  "$1" >"$folder/output" || status=$?
  compare "$2"
  [ "$status" -eq 0 ] || fail "exits $status"
  status=0
  "$1" >/dev/full 2>"$folder/errors" || status=$?
  refused "$status" "where its output cannot be written"
}

case $mode in
  run)
    lines=$(wc -l <"$3")
    [ "$lines" -le 170 ] || fail "$3 has $lines lines; a snippet has at most 170"
    run "$1" "$2"
    ;;
  nvcc)
    name=$(basename "$1" .cu)
    cp "$1" "$folder"
    line=$(sed -n 's,^//   \(nvcc .*\)$,\1,p' "$1")
    [ "$line" = "nvcc $(cat "$2") -o $name $name.cu" ] ||
      fail "the line at its head is not what its link compiles with: $line"
    (cd "$folder" && $line -Xcompiler -Wall,-Wextra -Werror all-warnings)
    if nvidia-smi -L 2>/dev/null | grep -q GPU; then
      run "$folder/$name" "$3"
      exit
    fi
    status=0
    "$folder/$name" >"$folder/output" 2>"$folder/errors" || status=$?
    if [ "$status" -eq 0 ]; then
      compare "$3"
    else
      refused "$status" "where no GPU answers"
      [ ! -s "$folder/output" ] || fail "prints before it finds that no GPU answers"
    fi
    ;;
esac
