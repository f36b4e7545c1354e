#include "mutant.h"

#include <doctest/doctest.h>

#include <string>

#include "diagnostic.h"

using mutants::List;
using mutants::parse_list;

namespace {

const std::string kHead =
    "program = \"sum\"\n"
    "cases = \"8\"\n"
    "[[check]]\n"
    "name = \"exact\"\n"
    "line = \"FAILED: *\"\n";

const std::string kMutant =
    "[[mutant]]\n"
    "name = \"minus\"\n"
    "from = \"a + b\"\n"
    "to = \"a - b\"\n"
    "of = 2\n"
    "which = 2\n";

List list(const std::string& text) {
  return parse_list("sum.toml", text);
}

}  // namespace

TEST_CASE("a mutant replaces the text that it names, once") {
  const List sums = list(kHead + kMutant + "noticed = \"exact\"\n");
  CHECK(mutants::apply(sums.mutants[0], sums, "a + b; a + b;") == "a + b; a - b;");
}

TEST_CASE("a mutant that no longer fits the program is an error") {
  const List sums = list(kHead + kMutant + "noticed = \"exact\"\n");
  for (const char* source : {"a + b", "a+b; a + b", "a + b; a + b; a + b", ""}) {
    CHECK_THROWS_AS(mutants::apply(sums.mutants[0], sums, source),
                    common::DiagnosticError);
  }
  CHECK_THROWS_WITH(mutants::apply(sums.mutants[0], sums, "a + b"),
                    "sum.toml:8: mutant minus: the text stands 1 times in src/sum.cu, "
                    "not 2; adapt `from` and `of` to the program\n"
                    "  from = \"a + b\"\n"
                    "  ^\n");
}

TEST_CASE("what a list says wrongly is an error at its line") {
  CHECK_THROWS_WITH(list(kHead + kMutant + "noticed = \"exalt\"\n"),
                    "sum.toml:12: no check is called `exalt`\n"
                    "  noticed = \"exalt\"\n"
                    "  ^\n");
  CHECK_THROWS_WITH(list(kHead + kMutant + "noticed = \"exact\"\nform = \"\"\n"),
                    "sum.toml:13: unknown key `form`; mutant.h has all of them\n"
                    "  form = \"\"\n"
                    "  ^\n");
  CHECK_THROWS_WITH(list(kHead + "[[mutant]]\nname = \"minus\"\n"),
                    "sum.toml:6: `from` is missing\n"
                    "  [[mutant]]\n"
                    "  ^\n");
  CHECK_THROWS_WITH(list("program = 5\n"),
                    "sum.toml:1: `program`: wrong type\n"
                    "  program = 5\n"
                    "  ^\n");
  // A test that is not named cannot notice anything.
  CHECK_THROWS_AS(list(kHead + kMutant + "noticed = \"test\"\n"),
                  common::DiagnosticError);
}
