// Turning a run into evidence, and telling which evidence proves nothing any more.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "process.h"
#include "store.h"

namespace transcript {

struct RecordRequest {
  std::vector<std::string> command;
  std::string machine;                // empty: from the GPU's name, or "cpu"
  std::filesystem::path source;       // of the program
  std::vector<std::string> changing;  // patterns of addresses that are meant to change
  RunLimits limits;
  std::map<std::string, std::string> facts;  // see provenance.h
};

/// A run that did not become evidence, or that cannot be compared.
struct Refused : std::runtime_error {
  Refused(int code, const std::string& text)
      : std::runtime_error(text), exit_code(code) {}
  int exit_code;
};

/// Throws Refused, with 3 or 4 to exit with, if a run failed, timed out, was cut off or
/// printed nothing; `what` ran.
void check_run(const RunResult& run, const RunLimits& limits, const std::string& what);

/// Runs the program and keeps what it printed, with provenance, as the machine's
/// evidence; returns what to tell. Throws Refused, and leaves the old evidence, when CI
/// is set, when the run failed or left something running, when a machine is named that
/// the program's first heading does not, when it only prints recorded text, or when a
/// figure that is judged differs from unaltered evidence of the same source on any
/// machine, unless `changing` has its address.
std::string record(const Store& store, const RecordRequest& request);

/// A paragraph for each stale evidence of a program: why, and a command that refreshes
/// it, run from the root; `tool` is this program's file.
std::string status(const Store& store, const std::filesystem::path& tool);

}  // namespace transcript
