// What other tools ask of recorded evidence: one figure, or a block of lines, by name.
//
// Addresses name things; their parts are separated by " / " (white space folded):
//
//   BLOCK / ROW / COLUMN   a cell of a table
//   BLOCK / WORDS / N      the N-th figure that follows WORDS on a prose line; "/ N"
//   may
//                          be left out when only one figure follows
//   BLOCK                  for block(): all lines of the block
//   BLOCK / table          for block(): its table, header included
//
// A block starts at the first line, and at every line that follows a blank line and is
// not indented; it ends before the next block, without trailing blank lines. BLOCK is
// its first line up to the first of ",", "(", ":" or "=", and no longer than the words
// that fit in 100 bytes: "case 256x256x256", "storage census on B". COLUMN is the
// header's name, ROW the row's first cell. WORDS are whole words that stand in exactly
// one line of the block. Where a name occurs more than once in its block (or a block in
// the evidence), "NAME [2]" is the second. A name that contains " / " is written with
// the white space around the "/" left out.
#pragma once

#include <string>
#include <string_view>

namespace transcript {

/// The text of one figure or cell, as printed: "0.016", "not timed"; for a figure in
/// prose the number alone, without a unit glued to it ("40.45" of "40.45x").
/// Throws common::DiagnosticError with one diagnostic: `file` is `name`, `source` is
/// the address, `column` the part of it at fault, and the message names what exists
/// instead
/// ("did you mean", or the candidates of an ambiguous address).
std::string get(std::string_view evidence, std::string_view address,
                std::string_view name = "evidence");

/// The lines of a block or of its table, byte for byte, ending in a newline; errors as
/// get().
std::string block(std::string_view evidence, std::string_view address,
                  std::string_view name = "evidence");

/// Every figure of a transcript, in order, as a JSON array of objects: "address",
/// "block", "row" and "column" (null in prose), "text", and "value" (a number, or null
/// for one that is not finite and for a stand-in such as "n/a").
std::string export_json(std::string_view evidence, std::string_view name = "evidence");

}  // namespace transcript
