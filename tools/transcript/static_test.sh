#!/bin/sh
# The checker in one file does what the other one does:  static_test.sh TRANSCRIPT ROOT
set -eu
exe=$(realpath "$1")
cd "$2/tools/transcript/testdata"
"$exe" --version
"$exe" diff nvidia-h200.md nvidia-h200.md
if sed 's/1.907e-05/1.917e-05/' nvidia-h200.md | "$exe" diff nvidia-h200.md - >/dev/null; then
  echo 'a changed figure is not seen' >&2
  exit 1
fi
if ldd "$exe" >/dev/null 2>&1; then
  echo 'it needs shared libraries' >&2
  exit 1
fi
