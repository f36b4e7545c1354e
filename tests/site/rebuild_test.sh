#!/bin/sh
# What a change renders again: what shows it, and nothing else.
#
#   rebuild_test.sh ROOT MESON SNIPPET TRANSCRIPT
#
# Builds the pages of two small lessons in a scratch copy, changes one thing at a time,
# and compares the list of files that the build wrote.
set -eu
export LC_ALL=C.UTF-8  # of sort
root=$1 meson=$2 snippet=$3 transcript=$4
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

mkdir src snippets transcripts
cp -r "$root/lessons" lessons
cp -r "$root/transcripts/quant_matmul" transcripts/quant_matmul
cp "$root/meson_options.txt" .
rm lessons/*.md
quoted() { printf %s "$1" | sed "s/['\\\\]/\\\\&/g; s/^/'/; s/\$/'/"; }
cat > meson.build <<END
project('pages')
snippet_exe = find_program($(quoted "$snippet"))
transcript_exe = find_program($(quoted "$transcript"))
subdir('lessons')
END
sed -i "/^lessons = \[/,/^\]/c lessons = [['a', []], ['b', ['gate-by-row']]]" lessons/meson.build

evidence=transcripts/quant_matmul/nvidia-h200.md
address='case 256x256x256 / int8 one scale / gate frac'
value=$("$transcript" get "$evidence#$address")
for name in a b; do
  cat > src/$name.cu <<END
int before;
// snippet: $name-one
int $name = 1;
// end snippet
int after;
END
  cat > lessons/$name.md <<END
---
title: Lesson $name
subtitle: One of two
description: For the test of what is built again.
lang: en
---

<!-- pull: src/$name.cu#$name-one -->
\`\`\`cuda
int $name = 1;
\`\`\`
<!-- end pull -->
END
done
cat >> lessons/b.md <<END

It is <!-- pull: $evidence#$address -->$value<!-- end pull -->.

::: {#fig-gate}
![Dots, some of them beyond the line.](figures/gate-by-row.svg)

The gates.
:::
END
printf -- '---\ntitle: All\nlang: en\n---\n' > lessons/index.md

"$meson" setup build > setup.log 2>&1 || { cat setup.log; exit 1; }
ninja=$(command -v ninja || command -v ninja-build || command -v samu)

failures=0
# expect WHAT "FILES": builds, and compares what it wrote, sorted, with FILES.
expect() {
  "$ninja" -C build site > ninja.log 2>&1 || { cat ninja.log; exit 1; }
  wrote=$(cd build/lessons && find . -newer "$scratch/before" -type f \
    \( -name '*.html' -o -name '*.epub' -o -name '*.svg' \) | sed 's|^\./||' | sort | tr '\n' ' ')
  if [ "$wrote" = "$2 " ] || [ "$wrote$2" = "" ]; then
    echo "ok: $1: ${2:-nothing}"
  else
    echo "FAILED: $1: wrote '$wrote', not '$2'"
    failures=$((failures + 1))
  fi
  sleep 0.02
  touch before
  sleep 0.02
}

"$ninja" -C build site > ninja.log 2>&1 || { cat ninja.log; exit 1; }
touch before
sleep 0.02

expect 'nothing changed' ''
sed -i 's/int a = 1;/int a = 2;/' src/a.cu
expect 'a line that a shows' 'a.epub a.html'
echo 'int more;' >> src/a.cu
expect 'a line that nobody shows' ''
sed -i '1i int above;' src/a.cu
expect 'a line above the one that a shows, which moves' 'a.epub a.html'
touch src/b.cu
expect 'a source written again as it was' ''
sed -i 's/int b = 1;/int b = 2;/' src/b.cu
expect 'a line that b shows' 'b.epub b.html'
printf '// pull: src/a.cu#a-one\n// end pull\nint main() {}\n' > snippets/a-one.cu
expect 'a new program for what a shows' 'a.epub a.html'
sed -i "/^## case 256x256x256/,/^## checks/s/^\(| int8 one scale .*\) $value /\1 0.999 /" "$evidence"
expect 'a figure that b shows and one plot draws' 'b.epub b.html figures/gate-by-row.svg'
grep -q '>0.999<' build/lessons/b.html || { echo 'FAILED: b shows the old figure'; failures=1; }
echo '/* */' >> lessons/theme/style.css
expect 'the style of the pages' 'a.html b.html index.html'
echo '# ' >> lessons/figures/time-by-row.gp
expect 'the script of a plot that nobody shows' ''
[ "$failures" -eq 0 ]
