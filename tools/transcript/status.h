// Which evidence no longer proves what it claims to.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "store.h"

namespace transcript {

/// Evidence that must be recorded again, and why.
struct Stale {
  std::string file;  // the evidence, relative to the root
  std::vector<std::string> reasons;
  std::string command;  // that refreshes it
};

/// What is stale of a program's evidence: recorded from another source or by other
/// rules, from a dirty tree or an unknown one, by a run that failed, or altered since;
/// rules that match nothing in any of it; no evidence at all. `source` is the file it
/// is about.
std::vector<Stale> status(const Store& store, const std::filesystem::path& source);

/// Two lines or more for each.
std::string describe(const std::vector<Stale>& stale);

}  // namespace transcript
