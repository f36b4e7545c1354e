# Each format's rms and largest error on B: a filled and an open dot, joined.
load 'style.gp'
stats data using 2 skip 1 nooutput
rows = STATS_records
eval page(36 * rows + 74)
set logscale x
set xrange [4e-4:0.4]
set yrange [-rows + 0.3:1.15]
unset ytics
set format x '10^{%T}'
set xlabel 'error as a fraction of max|B|, logarithmic'
set label 'filled: rms error    open: largest error' at graph 0,0.985 left textcolor rgb SOFT
plot data using 2:(-$0):($3-$2):(0) skip 1 with vectors nohead ls 2, \
     data using 2:(-$0) skip 1 with points ls 12 ps 0.8, \
     data using 3:(-$0) skip 1 with points ls 12 pt 6 ps 0.8 lw 1.6, \
     data using (4e-4):(-$0+0.42):1 skip 1 with labels left textcolor rgb INK
