// Where evidence lives: transcripts/PROGRAM/{rules.toml,MACHINE.txt,MACHINE.json}.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "rules.h"

namespace transcript {

/// Evidence of one program on one machine.
struct Evidence {
  std::string machine;
  std::string text;  // stdout, byte for byte
  std::optional<nlohmann::json> provenance;
  std::string fault;    // why there is no provenance
  bool intact = false;  // the text has the hash that the provenance states
};

/// Keeps other recordings of a program out while one compares and saves. The kernel
/// lets go of it when the process ends, however it ends.
class Lock {
 public:
  /// Waits for the others. Throws std::system_error.
  explicit Lock(const std::filesystem::path& folder);
  ~Lock();
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  int folder_;
};

/// The folder of one program's evidence. Errors are std::runtime_error with one line
/// that names the file and the remedy.
class Store {
 public:
  /// `root` is the repository. Throws when it has no such program.
  Store(std::filesystem::path root, std::string program);

  /// The nearest folder, from `from` up, that has transcripts/.
  static std::filesystem::path find_root(const std::filesystem::path& from);
  /// The programs that have a folder there, sorted.
  static std::vector<std::string> programs(const std::filesystem::path& root);

  const std::string& program() const { return program_; }
  const std::filesystem::path& root() const { return root_; }
  std::filesystem::path rules_path() const { return folder_ / "rules.toml"; }
  std::filesystem::path text_path(const std::string& machine) const;
  std::filesystem::path provenance_path(const std::string& machine) const;
  /// The program's source, unless told otherwise: src/PROGRAM.cu.
  std::filesystem::path source_path() const;
  /// A path as reports show it: relative to the root.
  std::string name(const std::filesystem::path& path) const;

  std::vector<std::string> machines() const;  // that have a MACHINE.txt, sorted
  Rules rules() const;
  Evidence load(const std::string& machine) const;
  /// To be held from the comparison with old evidence until the new one is read back.
  Lock lock() const { return Lock(folder_); }
  /// Throws when save() would refuse.
  void check_replaceable(const std::string& machine) const;
  /// Replaces both files so that a reader finds the old pair or the new one, whenever
  /// this ends: both are made ready in a folder of their own, the text is replaced
  /// first, and load() goes by whichever provenance has the text's hash. Refuses
  /// symbolic links: replacing one would part it from what it names. Needs the lock.
  void save(const std::string& machine, const std::string& text,
            const nlohmann::json& provenance) const;

 private:
  /// Holds nothing but what save() puts there, so that all of it may be removed.
  std::filesystem::path staging() const { return folder_ / ".transcript-recording"; }
  /// Completes a recording that was killed between its two files, and removes what is
  /// left of one that was killed before.
  void finish_interrupted() const;

  std::filesystem::path root_, folder_;
  std::string program_;
};

}  // namespace transcript
