# What the plots share. Colours stand for roles; plot.sh turns them into the page's own:
# 1 ink, 2 rules, 3 soft text, 11 to 14 the series.
set datafile separator '\t'
set encoding utf8
set border 0
set tics nomirror scale 0
set key off
set bmargin 2.4
set lmargin 0.5
set rmargin 0.5
set tmargin 0.2
set grid xtics lt 1 lc rgb '#000002' lw 1
set style line 1 lt 1 lc rgb '#000001' lw 1
set style line 2 lt 1 lc rgb '#000002' lw 2
set style line 11 lt 1 lc rgb '#00000b' lw 2 pt 7 ps 0.75
set style line 12 lt 1 lc rgb '#00000c' lw 2 pt 7 ps 0.75
set style line 13 lt 1 lc rgb '#00000d' lw 2 pt 7 ps 0.75
set style line 14 lt 1 lc rgb '#00000e' lw 2 pt 7 ps 0.75
INK = '#000001'
SOFT = '#000003'
set xtics textcolor rgb SOFT
set ytics textcolor rgb SOFT
set xlabel offset 0,0.7 textcolor rgb SOFT
set ylabel textcolor rgb SOFT
page(height) = sprintf("set terminal svg size 380,%d dynamic enhanced font 'sans-serif,13' linewidth 1", height)
