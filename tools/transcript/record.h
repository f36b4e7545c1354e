// Turning a run into evidence, and only a run that deserves it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compare.h"
#include "process.h"
#include "provenance.h"
#include "store.h"

namespace transcript {

struct RecordRequest {
  std::vector<std::string> command;
  std::string machine;  // empty: from the GPU's name, or "cpu"
  bool on_gpu = false;
  std::filesystem::path source;       // of the program
  std::vector<std::string> changing;  // patterns of addresses that are meant to change
  RunLimits limits;
  BuildFacts build;
};

/// Why a run did not become evidence; the old evidence stands as it was.
struct Refused : std::runtime_error {
  Refused(int code, const std::string& text)
      : std::runtime_error(text), exit_code(code) {}
  int exit_code;
};

/// Runs the program and keeps what it printed, with provenance, as `machine`'s
/// evidence, then reads both back. Returns what to tell. Throws Refused when CI is set
/// or a pattern in `changing` is empty; when the run failed, printed nothing, was cut
/// off or left something running; when by the rules it does not agree even with itself;
/// or when a figure that the rules judge differs from unaltered evidence of the same
/// source on any machine, unless a pattern in `changing` names it. Then, or on any
/// other exception, the evidence of before stands. Recordings of a program wait for
/// each other once their runs have ended.
std::string record(const Store& store, const RecordRequest& request);

/// The exit code for a run: 0, 3 for a failure, 4 for a timeout.
int exit_code(const RunResult& run);

/// Everything that disqualifies a run, in one line, or an empty string.
std::string fault_of(const RunResult& run, const RunLimits& limits);

}  // namespace transcript
