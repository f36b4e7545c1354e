#include "suggest.h"

#include <doctest/doctest.h>

using common::closest;

TEST_CASE("a typo finds the name that was meant") {
  CHECK(closest("int8-iner", {"column-gate", "int8-inner"}) == "int8-inner");
  CHECK(closest("colum-gates", {"column-gate", "int8-inner"}) == "column-gate");
  CHECK(closest("ab", {"ac", "ad"}) == "ac");
}

TEST_CASE("a name that is nothing like any other finds none") {
  CHECK(closest("prune", {"column-gate", "int8-inner"}).empty());
  CHECK(closest("x", {}).empty());
}
