#include "dedent.h"

#include <doctest/doctest.h>

using snippet::dedent;
using Lines = std::vector<std::string>;

TEST_CASE("the longest common indentation goes") {
  CHECK(dedent({"  a", "    b"}) == Lines{"a", "  b"});
  CHECK(dedent({"a", "  b"}) == Lines{"a", "  b"});
  CHECK(dedent({}) == Lines{});
}

TEST_CASE("blank lines do not defeat it and keep what exceeds it") {
  CHECK(dedent({"  a", "", " ", "  b"}) == Lines{"a", "", "", "b"});
  CHECK(dedent({"  a", "    ", "  b"}) == Lines{"a", "  ", "b"});
  CHECK(dedent({"", "  "}) == Lines{"", "  "});
}

TEST_CASE("tabs and spaces are never mixed up") {
  CHECK(dedent({"\ta", "\tb"}) == Lines{"a", "b"});
  CHECK(dedent({"\ta", "        b"}) == Lines{"\ta", "        b"});
  CHECK(dedent({" \ta", " b"}) == Lines{"\ta", "b"});
  CHECK(dedent({"\ta", "    ", "\tb"}) == Lines{"a", "", "b"});
}
