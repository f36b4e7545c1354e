// Wrong versions of a program, each by one change of its text. The list of them is a
// TOML file beside this one:
//
//   program = "quant_matmul"         src/quant_matmul.cu
//   cases = "256,61x45x77"           what it runs
//   gpu_cases = "3000x4096x528"      and these too on a GPU
//
//   [[check]]                        a column of the table
//   name = "exact"
//   line = "FAILED: *: exact gate"   a line of the report; ?, * and [] as in a shell
//   columns = ["sqrtK frac"]         or these figures of a table,
//   rows = "int8 per-col*"           in these rows,
//   above = 1.0                      when they are above this
//   given = "every output *"         only in sections that hold such a line
//
//   [[mutant]]
//   name = "dropped-correction"
//   from = "if (asymA) accumulator"  this text is replaced
//   to = "if (false) accumulator"
//   of = 2                           how often it must stand in the program; default 1
//   which = 2                        which of them is replaced; default 1
//   noticed = "exact"                the check that must notice it, or:
//                                    "test" (below), "otherwise" (another gate of the
//                                    program, or a crash), "anything" (timing decides)
//   test = "codes round to *"        the test case of PROGRAM_test.cc that must fail
//   kernel = 4                       run with --kernels 4
//   cases = "16x8x33"                run these instead
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mutants {

struct Check {
  std::string name, line, rows, given;
  std::vector<std::string> columns;
  double above = 0.0;
};

struct Mutant {
  std::string name, from, to, noticed, test, cases;
  int of = 1, which = 1, kernel = 0;
  int line = 0;  // of `from` in the list
};

struct List {
  std::string file, text;  // the list itself
  std::string program, cases, gpu_cases;
  std::vector<Check> checks;
  std::vector<Mutant> mutants;
};

/// Reads a list. Throws common::DiagnosticError where it is wrong.
List read_list(const std::string& file);
List parse_list(const std::string& file, const std::string& text);

/// The changed source. Throws common::DiagnosticError when `from` does not stand there
/// as often as the mutant says, so that no mutant outlives what it changes.
std::string apply(const Mutant& mutant, const List& list, std::string_view source);

}  // namespace mutants
