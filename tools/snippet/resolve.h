// From what a directive names to the lines that shall stand there.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "diagnostic.h"
#include "marks.h"
#include "pulls.h"

namespace snippet {

/// The bytes of a file named from the repository's root; throws std::exception whose
/// text ends the sentence "FILE: ...".
using ReadFile = std::function<std::string(const std::string& file)>;

/// Evidence by address, out of what a program printed: the name and the bytes of the
/// file are given.
/// Both throw common::DiagnosticError whose diagnostics have the address as `source`.
struct Evidence {
  using Get = std::function<std::string(
      const std::string& file, const std::string& text, const std::string& address)>;
  Get value;  // one figure
  Get block;  // lines, each ended by '\n'
};

/// True for the files whose pulls are evidence: what a program printed, a
/// `transcripts/FOLDER/NAME.md`.
bool is_evidence(const std::string& file);

struct Source {
  std::string text;
  std::vector<Region> regions;
  bool usable = false;  // false: what is wrong with it has been reported
};

/// Reads each file once and finds what pulls name. An empty `machine` leaves pulls of
/// transcripts as they are; another replaces theirs.
class Resolver {
 public:
  explicit Resolver(ReadFile read, Evidence evidence = {}, std::string machine = {});

  /// The lines that `pull` names, without endings, a region's dedented. Adds what is
  /// wrong to `errors`, as diagnostics of `document`, and then gives nothing.
  std::optional<std::vector<std::string>> lines(
      const std::string& document, const Pull& pull,
      std::vector<common::Diagnostic>& errors);

  /// A source by name. The first time, what is wrong with its marks is added to
  /// `errors`, and what `ReadFile` throws is thrown.
  const Source& source(const std::string& file,
                       std::vector<common::Diagnostic>& errors);

 private:
  std::vector<std::string> region(const std::string& document, const Pull& pull,
                                  std::vector<common::Diagnostic>& errors);

  /// For `transcripts/PROGRAM/MACHINE.md` the same program's file on another machine. A
  /// folder without rules.toml holds outputs of no machine.
  std::string on_machine(const std::string& file) const;

  ReadFile read_;
  Evidence evidence_;
  std::string machine_;
  std::map<std::string, Source> sources_;
};

}  // namespace snippet
