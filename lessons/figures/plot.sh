#!/bin/sh
# Draws one plot: plot.sh GNUPLOT NAME.gp DATA.tsv OUT.svg
#
# gnuplot writes a standing-alone SVG. Here its colours become the page's, its ids
# become its own, so that several may stand in one page, and its titles, which a
# browser would show as tooltips, go.
set -eu
gnuplot=$1 script=$(realpath "$2") data=$(realpath "$3") out=$4
name=$(basename "$out" .svg)
# A script loads style.gp from GNUPLOT_LIB, and has its data beside it: no path, whatever
# is in its name, is quoted inside of gnuplot.
drawn=$(cd "$(dirname "$data")" && LC_ALL=C.UTF-8 GNUPLOT_LIB=$(dirname "$script") \
  "$gnuplot" -e "data='$(basename "$data")'" "$script")
printf '%s\n' "$drawn" | sed -E \
  -e 's/rgb\( *0, *0, *1\)/var(--ink, #000)/g' \
  -e 's/rgb\( *0, *0, *2\)/var(--rule, #ccc)/g' \
  -e 's/rgb\( *0, *0, *3\)/var(--soft, #555)/g' \
  -e 's/rgb\( *0, *0, *11\)/var(--series-1, #1b5c8c)/g' \
  -e 's/rgb\( *0, *0, *12\)/var(--series-2, #b8441a)/g' \
  -e 's/rgb\( *0, *0, *13\)/var(--series-3, #0a7a72)/g' \
  -e 's/rgb\( *0, *0, *14\)/var(--series-4, #7a4bb3)/g' \
  -e "s/(id=['\"]|href='#)(gp|gnuplot_|textbox|greybox)/\1$name-\2/g" \
  -e "s/ = (['\"])/=\1/g" \
  -e 's/ font-family="sans-serif"//g; s/<title>[^<]*<\/title>//; s/<desc>[^<]*<\/desc>//' \
  -e '/<filter/,/<\/filter>/d; /<\?xml/d' > "$out.new"
mv "$out.new" "$out"
