#include "diagnostic.h"

#include <doctest/doctest.h>

using common::Diagnostic;
using common::format;

TEST_CASE("a diagnostic names file and line, then shows the line with a caret") {
  CHECK(format({"a.md", 7, 6, "no region 'x'", "pull: b.cu#x"}) ==
        "a.md:7: no region 'x'\n"
        "  pull: b.cu#x\n"
        "       ^\n");
}

TEST_CASE("a diagnostic about a whole file or line has no caret") {
  CHECK(format({"a.md", 0, 0, "cannot be read", ""}) == "a.md: cannot be read\n");
  CHECK(format({"a.md", 3, 0, "is odd", "text"}) == "a.md:3: is odd\n");
}

TEST_CASE("the caret stands under its character after tabs and UTF-8") {
  CHECK(format({"f", 1, 3, "m", "\t\tx"}) == "f:1: m\n  \t\tx\n  \t\t^\n");
  CHECK(format({"f", 1, 3, "m", "\xC3\xA9x"}) == "f:1: m\n  \xC3\xA9x\n   ^\n");
  CHECK(format({"f", 1, 99, "m", "ab"}) == "f:1: m\n  ab\n    ^\n");
}

TEST_CASE("a long line is cut to a window around the caret") {
  const std::string line(10000, 'a');
  CHECK(format({"f", 1, 5001, "m", line}) == "f:1: m\n  ..." + std::string(160, 'a') +
                                                 "...\n  " + std::string(83, ' ') +
                                                 "^\n");
}

TEST_CASE("an error carries every diagnostic") {
  const common::DiagnosticError error({{"a", 1, 0, "x", ""}, {"b", 2, 0, "y", ""}});
  CHECK(std::string(error.what()) == "a:1: x\nb:2: y\n");
  CHECK(error.diagnostics().size() == 2);
}
