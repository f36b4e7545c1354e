// What other tools ask of recorded evidence: one figure, or a block of lines, by name.
//
// An address names things; " / " separates its parts, white space is folded:
//
//   SECTION / ROW / COLUMN   a cell, looked for in all tables of the section
//   SECTION / WORDS / N      the N-th figure after WORDS in the one line of prose (or
//                            the heading) that holds them; "/ N" may be left out when
//                            only one figure follows. "line 3" is the third such
//                            line whatever others say, "heading" is the heading
//   SECTION                  for block(): everything below the heading
//   SECTION / table          for block(): its table
//
// SECTION is a heading's text, or its part before the first of ",(:=" where that is
// unique; "top" is what stands before the first heading. "NAME [2]" is the second of
// that name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace transcript {

/// The text of one figure or cell, as printed: "0.016", "not timed"; of a figure in
/// prose the number alone, "40.45" of "40.45x". Throws common::DiagnosticError with one
/// diagnostic: `file` is `name`, `source` the address, `column` its part at fault, and
/// the message names what exists instead.
std::string get(std::string_view evidence, std::string_view address,
                std::string_view name = "evidence");

/// The lines of a section or table, byte for byte, ending in a newline.
std::string block(std::string_view evidence, std::string_view address,
                  std::string_view name = "evidence");

/// Every cell and every figure in prose, in order. In prose, row and column are empty.
struct Figure {
  std::string address, section, row, column, text;
  std::string value;  // the number's text, or empty: "n/a", NaN
};
std::vector<Figure> figures(std::string_view evidence);

}  // namespace transcript
