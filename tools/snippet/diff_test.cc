#include "diff.h"

#include <doctest/doctest.h>

using snippet::unified_diff;

TEST_CASE("equal texts have no diff") {
  CHECK(unified_diff("a", "b", "x\n", "x\n") == "");
}

TEST_CASE("a change stands in three lines of context") {
  CHECK(unified_diff("a", "b", "1\n2\n3\n4\n5\n6\n7\n8\n9\n",
                     "1\n2\n3\n4\nfive\n6\n7\n8\n9\n") ==
        "--- a\n+++ b\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
}

TEST_CASE("near changes share a hunk, far ones do not") {
  CHECK(
      unified_diff("a", "b", "x\n1\n2\n3\n4\n5\n6\nx\n", "y\n1\n2\n3\n4\n5\n6\ny\n") ==
      "--- a\n+++ b\n@@ -1,8 +1,8 @@\n-x\n+y\n 1\n 2\n 3\n 4\n 5\n 6\n-x\n+y\n");
  CHECK(unified_diff("a", "b", "x\n1\n2\n3\n4\n5\n6\n7\nx\n",
                     "y\n1\n2\n3\n4\n5\n6\n7\nz\ny\n") ==
        "--- a\n+++ b\n@@ -1,4 +1,4 @@\n-x\n+y\n 1\n 2\n 3\n"
        "@@ -6,4 +6,5 @@\n 5\n 6\n 7\n-x\n+z\n+y\n");
}

TEST_CASE("empty sides name the line before them") {
  CHECK(unified_diff("a", "b", "", "x\n") == "--- a\n+++ b\n@@ -0,0 +1 @@\n+x\n");
  CHECK(unified_diff("a", "b", "x\n", "") == "--- a\n+++ b\n@@ -1 +0,0 @@\n-x\n");
}

TEST_CASE("a missing last newline is a difference") {
  CHECK(unified_diff("a", "b", "x\ny", "x\ny\n") ==
        "--- a\n+++ b\n@@ -1,2 +1,2 @@\n x\n-y\n\\ No newline at end of file\n+y\n");
}

TEST_CASE("the script is a shortest one") {
  CHECK(unified_diff("a", "b", "a\nb\nc\na\nb\nb\na\n", "c\nb\na\nb\na\nc\n") ==
        "--- a\n+++ b\n@@ -1,7 +1,6 @@\n-a\n-b\n c\n+b\n a\n b\n-b\n a\n+c\n");
}

TEST_CASE("texts with nothing in common are one replacement, quickly") {
  std::string a, b, expected = "--- a\n+++ b\n@@ -1,5000 +1,5000 @@\n";
  for (int i = 0; i < 5000; ++i) a += "a" + std::to_string(i) + "\n";
  for (int i = 0; i < 5000; ++i) b += "b" + std::to_string(i) + "\n";
  for (int i = 0; i < 5000; ++i) expected += "-a" + std::to_string(i) + "\n";
  for (int i = 0; i < 5000; ++i) expected += "+b" + std::to_string(i) + "\n";
  CHECK(unified_diff("a", "b", a, b) == expected);
}
