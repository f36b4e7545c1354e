include "evidence";
["kernel", "K", "gate frac", "sqrtK frac"],
(("int8 one scale", "int8 per-column", "int8 per-col + zp") as $row
 | cases as $case
 | [$row, $case.k, cell($case.block; $row; "gate frac", "sqrtK frac")])
| @tsv
