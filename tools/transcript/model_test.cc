#include "model.h"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "diagnostic.h"

using namespace transcript;

namespace {

std::vector<std::string> block_names(const std::string& text) {
  const Transcript transcript(text, "t");
  std::vector<std::string> names;
  for (std::size_t i = 0; i < transcript.blocks(); ++i) {
    names.push_back(transcript.block_name(i));
  }
  return names;
}

/// "header|names" and each row's cells, a line each.
std::string cells(const std::string& text) {
  const Transcript transcript(text, "t");
  std::string all;
  for (const Table& table : transcript.tables()) {
    for (const Column& column : table.columns) all += "[" + column.name + "]";
    all += "\n";
    for (std::size_t i = table.header + 1; i < table.end; ++i) {
      for (std::size_t c = 0; c < table.columns.size(); ++c) {
        all += "[" + std::string(table.cell(transcript.line(i), c)) + "]";
      }
      all += "\n";
    }
  }
  return all;
}

}  // namespace

TEST_CASE("a block starts at a line that is not indented, after a blank one") {
  CHECK(block_names("GPU: X (1.0)\n\ncase 2x2, max = 1\n  a\n\n  b\n\nall passed\n") ==
        std::vector<std::string>{"GPU", "case 2x2", "all passed"});
  CHECK(block_names("\n\n  indented\nnot\n") == std::vector<std::string>{"indented"});
  CHECK(block_names("a\nb\n\nc") == std::vector<std::string>{"a", "c"});
  CHECK(block_names("storage census on B (2048x2048), errors\n") ==
        std::vector<std::string>{"storage census on B"});
  CHECK(block_names("(all)\n") == std::vector<std::string>{"(all)"});
  CHECK(block_names("one " + std::string(90, 'b') + " and more words\n") ==
        std::vector<std::string>{"one " + std::string(90, 'b') + " and"});
  CHECK(block_names(std::string(8000, 'b') + "\n") ==
        std::vector<std::string>{std::string(100, 'b')});
  CHECK(block_names("\n \n").empty());
  CHECK(block_names("").empty());
}

TEST_CASE("a block ends before the blank lines that follow it") {
  const Transcript transcript("a\n  b\n\n  c\n\n\nd\n", "t");
  CHECK(transcript.lines() == 7);
  CHECK(transcript.block_begin(0) == 0);
  CHECK(transcript.block_end(0) == 4);
  CHECK(transcript.block_begin(1) == 6);
  CHECK(transcript.block_end(1) == 7);
  CHECK(transcript.block_at(5) == 0);
  CHECK(transcript.line(3) == "  c");
}

TEST_CASE("columns are found by their edges, names may hold single spaces") {
  CHECK(
      cells("case\n"
            "  kernel                 max err     rms err gate frac time (ms)  vs f32\n"
            "  matmulTiledF32       1.907e-05   1.139e-06     0.000    0.0100    1.00\n"
            "  int8 one scale       6.449e-01   1.611e-01     0.459 not timed     n/a\n"
            "  prose with single spaces 4.5\n") ==
      "[kernel][max err][rms err][gate frac][time (ms)][vs f32]\n"
      "[matmulTiledF32][1.907e-05][1.139e-06][0.000][0.0100][1.00]\n"
      "[int8 one scale][6.449e-01][1.611e-01][0.459][not timed][n/a]\n");
}

TEST_CASE("columns flush left, and values narrower than their name") {
  CHECK(cells("name      first value  second value  third\n"
              "a b       1            2             3.5\n"
              "c         10           n/a           4\n") ==
        "[name][first value][second value][third]\n"
        "[a b][1][2][3.5]\n"
        "[c][10][n/a][4]\n");
  CHECK(cells("name   gate frac sqrtK frac\n"
              "a              1          2\n") ==
        "[name][gate frac][sqrtK frac]\n"
        "[a][1][2]\n");
}

TEST_CASE("a blank that all row names share makes no column") {
  CHECK(cells("format         err\n"
              "one scale      1.0\n"
              "two spans      2.0\n") ==
        "[format][err]\n[one scale][1.0]\n[two spans][2.0]\n");
}

TEST_CASE("an empty cell and a whole empty column stay columns") {
  CHECK(cells("name    a     b     c\n"
              "x       1           3\n"
              "y       2           4\n") ==
        "[name][a][b][c]\n[x][1][][3]\n[y][2][][4]\n");
}

TEST_CASE("two columns of words are no table, nor is prose") {
  CHECK(
      cells("support:\n  INT8 cores         yes\n  2:4 sparse cores   yes\n").empty());
  CHECK(cells("two  spaces in prose\nand 5 in the next\n").empty());
  CHECK(cells("kernel   err\n").empty());
  // Another indentation: not the header's rows.
  CHECK(cells("kernel   err\n  f32    1.0\n").empty());
}

TEST_CASE("a table whose values all stand in for numbers is still one") {
  CHECK(cells("kernel   time\nf32      not timed\n") ==
        "[kernel][time]\n[f32][not timed]\n");
}

TEST_CASE("tables end where lines stop looking like rows") {
  CHECK(cells("a   b\nx   1\n\ny   2\n") == "[a][b]\n[x][1]\n");
  CHECK(cells("a   b\nx   1\nprose\ny   2\n") == "[a][b]\n[x][1]\n");
}

TEST_CASE("a line fits a table when no column starts inside a word") {
  const Transcript transcript("name    a     b\nx       1     3\n", "t");
  const Table& table = transcript.tables().at(0);
  CHECK(table.fits("y       2     4"));
  CHECK(table.fits("y"));
  CHECK(table.fits(""));
  CHECK_FALSE(table.fits("longer name 2  4"));
  CHECK(table.column_at(0) == 0);
  CHECK(table.column_at(9) == 1);
  CHECK(table.column_at(99) == 2);
}

TEST_CASE("any bytes make a transcript whose parts stay in bounds") {
  CHECK(rc::check("lines, blocks and cells", [] {
    const auto bytes = *rc::gen::container<std::string>(
        rc::gen::elementOf(std::string("a1. \n-:(x\t\r\x1B[")));
    const Transcript transcript(bytes, "t");
    for (std::size_t i = 0; i < transcript.lines(); ++i) {
      const Table* table = transcript.table_at(i);
      if (transcript.blocks() > 0) {
        RC_ASSERT(transcript.block_at(i) < transcript.blocks());
      }
      if (table == nullptr) continue;
      std::string joined;
      for (std::size_t c = 0; c < table->columns.size(); ++c) {
        joined += table->cell(transcript.line(i), c);
      }
      // Nothing of a row is lost, nothing told twice.
      std::string text(transcript.line(i));
      const auto strip = [](std::string& s) {
        std::erase_if(s, [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); });
      };
      strip(joined);
      strip(text);
      RC_ASSERT(joined == text);
    }
  }));
}
