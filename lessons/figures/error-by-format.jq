include "evidence";
"storage census on B" as $census
| ["format", "rms err", "max err", "bits"],
  (rows($census) as $row
   | [$row, cell($census; $row; "rms err", "max err", "bits")])
| @tsv
