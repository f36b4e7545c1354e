# What the plots ask of `transcript export`: each gives rows of text.

def figures: map(select(.row));

def cell($block; $row; $column):
  first(figures[] | select(.section == $block and .row == $row and .column == $column)
        | .text) // error("no \($block) / \($row) / \($column) in the evidence");

# Names of a block's rows, in order.
def rows($block):
  reduce (figures[] | select(.section == $block) | .row) as $row
    ([]; if index([$row]) then . else . + [$row] end) | .[];

# The product cases with m = n = k, smallest first: their blocks and k.
def cases:
  [figures[].section | select(test("^case (\\d+)x\\1x\\1$"))] | unique
  | map({ block: ., k: (capture("x(?<k>\\d+)$").k) })
  | sort_by(.k | tonumber) | .[];
