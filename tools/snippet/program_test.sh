#!/bin/sh
# Tests of one snippet program.
#   program_test.sh run BINARY EXPECTED
#     runs it and compares its output with the recorded one; EXPECTED "-" only runs it
#   program_test.sh nvcc SOURCE OPTIONS EXPECTED
#     pastes it alone into an empty folder, builds it there with the line at its head,
#     which has to give the options that its link gives, and runs it where a GPU answers
set -eu
mode=$1
shift

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

run() {  # BINARY EXPECTED
  "$1" >"$folder/output"
  lines=$(wc -l <"$folder/output")
  if [ "$lines" -ge 40 ]; then
    echo "prints $lines lines; a snippet prints fewer than 40" >&2
    exit 1
  fi
  [ "$2" = - ] || diff -u "$2" "$folder/output"
}

case $mode in
  run)
    run "$1" "$2"
    ;;
  nvcc)
    name=$(basename "$1" .cu)
    cp "$1" "$folder"
    line=$(sed -n 's,^//   \(nvcc .*\)$,\1,p' "$1")
    if [ "$line" != "nvcc $(cat "$2") -o $name $name.cu" ]; then
      echo "the line at its head is not what its link compiles with: $line" >&2
      exit 1
    fi
    (cd "$folder" && $line -Xcompiler -Wall,-Wextra -Werror all-warnings)
    if nvidia-smi -L 2>/dev/null | grep -q GPU; then
      run "$folder/$name" "$3"
    else
      echo "built; not run, since no GPU answers"
    fi
    ;;
esac
