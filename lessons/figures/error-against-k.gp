# rms error of each row against K, both logarithmic; dashed, what grows as √K.
load 'style.gp'
eval page(330)
stats data using 1 skip 1 nooutput
kmin = STATS_min
kmax = STATS_max
row = STATS_records - 1
stats data using 4 every ::1::1 nooutput
start = STATS_min
set logscale xy
set xrange [kmin * 0.85:kmax * 3.3]
set yrange [start * 0.5:*]
set lmargin 4.5
set bmargin 3
set xtics (256, 512, 1024, 2048)
set ytics (0.1, 1)
set grid ytics lt 1 lc rgb '#000002' lw 1
set xlabel 'K'
set label 'rms error' at graph -0.09,0.97 left textcolor rgb SOFT
set label 'dashed: as √K' at kmin * 1.9,start * 0.85 left textcolor rgb SOFT
guide(x) = x >= kmin && x <= kmax ? start * sqrt(x / kmin) : NaN
at_end(name) = '  ' . name
plot guide(x) with lines ls 1 dt 2, \
     data using 1:2 skip 1 with linespoints ls 11, \
     data using 1:3 skip 1 with linespoints ls 12, \
     data using 1:4 skip 1 with linespoints ls 13, \
     data using 1:5 skip 1 with linespoints ls 14 pt 6 ps 1.1 lw 1.6, \
     data using 1:2:(at_end('2:4 pruned')) skip 1 every ::row with labels left textcolor rgb INK, \
     data using 1:3:(at_end('one scale')) skip 1 every ::row with labels left textcolor rgb INK, \
     data using 1:($4 * 1.16):(at_end('per-column,')) skip 1 every ::row with labels left textcolor rgb INK, \
     data using 1:($5 * 0.84):(at_end('+ zp (open dots)')) skip 1 every ::row with labels left textcolor rgb INK
