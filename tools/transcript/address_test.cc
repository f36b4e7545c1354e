#include "address.h"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "diagnostic.h"
#include "evidence.h"
#include "file.h"

using namespace transcript;

namespace {

const std::string kEvidence =
    "case 2x2, max |reference| = 34.5857\n"
    "  a scale sym 7.874e-03, a scale asym 3.921e-03, zero point -128\n"
    "  gate 0.5 of 1.5\n"
    "  kernel        max err     rms err\n"
    "  f32         1.907e-05   1.139e-06\n"
    "  int8 one    6.449e-01         n/a\n"
    "\n"
    "  kernel       compared     rms err\n"
    "  int8 one        65536   1.687e-01\n"
    "  speed-up 40.45x; improves by 12.30x\n"
    "\n"
    "twice, 1\n"
    "\n"
    "twice, 2\n"
    "\n"
    "3 cases\n";

/// The value at an address, or the error.
std::string value(const std::string& address) {
  try {
    return get(kEvidence, address, "e.txt");
  } catch (const common::DiagnosticError& error) {
    REQUIRE(error.diagnostics().size() == 1);
    CHECK(error.diagnostics()[0].source == address);
    return error.what();
  }
}

std::size_t fault_column(const std::string& address) {
  try {
    get(kEvidence, address);
    return 0;
  } catch (const common::DiagnosticError& error) {
    return error.diagnostics()[0].column;
  }
}

std::string lines(const std::string& address) {
  try {
    return block(kEvidence, address, "e.txt");
  } catch (const common::DiagnosticError& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("a cell is named by block, row and column") {
  CHECK(value("case 2x2 / f32 / max err") == "1.907e-05");
  CHECK(value("  case  2x2  /  f32  /  rms   err ") == "1.139e-06");
  CHECK(value("case 2x2 / int8 one / compared") == "65536");
  CHECK(value("case 2x2 / int8 one / max err") == "6.449e-01");
  CHECK(value("case 2x2 / int8 one [1] / rms err") == "n/a");
  CHECK(value("case 2x2 / int8 one [2] / rms err") == "1.687e-01");
  CHECK(value("case 2x2 / line 6 / rms err") == "n/a");
}

TEST_CASE("a figure in prose is named by the words before it") {
  CHECK(value("case 2x2 / max |reference| =") == "34.5857");
  CHECK(value("case 2x2 / a scale sym / 1") == "7.874e-03");
  CHECK(value("case 2x2 / a scale sym / 3") == "-128");
  CHECK(value("case 2x2 / zero point") == "-128");
  CHECK(value("case 2x2 / speed-up / 1") == "40.45");
  CHECK(value("case 2x2 / improves by") == "12.30");
  CHECK(value("case 2x2 / improves by / -1") == "40.45");
  CHECK(value("case 2x2 / line 3 / 2") == "1.5");
  CHECK(value("3 cases / cases / -1") == "3");
  CHECK(value("twice [2] / twice") == "2");
}

TEST_CASE("a block or its table is named for its lines") {
  CHECK(lines("twice [1]") == "twice, 1\n");
  CHECK(lines("case 2x2 / table [2]") ==
        "  kernel       compared     rms err\n"
        "  int8 one        65536   1.687e-01\n");
  CHECK(lines("case 2x2").substr(0, 9) == "case 2x2,");
  CHECK(lines("case 2x2").substr(lines("case 2x2").size() - 8) == " 12.30x\n");
  CHECK(lines("case 2x2 / table") ==
        "e.txt: the block has 2 tables: say which, 'table [1]', ...\n");
  CHECK(lines("3 cases / table") == "e.txt: the block has no table\n");
  CHECK(lines("case 2x2 / tables") ==
        "e.txt: lines are named by BLOCK or BLOCK / table\n");
}

TEST_CASE("an unknown name gets the nearest known one") {
  CHECK(value("case 2x3 / f32 / max err") ==
        "e.txt: no block 'case 2x3'; did you mean 'case 2x2'?\n");
  CHECK(value("census / f32 / max err") == "e.txt: no block 'census'\n");
  CHECK(value("case 2x2 / int8 on / max err") ==
        "e.txt: no row 'int8 on' in block 'case 2x2'; did you mean 'int8 one'?\n");
  CHECK(value("case 2x2 / f32 / max er") ==
        "e.txt: row 'f32' has no column 'max er'; did you mean 'max err'?\n");
  CHECK(
      value("case 2x2 / scale factor / 1") ==
      "e.txt: no line of block 'case 2x2' has the words 'scale factor' and a figure\n");
  CHECK(fault_column("case 2x2 / f32 / max er") == 18);
  CHECK(fault_column("case 2x3 / f32 / max err") == 1);
}

TEST_CASE("an ambiguous address names its candidates") {
  CHECK(value("twice / twice") ==
        "e.txt: 'twice' is ambiguous: it may be 'twice [1]', 'twice [2]'\n");
  CHECK(
      value("case 2x2 / int8 one / rms err") ==
      "e.txt: the address is ambiguous: it may be 'case 2x2 / int8 one [1] / rms err', "
      "'case 2x2 / int8 one [2] / rms err'\n");
  CHECK(value("case 2x2 / a scale sym") ==
        "e.txt: 3 figures follow these words: say which, 'a scale sym / 1', "
        "'a scale sym / 2', 'a scale sym / 3'\n");
  CHECK(value("case 2x2 / max / 1") == "34.5857");
  CHECK(value("case 2x2 / sym") ==
        "e.txt: 3 figures follow these words: say which, 'sym / 1', 'sym / 2', "
        "'sym / 3'\n");
  CHECK(value("case 2x2 / a / 1") == "7.874e-03");
  CHECK(value("case 2x2 / by / 1") == "12.30");
  const std::string two = "a\n  gap 1\n  gap 2\n";
  CHECK_THROWS_WITH(get(two, "a / gap"),
                    "evidence: 'gap' stands in 2 lines: 'gap 1', 'gap 2'\n");
}

TEST_CASE("an address that names too little or too much says what it lacks") {
  CHECK(value("") == "e.txt: the address is empty\n");
  CHECK(value(" / a") == "e.txt: a part of the address is empty\n");
  CHECK(value("a / ") == "e.txt: a part of the address is empty\n");
  CHECK(value("a / b / c / d") ==
        "e.txt: an address has at most three parts: BLOCK / ROW / COLUMN, or "
        "BLOCK / WORDS / N\n");
  CHECK(value("case 2x2") ==
        "e.txt: this names a block; a figure needs BLOCK / ROW / COLUMN, or "
        "BLOCK / WORDS / N\n");
  CHECK(value("case 2x2 / f32") ==
        "e.txt: 'f32' is a row; add one of its columns: 'max err', 'rms err'\n");
  CHECK(value("case 2x2 / gate / 3") == "e.txt: 2 figures follow these words\n");
  CHECK(value("case 2x2 / gate / -1") == "e.txt: 0 figures precede these words\n");
  CHECK(value("twice [3] / twice") == "e.txt: block 'twice' occurs 2 times only\n");
  CHECK(value("case 2x2 / int8 one [3] / rms err") ==
        "e.txt: row 'int8 one' occurs 2 times only\n");
}

TEST_CASE("words are whole words") {
  CHECK(value("case 2x2 / speed / 1") == "40.45");  // "speed-up": "-" ends a word
  CHECK(value("case 2x2 / ate 0 / 1") ==
        "e.txt: no line of block 'case 2x2' has the words 'ate 0' and a figure\n");
}

TEST_CASE("names that hold a slash between spaces are written without the spaces") {
  const std::string evidence = "a / b\n  k / l   ms / run\n  x / y      1.5\n";
  CHECK(get(evidence, "a/b / x/y / ms/run") == "1.5");
}

TEST_CASE("every figure of the evidence has an address that leads back to it") {
  for (const char* file : {"tools/transcript/testdata/misaligned.txt",
                           "transcripts/quant_matmul/cpu.txt"}) {
    const std::string text = common::read_file(std::string(SOURCE_ROOT "/") + file);
    const auto figures = nlohmann::json::parse(export_json(text));
    CHECK(figures.size() > 150);
    std::vector<std::string> seen;
    for (const auto& figure : figures) {
      const std::string address = figure["address"];
      CHECK(get(text, address) == figure["text"]);
      seen.push_back(address);
    }
    std::sort(seen.begin(), seen.end());
    CHECK(std::adjacent_find(seen.begin(), seen.end()) == seen.end());
  }
}

TEST_CASE("exported figures carry names and values") {
  const auto figures = nlohmann::json::parse(export_json(kEvidence));
  const auto find = [&](const std::string& address) {
    for (const auto& figure : figures) {
      if (figure["address"] == address) return figure;
    }
    return nlohmann::json();
  };
  CHECK(find("case 2x2 / f32 / max err") ==
        nlohmann::json{{"address", "case 2x2 / f32 / max err"},
                       {"block", "case 2x2"},
                       {"row", "f32"},
                       {"column", "max err"},
                       {"text", "1.907e-05"},
                       {"value", 1.907e-05}});
  CHECK(find("case 2x2 / int8 one [1] / rms err")["value"].is_null());
  CHECK(find("case 2x2 / zero point / 1") ==
        nlohmann::json{{"address", "case 2x2 / zero point / 1"},
                       {"block", "case 2x2"},
                       {"row", nullptr},
                       {"column", nullptr},
                       {"text", "-128"},
                       {"value", -128.0}});
}

TEST_CASE("any address of any evidence gives a value or one error") {
  CHECK(rc::check("addresses", [] {
    const auto pieces = rc::gen::elementOf(
        std::vector<std::string>{"case", " ", "/", " / ", "[2]", "line 1", "1", "-1",
                                 "f32", "\n", "  ", "a  b", "1.5", ",", "table"});
    const auto join = [](const std::vector<std::string>& parts) {
      std::string text;
      for (const std::string& part : parts) text += part;
      return text;
    };
    const std::string text =
        join(*rc::gen::container<std::vector<std::string>>(pieces));
    const std::string address =
        join(*rc::gen::container<std::vector<std::string>>(pieces));
    for (const auto function : {&get, &block}) {
      try {
        function(text, address, "e");
      } catch (const common::DiagnosticError& error) {
        RC_ASSERT(error.diagnostics().size() == 1u);
      }
    }
  }));
}
