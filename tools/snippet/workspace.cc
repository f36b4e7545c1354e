#include "workspace.h"

#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <set>
#include <stdexcept>
#include <system_error>

#include "diagnostic.h"
#include "diff.h"
#include "file.h"
#include "index.h"
#include "link.h"
#include "suggest.h"

namespace fs = std::filesystem;

namespace snippet {
namespace {

using Diagnostics = std::vector<common::Diagnostic>;

void fail_on(Diagnostics errors) {
  if (!errors.empty()) throw common::DiagnosticError(std::move(errors));
}

bool skipped(const fs::path& folder) {
  const std::string name = folder.filename();
  return name.starts_with('.') || name.starts_with("build") || name == "node_modules";
}

// Files below `folder`, named from `root`.
std::vector<std::string> files_below(const fs::path& root, const fs::path& folder) {
  std::vector<std::string> files;
  if (!fs::is_directory(root / folder)) return files;
  fs::recursive_directory_iterator entry(root / folder), end;
  for (; entry != end; ++entry) {
    if (entry->is_directory()) {
      if (skipped(entry->path())) entry.disable_recursion_pending();
    } else {
      files.push_back(entry->path().lexically_relative(root).generic_string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string count(std::size_t n, const char* noun) {
  return std::to_string(n) + " " + noun + (n == 1 ? "" : "s");
}

bool has_write_permission(const fs::path& path) {
  using fs::perms;
  const perms writers = perms::owner_write | perms::group_write | perms::others_write;
  return (fs::status(path).permissions() & writers) != perms::none;
}

}  // namespace

fs::path find_root(const fs::path& from) {
  for (fs::path folder = fs::absolute(from);; folder = folder.parent_path()) {
    if (fs::exists(folder / ".git")) return folder;
    if (folder == folder.parent_path()) return from;
  }
}

Workspace::Workspace(fs::path root, Evidence evidence, std::string machine)
    : root_(fs::canonical(root)),
      resolver_([this](const std::string& file) { return read(file); },
                std::move(evidence), std::move(machine)) {}

std::string Workspace::read(const std::string& file) const {
  try {
    return common::read_file(root_ / file);
  } catch (const std::system_error& error) {
    const fs::path path = root_ / file;
    std::vector<std::string> neighbours;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(path.parent_path(), none)) {
      neighbours.push_back(entry.path().filename());
    }
    std::sort(neighbours.begin(), neighbours.end());
    const std::string meant = common::closest(path.filename().string(), neighbours);
    std::string message = "cannot read " + file + ": " + error.code().message();
    if (!meant.empty()) {
      message += "; did you mean '" +
                 (fs::path(file).parent_path() / meant).generic_string() + "'?";
    }
    throw std::runtime_error(message);
  }
}

std::vector<std::string> Workspace::documents() const {
  std::vector<std::string> files = files_below(root_, "");
  std::erase_if(files, [](const std::string& file) {
    return (!is_markdown(file) || is_evidence(file)) &&
           !(file.starts_with("snippets/") && file.ends_with(".cu"));
  });
  return files;
}

std::vector<Workspace::Document> Workspace::load(std::vector<std::string> files) {
  if (files.empty()) files = documents();
  Diagnostics errors;
  std::vector<Document> documents;
  std::set<fs::path> seen;  // a document and a link to it are one
  for (const std::string& file : files) {
    std::error_code missing;
    if (!seen.insert(fs::weakly_canonical(root_ / file, missing)).second) continue;
    std::string text;
    try {
      text = read(file);
    } catch (const std::exception& error) {
      errors.push_back({file, 0, 0, error.what(), ""});
      continue;
    }
    documents.push_back({file, update(file, std::move(text), resolver_, errors)});
  }
  fail_on(std::move(errors));
  return documents;
}

std::map<std::string, std::vector<Region>> Workspace::regions(
    const std::vector<Document>& documents) {
  std::set<std::string> files;
  for (const std::string& file : files_below(root_, "src")) files.insert(file);
  for (const Document& document : documents) {
    for (const Pull& pull : document.update.pulls) {
      if (!is_evidence(pull.file)) files.insert(pull.file);
    }
  }
  return regions(files);
}

std::map<std::string, std::vector<Region>> Workspace::regions(
    const std::set<std::string>& files) {
  Diagnostics errors;
  std::map<std::string, std::vector<Region>> found;
  for (const std::string& file : files) {
    try {
      found[file] = resolver_.source(file, errors).regions;
    } catch (const std::exception& error) {
      errors.push_back({file, 0, 0, error.what(), ""});
    }
  }
  fail_on(std::move(errors));
  return found;
}

void Workspace::list(const std::vector<std::string>& files, std::ostream& out) {
  const std::vector<Document> documents = load({});
  std::map<std::string, std::size_t> places;
  for (const Document& document : documents) {
    for (const Pull& pull : document.update.pulls) ++places[pull.address()];
  }
  const std::set<std::string> named(files.begin(), files.end());
  for (const auto& [file, marked] :
       files.empty() ? regions(documents) : regions(named)) {
    for (const Region& region : marked) {
      const std::size_t pulled = places[file + "#" + region.name];
      out << file << ":" << region.first_line << "-" << region.last_line << ": "
          << region.name << ": "
          << (pulled == 0 ? "nothing pulls it" : count(pulled, "place")) << "\n";
    }
  }
}

void Workspace::show(const std::string& address, std::ostream& out) {
  Diagnostics errors;
  // One directive on a line of its own, so that what it says of the address is shown.
  const std::string line = "// pull: " + address + "\n";
  const std::vector<Pull> pulls =
      parse_pulls("command line", line + "// end pull\n", errors);
  fail_on(errors);
  const auto lines = resolver_.lines("command line", pulls.at(0), errors);
  fail_on(std::move(errors));
  for (const std::string& text : *lines) out << text << '\n';
}

bool Workspace::check(const std::vector<std::string>& files, std::ostream& out) {
  std::size_t stale = 0, places = 0;
  for (const Document& document : load(files)) {
    const Update& update = document.update;
    places += update.pulls.size();
    stale += update.stale.size();
    for (const Pull& pull : update.stale) {
      out << document.file << ":" << pull.line << ": stale: " << pull.address() << "\n";
    }
    out << unified_diff(document.file + " (pulled)", document.file + " (source)",
                        update.before, update.after);
  }
  if (stale == 0) {
    out << count(places, "place") << ", all fresh\n";
  } else {
    out << stale << " of " << count(places, "place")
        << " stale; 'snippet sync' brings them up to date\n";
  }
  return stale == 0;
}

void Workspace::sync(const std::vector<std::string>& files, const fs::path& output,
                     std::ostream& out) {
  Diagnostics errors;
  std::string report;
  std::vector<common::Replacement> replacements;
  for (const Document& document : load(files)) {
    const Update& update = document.update;
    fs::path target = root_ / document.file;
    if (!output.empty()) {
      target = output / document.file;
      fs::create_directories(target.parent_path());
      if (fs::exists(target) && common::read_file(target) == update.after) continue;
    } else if (update.stale.empty()) {
      continue;
    } else if (!has_write_permission(target)) {
      errors.push_back({document.file, update.stale[0].line, update.stale[0].column,
                        "stale, and the file is read-only; make it writable first",
                        update.stale[0].source});
      continue;
    }
    try {
      replacements.emplace_back(target, update.after);
    } catch (const std::system_error& error) {
      errors.push_back({document.file, 0, 0, error.what(), ""});
    }
    if (output.empty()) {
      for (const Pull& pull : update.stale) {
        report += document.file + ":" + std::to_string(pull.line) +
                  ": updated: " + pull.address() + "\n";
      }
    } else {
      report += document.file + ": written\n";
    }
  }
  if (!errors.empty()) {
    replacements.clear();
    fail_on(std::move(errors));
  }
  for (common::Replacement& replacement : replacements) replacement.commit();
  out << (report.empty() ? "everything is fresh\n" : report);
}

void Workspace::link(const std::string& file, const std::string& compiler,
                     std::ostream& out) {
  out << explorer_link(read(file), compiler) << '\n';
}

void Workspace::index(std::ostream& out) {
  const std::vector<Document> documents = load({});
  const auto marked = regions(documents);
  std::map<std::string, std::string> sources;
  for (const auto& [file, none] : marked) sources[file] = read(file);
  std::vector<Program> programs;
  for (const Document& document : documents) {
    if (is_markdown(document.file)) continue;
    programs.push_back({document.file, document.update.before, document.update.pulls});
  }
  out << snippet::index(sources, marked, programs);
}

}  // namespace snippet
