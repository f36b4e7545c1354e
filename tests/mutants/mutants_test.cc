// Every wrong version of the program is noticed, and the table of what noticed it.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

#include "file.h"
#include "mutate.h"
#include "testing.h"

using cpu_cuda::testing::Result;
using cpu_cuda::testing::run;
using cpu_cuda::testing::setting;
using mutants::Killer;
using mutants::Mutant;

namespace {

/// In which of the two cases something was noticed.
struct Seen {
  bool square = false, ragged = false;
  bool any() const { return square || ragged; }
  const char* text() const {
    return square && ragged ? "both" : square ? "256" : ragged ? "ragged" : "-";
  }
};

/// Who noticed, from what one run of the program printed.
struct Verdicts {
  Seen exact, bound, sqrt_k, predicted, f32;
};

Verdicts read_verdicts(const std::string& out) {
  Verdicts verdicts;
  std::istringstream lines(out);
  bool ragged = false;
  const auto note = [&](Seen& seen, bool noticed) {
    (ragged ? seen.ragged : seen.square) |= noticed;
  };
  for (std::string line; std::getline(lines, line);) {
    const auto failed = [&](const std::string& what) {
      return line.rfind("  FAILED: ", 0) == 0 && line.size() > what.size() &&
             line.compare(line.size() - what.size(), what.size(), what) == 0;
    };
    if (line.rfind("case ", 0) == 0) ragged = line.rfind("case 61x45x77", 0) == 0;
    note(verdicts.exact, failed(": exact gate"));
    note(verdicts.bound, failed(": bound"));
    note(verdicts.predicted, failed(": predicted rms"));
    note(verdicts.f32, failed(": f32 gate"));
    // A diagnostic, not a gate: its column in the rows that have a scale per column.
    if (line.rfind("  int8 per-col", 0) == 0 && line.find("not timed") != line.npos) {
      std::istringstream row(line.substr(2 + 17));
      double max_err, rms, gate, sqrt_k;
      row >> max_err >> rms >> gate >> sqrt_k;
      note(verdicts.sqrt_k, !row || sqrt_k > 1.0);
    }
  }
  return verdicts;
}

std::string program(const std::string& name) {
  return setting("MUTANTS") + "/quant_matmul_" + name;
}

std::string line(const char* name, const char* exact, const char* bound,
                 const char* sqrt_k, const char* predicted, const char* f32,
                 const char* test) {
  char text[128];
  std::snprintf(text, sizeof text, "  %-32s%6s%8s%8s%11s%6s%7s\n", name, exact, bound,
                sqrt_k, predicted, f32, test);
  return text;
}

std::string line(const std::string& name, const Verdicts& seen, const char* test) {
  return line(name.c_str(), seen.exact.text(), seen.bound.text(), seen.sqrt_k.text(),
              seen.predicted.text(), seen.f32.text(), test);
}

}  // namespace

TEST_CASE("the program as it is passes, every mutant is caught") {
  std::string table =
      "mutants (in which case each was noticed: 256x256x256, ragged 61x45x77)\n" +
      line("mutant", "exact", "bound", "sqrt(K)", "predicted", "f32", "test");
  const std::string arguments = " --cases 256,61x45x77 --timed-runs 0";
  const Result good = run(setting("QUANT_MATMUL") + arguments);
  CHECK(good.exit_code == 0);
  table += line("none", read_verdicts(good.out), "-");
  for (const Mutant& mutant : mutants::all()) {
    CAPTURE(mutant.name);
    const Result result = run(program(mutant.name) + arguments);
    REQUIRE(result.exit_code <= 1);  // judged, not crashed or missing
    const Verdicts seen = read_verdicts(result.out);
    const char* test = "-";
    if (!mutant.doctest.empty()) {
      std::string filter = mutant.doctest;  // where a comma separates, and ? is any
      std::replace(filter.begin(), filter.end(), ',', '?');
      const Result cases =
          run(program(mutant.name) + "_test --test-case='" + filter + "'");
      CHECK(cases.exit_code == 1);
      CHECK(cases.out.find(" 0 passed | 1 failed |") != std::string::npos);
      test = cases.exit_code == 1 ? "fails" : "-";
    }
    table += line(mutant.name, seen, test);
    CHECK((result.exit_code == 1) == (mutant.killer != Killer::doctest));
    CHECK(seen.exact.any() == (mutant.killer == Killer::exact_gate));
    CHECK(seen.f32.any() == (mutant.killer == Killer::f32_gate));
    if (mutant.killer == Killer::predicted_rms) CHECK(seen.predicted.any());
  }
  std::printf("%s", table.c_str());
  // The lesson shows the recorded table. If this one is right, copy it there.
  const std::string written = setting("MUTANTS") + "/mutants.txt";
  common::write_atomically(written, table);
  CHECK_MESSAGE(table == common::read_file(setting("RECORDED")),
                written << " differs from " << setting("RECORDED"));
}

TEST_CASE("a mutant that no longer matches the program is an error") {
  const Mutant mutant{"m", "a + b", "a - b", 2, 2, Killer::exact_gate, ""};
  CHECK(mutants::mutate("a + b; a + b;", mutant) == "a + b; a - b;");
  for (const char* source : {"a + b", "a+b; a + b", "a + b; a + b; a + b"}) {
    CHECK_THROWS_AS(mutants::mutate(source, mutant), std::runtime_error);
  }
  CHECK_THROWS_WITH(mutants::mutate("", mutant),
                    "mutant m: expected 2 of `a + b`, found 0; adapt "
                    "tests/mutants/mutate.cc to the program");
}
