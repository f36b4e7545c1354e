# For each kernel and K, how much of its bound (filled) and of the square-root
# diagnostic (open) the worst element uses; one is the limit.
load 'style.gp'
stats data using 3 skip 1 nooutput
rows = STATS_records
group = 3
y(i) = -i - 1.1 * floor(i / group)
eval page(26 * rows + 30 * rows / group + 64)
set logscale x
set xrange [1.2e-3:30]
set yrange [y(rows - 1) - 0.6:2.3]
unset ytics
set xtics ('0.01' 0.01, '0.1' 0.1, '1' 1, '10' 10)
set xlabel 'share used, logarithmic'
set label 'filled: of the bound    open: of the √K diagnostic' at graph 0,0.985 left textcolor rgb SOFT
set arrow from 1,y(rows - 1) - 0.6 to 1,1.4 nohead ls 1 dt 2
plot data using 3:(y($0)):($4-$3):(0) skip 1 with vectors nohead ls 2, \
     data using 3:(y($0)) skip 1 with points ls 12 ps 0.8, \
     data using 4:(y($0)) skip 1 with points ls 12 pt 6 ps 0.8 lw 1.6, \
     data using (1.2e-3):(y($0)):(sprintf('K = %s', strcol(2))) skip 1 with labels left textcolor rgb SOFT, \
     data using (1.2e-3):(y($0) + 1.05):(int($0) % group == 0 ? strcol(1) : '') skip 1 with labels left textcolor rgb INK
