#!/usr/bin/env bash
# The stand-in program by every clang++ on PATH, in two thread orders:
#   clang_test.sh REWRITE STANDIN.cu INCLUDE [OPTION...]    (OPTIONs: what this CPU wants)
# Exits 77, which Meson calls skipped, where none is newer than 14: from 15 on a kernel's
# frame is laid out differently while it starts.
set -eu
rewrite=$1 program=$2 include=$3
shift 3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$rewrite" "$program" "$folder/standin.cc"

seen=" " failures=0 newer=no
for clang in $(compgen -c clang++ | grep -xE 'clang\+\+(-[0-9]+)?' | sort -uV); do
  version=$("$clang" -dumpversion)
  version=${version%%.*}
  case $seen in *" $version "*) continue ;; esac
  seen+="$version "
  if [ "$version" -lt 14 ]; then continue; fi
  if [ "$version" -gt 14 ]; then newer=yes; fi
  "$clang" -std=c++20 -O3 "$@" -I "$include" "$folder/standin.cc" -o "$folder/standin" \
    -pthread
  for order in forward reverse; do
    if result=$(CPU_CUDA_ORDER=$order "$folder/standin" 2>&1); then
      echo "ok      clang $version, $order"
    else
      echo "FAILED  clang $version, $order: exit $?: $result"
      failures=$((failures + 1))
    fi
  done
done
if [ "$failures" != 0 ]; then exit 1; fi
if [ "$newer" = no ]; then
  echo "SKIP: no clang++ newer than 14; on Debian 12: apt-get install clang-19"
  exit 77
fi
