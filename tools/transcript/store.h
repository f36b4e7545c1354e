// Where evidence lives: transcripts/PROGRAM/{rules.toml,MACHINE.md,MACHINE.json}.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "compare.h"
#include "rules.h"

namespace transcript {

/// Evidence of one program on one machine.
struct Evidence {
  std::string name;           // of the text, as reports show it
  std::string text;           // stdout, byte for byte
  nlohmann::json provenance;  // null if there is none
  std::string fault;          // why it proves nothing: no provenance, or altered bytes
};

/// The folder of one program's evidence. Errors are std::runtime_error with one line
/// that names the file and the remedy.
struct Store {
  const std::filesystem::path root;  // the repository
  const std::string program;
  const std::filesystem::path folder = root / "transcripts" / program;

  /// Throws when the repository has no such program.
  Store(std::filesystem::path repository, std::string program_name);
  /// The nearest folder, from the current one up, that has transcripts/.
  static std::filesystem::path find_root();
  /// The folders of transcripts/ that have rules.toml, sorted.
  static std::vector<std::string> programs(const std::filesystem::path& root);

  std::filesystem::path file(const std::string& machine, const char* extension) const {
    return folder / (machine + extension);
  }
  /// A path as reports show it: relative to the root.
  std::string name(const std::filesystem::path& path) const;

  std::vector<std::string> machines() const;  // that have a MACHINE.md, sorted
  Rules rules() const;
  Evidence load(const std::string& machine) const;
  /// Replaces both files, each by a rename once both are on disk. What is killed
  /// between the two leaves evidence that load() finds at fault.
  void save(const std::string& machine, const std::string& text,
            const nlohmann::json& provenance) const;
};

/// The rules that match nothing in any document of `folder`, nor are in `used`.
std::vector<std::size_t> idle_rules(const Rules& rules, std::vector<bool> used,
                                    const std::filesystem::path& folder);
/// Throws common::DiagnosticError if there are such rules.
void check_rules_used(const Rules& rules, const std::vector<bool>& used,
                      const std::filesystem::path& folder);

}  // namespace transcript
