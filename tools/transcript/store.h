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
  std::string machine;
  std::string text;           // stdout, byte for byte
  nlohmann::json provenance;  // null if there is none
  std::string fault;          // why it proves nothing: no provenance, or altered bytes
};

/// The folder of one program's evidence. Errors are std::runtime_error with one line
/// that names the file and the remedy.
class Store {
 public:
  /// `root` is the repository. Throws when it has no such program.
  Store(std::filesystem::path root, std::string program);

  /// The nearest folder, from `from` up, that has transcripts/.
  static std::filesystem::path find_root(const std::filesystem::path& from);
  /// The folders of transcripts/ that have rules.toml, sorted.
  static std::vector<std::string> programs(const std::filesystem::path& root);

  const std::string& program() const { return program_; }
  const std::filesystem::path& root() const { return root_; }
  std::filesystem::path rules_path() const { return folder_ / "rules.toml"; }
  std::filesystem::path text_path(const std::string& machine) const;
  std::filesystem::path provenance_path(const std::string& machine) const;
  /// A path as reports show it: relative to the root.
  std::string name(const std::filesystem::path& path) const;

  std::vector<std::string> machines() const;  // that have a MACHINE.md, sorted
  Rules rules() const;
  Evidence load(const std::string& machine) const;
  /// Refuses what save() would. Throws as save() does.
  void check_replaceable(const std::string& machine) const;
  /// Replaces both files so that a reader finds the old pair or the new one, whenever
  /// this ends: both are made ready in a folder of their own, the text is replaced
  /// first, and load() goes by whichever provenance has the text's hash. Refuses
  /// symbolic links. Others must be kept out (see Lock).
  void save(const std::string& machine, const std::string& text,
            const nlohmann::json& provenance) const;

  /// Keeps other recordings of the program out while it lives.
  class Lock {
   public:
    explicit Lock(const Store& store);
    ~Lock();
    Lock(const Lock&) = delete;

   private:
    int folder_;
  };

 private:
  std::filesystem::path staging() const { return folder_ / ".transcript-recording"; }
  void finish_interrupted() const;

  std::filesystem::path root_, folder_;
  std::string program_;
};

/// Throws common::DiagnosticError for a rule that matched nothing in a comparison, nor
/// in any document of `folder`, where the rules are.
void check_rules_used(const Rules& rules, const std::vector<bool>& used,
                      const std::filesystem::path& folder);

}  // namespace transcript
