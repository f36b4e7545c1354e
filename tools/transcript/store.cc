#include "store.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "file.h"
#include "record.h"
#include "report.h"
#include "suggest.h"

namespace transcript {
namespace fs = std::filesystem;
using nlohmann::json;
namespace {

/// A JSON file; null where there is none, or none that is provenance. What is nested
/// without end would take more than the stack to copy.
json read_json(const fs::path& path) {
  if (!fs::exists(path)) return nullptr;
  bool too_deep = false;
  const auto shallow = [&](int depth, json::parse_event_t, json&) {
    too_deep = too_deep || depth > 100;
    return !too_deep;
  };
  json document = json::parse(common::read_file(path), shallow, false);
  return too_deep || !document.is_object() ? json() : document;
}

bool is_text(const fs::path& path) {
  return path.extension() == ".md";
}

template <class Wanted>
std::vector<std::string> sorted_names(const fs::path& folder, Wanted wanted) {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none)) {
    const fs::path& path = entry.path();
    if (wanted(path)) names.push_back(is_text(path) ? path.stem() : path.filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

Store::Store(fs::path repository, std::string program_name)
    : root(std::move(repository)), program(std::move(program_name)) {
  if (!program.empty() && fs::exists(folder / "rules.toml")) return;
  const std::string near = common::closest(program, programs(root));
  throw std::runtime_error(name(folder) + ": no such program; " +
                           (near.empty() ? "make the folder, with a rules.toml in it"
                                         : "did you mean '" + near + "'?"));
}

fs::path Store::find_root() {
  for (fs::path folder = fs::current_path();; folder = folder.parent_path()) {
    if (fs::is_directory(folder / "transcripts")) return folder;
    if (folder == folder.parent_path()) break;
  }
  throw std::runtime_error(
      "no folder 'transcripts' here or above: run this in the repository, or name it "
      "with --root");
}

std::vector<std::string> Store::programs(const fs::path& root) {
  return sorted_names(root / "transcripts", [](const fs::path& path) {
    return fs::exists(path / "rules.toml");
  });
}

std::string Store::name(const fs::path& path) const {
  const fs::path relative = path.lexically_relative(root);
  const bool outside = relative.empty() || *relative.begin() == "..";
  return (outside ? path : relative).string();
}

std::vector<std::string> Store::machines() const {
  return sorted_names(folder, is_text);
}

Rules Store::rules() const {
  const fs::path path = folder / "rules.toml";
  return parse_rules(common::read_file(path), name(path));
}

Evidence Store::load(const std::string& machine) const {
  const fs::path path = file(machine, ".md"), beside = file(machine, ".json");
  if (!fs::exists(path)) {
    const std::string near = common::closest(machine, machines());
    const std::string known = fmt::format("{}", fmt::join(machines(), ", "));
    throw std::runtime_error(name(path) + ": no such evidence; " +
                             (!near.empty()   ? "did you mean '" + near + "'?"
                              : known.empty() ? "record it first"
                                              : "there is: " + known));
  }
  Evidence evidence{name(path), common::read_file(path), read_json(beside), ""};
  const json::json_pointer hash("/stdout/sha256");
  if (evidence.provenance.is_null()) {
    evidence.fault =
        name(beside) + (fs::exists(beside) ? " is no provenance" : " is missing");
  } else if (!evidence.provenance.contains(hash) ||
             evidence.provenance[hash] != sha256(evidence.text)) {
    evidence.fault = name(path) + " was altered since it was recorded";
  }
  return evidence;
}

void Store::save(const std::string& machine, const std::string& text,
                 const json& provenance) const {
  common::Replacement new_text(file(machine, ".md"), text);
  common::Replacement new_provenance(file(machine, ".json"), to_text(provenance));
  new_text.commit();
  new_provenance.commit();
}

std::vector<std::size_t> idle_rules(const Rules& rules, std::vector<bool> used,
                                    const fs::path& folder) {
  std::error_code none;
  used.resize(rules.rules.size());
  for (const auto& entry : fs::directory_iterator(folder, none)) {
    if (std::count(used.begin(), used.end(), false) == 0) return {};
    if (!is_text(entry.path())) continue;
    const Document document(common::read_file(entry.path()), entry.path().string());
    const std::vector<bool> here = rules_used(document, rules);
    for (std::size_t i = 0; i < here.size(); ++i) used[i] = used[i] || here[i];
  }
  std::vector<std::size_t> idle;
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (!used[i]) idle.push_back(i);
  }
  return idle;
}

void check_rules_used(const Rules& rules, const std::vector<bool>& used,
                      const fs::path& folder) {
  std::vector<common::Diagnostic> idle;
  for (const std::size_t rule : idle_rules(rules, used, folder)) {
    idle.push_back(matches_nothing(rules, rule));
  }
  if (!idle.empty()) throw common::DiagnosticError(std::move(idle));
}

}  // namespace transcript
