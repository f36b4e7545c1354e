// Turning a run into evidence: what is kept, how it came to be (every field there, an
// unknown one null with a reason), and whether it still proves anything.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "process.h"
#include "store.h"

namespace transcript {

/// SHA-256 as 64 hexadecimal digits.
std::string sha256(std::string_view bytes);

/// The GPUs as nvidia-smi shows them at one moment.
struct GpuState {
  std::vector<std::string> names;
  std::map<std::string, std::string> values;  // of the first one, by nvidia-smi's name
  std::string why_none;                       // when there are no names
};
GpuState query_gpu();

/// The command of a program's GPU build where a GPU answers and `machine` is not "cpu",
/// or of its CPU build. This tool is built at BUILD/tools/transcript/, they at
/// BUILD/src/.
std::vector<std::string> built_program(const std::string& name,
                                       const std::string& machine);

struct Recording {
  std::vector<std::string> command;
  std::string machine;                // empty: from the GPU's name, or "cpu"
  std::filesystem::path source;       // of the program
  std::vector<std::string> changing;  // patterns of addresses that are meant to change
  RunLimits limits;
  /// Fields that the user states, by dotted name, for what cannot be seen here.
  std::map<std::string, std::string> facts;

  // What record() finds out.
  RunResult run;
  std::filesystem::path root;
  std::vector<std::string> shown_command;             // without foreign paths
  std::string rules_text, source_text, shown_source;  // the source's path from the root
  std::string gpu;  // that the first heading names, or ""
  GpuState before, after;
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
std::string record(const Store& store, Recording recording);

/// The provenance: no host or user names, serial numbers, foreign paths or environment.
/// Throws std::runtime_error for a fact about an unknown field.
nlohmann::json provenance(const Recording& recording);

/// What is wrong with a document that claims to be provenance; empty if nothing is.
std::string check_provenance(const nlohmann::json& document);

/// A paragraph for each stale evidence of a program: why, and a command that refreshes
/// it, run from the root.
std::string status(const Store& store);

}  // namespace transcript
