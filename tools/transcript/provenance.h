// How evidence came to be: every field always present, an unknown one null with a
// reason.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "process.h"

namespace transcript {

/// The fields of MACHINE.json, dotted. A null field has its reason under
/// "unknown"/FIELD, and no other field has one. No host or user names, serial numbers,
/// paths or environment variables are kept: of a path, only the last part.
extern const std::vector<std::string> kProvenanceFields;

/// What this tool cannot see by itself, or is told because it runs elsewhere.
struct BuildFacts {
  std::optional<std::string> nvcc_version, nvcc_flags, host_compiler, cuda_runtime;
  std::optional<std::string> git_commit;
  std::optional<bool> git_dirty;
};

/// The first GPU as nvidia-smi shows it at one moment, by query name; a query that it
/// refuses or answers with "[N/A]" is missing.
struct GpuState {
  std::map<std::string, std::string> values;
  std::size_t count = 0;
  std::string why_none;  // when count is 0
};
GpuState query_gpu();

/// "nvidia-h200" for "NVIDIA H200": lower case, everything else one dash.
std::string machine_name(std::string_view gpu);

struct ProvenanceInput {
  std::vector<std::string> command;
  RunResult run;
  std::string rules, source, binary;  // their bytes
  std::string source_name;
  std::filesystem::path root;  // of the repository
  bool on_gpu = false;
  GpuState before, after;
  BuildFacts build;
  std::string date;  // UTC, "2026-01-31T12:00:00Z"
};

nlohmann::json provenance(const ProvenanceInput& input);

/// What is wrong with a document that claims to be provenance; empty if nothing is.
std::string check_provenance(const nlohmann::json& document);

/// The compilers that an ELF file's .comment section names, "; " between them; empty if
/// it names none.
std::string compilers_of(std::string_view elf);

std::string utc_now();

}  // namespace transcript
