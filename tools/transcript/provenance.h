// How evidence came to be: every field there, an unknown one null with a reason.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "process.h"

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

/// The name of the GPU that a program's first heading names, or "".
std::string gpu_named(const GpuState& gpu, std::string_view output);

/// "nvidia-h200" for "NVIDIA H200": lower case, everything else one dash.
std::string machine_name(std::string_view gpu);

struct ProvenanceInput {
  std::vector<std::string> command;  // as status prints it: paths from the root
  RunResult run;
  std::string rules, source, binary;  // their bytes
  std::string source_name;            // from the root
  std::filesystem::path root;
  bool on_gpu = false;
  GpuState before, after;
  /// Fields that the user states, by dotted name, for what cannot be seen here.
  std::map<std::string, std::string> facts;
};

/// The document: no host or user names, serial numbers, foreign paths or environment.
/// Throws std::runtime_error for a fact about an unknown field.
nlohmann::json provenance(const ProvenanceInput& input);

/// What is wrong with a document that claims to be provenance; empty if nothing is.
std::string check_provenance(const nlohmann::json& document);

}  // namespace transcript
