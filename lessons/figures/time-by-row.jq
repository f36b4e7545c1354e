include "evidence";
["kernel", "K", "time (ms)", "vs f32"],
([cases][-1] as $case
 | rows($case.block) as $row
 | select($row != "int8 2:4 pruned")
 | [$row, $case.k, cell($case.block; $row; "time (ms)", "vs f32")])
| @tsv
