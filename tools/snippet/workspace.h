// The tool over a real tree: finds documents and sources, and does each command.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "resolve.h"
#include "update.h"

namespace snippet {

/// The nearest folder at or above `from` that holds a `.git`; `from` if none does.
std::filesystem::path find_root(const std::filesystem::path& from);

/// A repository. Files are named from `root`, in messages too. Every command throws
/// common::DiagnosticError with all that is wrong, before it has printed or written.
class Workspace {
 public:
  Workspace(std::filesystem::path root, Evidence evidence, std::string machine = {});
  Workspace(const Workspace&) = delete;

  /// Every `*.md` below the root and every `snippets/*.cu`, sorted; hidden folders,
  /// `build*` and `node_modules` are left out.
  std::vector<std::string> documents() const;

  /// Regions of `files` (none: of everything in `src/` and of what documents pull).
  void list(const std::vector<std::string>& files, std::ostream& out);

  /// The region's text as it would be pulled.
  void show(const std::string& address, std::ostream& out);

  /// Prints a diff for each document (none: all) with stale places; true if fresh.
  bool check(const std::vector<std::string>& files, std::ostream& out);

  /// Brings documents up to date; with `output`, writes them all below that folder
  /// instead and leaves them as they are.
  void sync(const std::vector<std::string>& files, const std::filesystem::path& output,
            std::ostream& out);

  /// Prints the Compiler Explorer link of a program.
  void link(const std::string& file, const std::string& compiler, std::ostream& out);

  /// Prints the page's map of regions, programs and links.
  void index(std::ostream& out);

 private:
  struct Document {
    std::string file;
    Update update;
  };
  std::vector<Document> load(std::vector<std::string> files);
  std::string read(const std::string& file) const;
  // The regions of `src/` and of what `documents` pull, by file.
  std::map<std::string, std::vector<Region>> regions(
      const std::vector<Document>& documents);
  std::map<std::string, std::vector<Region>> regions(
      const std::set<std::string>& files);

  std::filesystem::path root_;
  Resolver resolver_;
};

}  // namespace snippet
