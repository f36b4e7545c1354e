include "evidence";
["int8 2:4 pruned", "int8 one scale", "int8 per-column", "int8 per-col + zp"] as $rows
| ["K"] + ($rows | map(ltrimstr("int8 "))),
  (cases as $case | [$case.k, cell($case.block; $rows[]; "rms err")])
| @tsv
