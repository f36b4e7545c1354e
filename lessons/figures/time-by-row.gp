# Time of each kernel at the largest K: shorter is better. Where nothing was timed, the
# bars say so instead.
load 'style.gp'
stats data using 0 skip 1 nooutput
rows = STATS_records
eval page(44 * rows + 54)
timed = int(system('cut -f 3 ' . data . " | grep -c '^[0-9]' || true")) > 0
if (timed) {
  stats data using 3 skip 1 nooutput
  longest = STATS_max
} else {
  longest = 1
}
set xrange [0:longest * 1.02]
set yrange [-rows + 0.4:0.75]
unset ytics
if (timed) {
  set xlabel 'milliseconds, shorter is better'
} else {
  unset xtics
}
set style fill solid 1 noborder
bar(i, wanted) = timed && wanted ? -i : NaN
plot data using ($3 / 2):(bar($0, $0 == 0)):($3 / 2):(0.2) skip 1 with boxxyerror ls 11, \
     data using ($3 / 2):(bar($0, $0 > 0)):($3 / 2):(0.2) skip 1 with boxxyerror ls 12, \
     data using (0):(-$0 + 0.38):(sprintf('%s   %s%s', strcol(1), strcol(3), timed ? ' ms' : '')) skip 1 with labels left textcolor rgb INK
