#include "store.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "file.h"
#include "hash.h"
#include "suggest.h"
#include "text.h"

namespace transcript {
namespace fs = std::filesystem;
namespace {

/// stdout's hash that a provenance document names, or nothing.
std::string text_hash(const nlohmann::json& provenance) {
  const nlohmann::json::json_pointer pointer("/stdout/sha256");
  return provenance.is_object() && provenance.contains(pointer) &&
                 provenance[pointer].is_string()
             ? provenance[pointer].get<std::string>()
             : "";
}

}  // namespace

Store::Store(fs::path root, std::string program)
    : root_(std::move(root)), program_(std::move(program)) {
  folder_ = root_ / "transcripts" / program_;
  const std::vector<std::string> known = programs(root_);
  if (std::find(known.begin(), known.end(), program_) != known.end()) return;
  const std::string near = common::closest(program_, known);
  throw std::runtime_error(
      fmt::format("{}: no such program{}", name(folder_),
                  near.empty() ? "; make the folder, with a rules.toml in it"
                               : fmt::format("; did you mean '{}'?", near)));
}

fs::path Store::find_root(const fs::path& from) {
  for (fs::path folder = fs::absolute(from);; folder = folder.parent_path()) {
    if (fs::is_directory(folder / "transcripts")) return folder;
    if (folder == folder.parent_path()) break;
  }
  throw std::runtime_error(
      "no folder 'transcripts' here or above: run this in the repository, or name it "
      "with --root");
}

std::vector<std::string> Store::programs(const fs::path& root) {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(root / "transcripts", none)) {
    if (entry.is_directory()) names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

fs::path Store::text_path(const std::string& machine) const {
  return folder_ / (machine + ".txt");
}
fs::path Store::provenance_path(const std::string& machine) const {
  return folder_ / (machine + ".json");
}
fs::path Store::source_path() const {
  return root_ / "src" / (program_ + ".cu");
}

std::string Store::name(const fs::path& path) const {
  const fs::path relative = path.lexically_relative(root_);
  return relative.empty() || *relative.begin() == ".." ? path.string()
                                                       : relative.string();
}

std::vector<std::string> Store::machines() const {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder_)) {
    if (entry.path().extension() == ".txt") names.push_back(entry.path().stem());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Rules Store::rules() const {
  return parse_rules(common::read_file(rules_path()), name(rules_path()));
}

Evidence Store::load(const std::string& machine) const {
  Evidence evidence;
  evidence.machine = machine;
  if (!fs::exists(text_path(machine))) {
    const std::string near = common::closest(machine, machines());
    throw std::runtime_error(
        fmt::format("{}: no such evidence{}", name(text_path(machine)),
                    near.empty() ? "; record it first"
                                 : fmt::format("; did you mean '{}'?", near)));
  }
  evidence.text = common::read_file(text_path(machine));
  const std::string hash = sha256(evidence.text);
  const fs::path path = provenance_path(machine);
  for (const fs::path& candidate : {path, fs::path(path.string() + ".new")}) {
    if (!fs::exists(candidate)) continue;
    nlohmann::json document =
        nlohmann::json::parse(common::read_file(candidate), nullptr, false);
    const bool of_text = text_hash(document) == hash;
    if (candidate == path || of_text) evidence.provenance = std::move(document);
    if (of_text) break;
  }
  if (!evidence.provenance) {
    evidence.fault = fmt::format("{} is missing", name(path));
  } else if (evidence.provenance->is_discarded()) {
    evidence.fault = fmt::format("{} is not JSON", name(path));
    evidence.provenance.reset();
  }
  return evidence;
}

void Store::save(const std::string& machine, const std::string& text,
                 const nlohmann::json& provenance) const {
  const fs::path path = provenance_path(machine);
  const fs::path waiting = path.string() + ".new";
  // A recording that was killed after it replaced the text is completed first.
  if (fs::exists(waiting) && fs::exists(text_path(machine))) {
    const auto left = nlohmann::json::parse(common::read_file(waiting), nullptr, false);
    if (text_hash(left) == sha256(common::read_file(text_path(machine)))) {
      fs::rename(waiting, path);
    }
  }
  // So are the temporary files of one that was killed while it wrote them.
  for (const auto& entry : fs::directory_iterator(folder_)) {
    const std::string file = entry.path().filename();
    for (const std::string& target : {machine + ".txt.", machine + ".json.new."}) {
      if (file.size() == target.size() + 6 &&
          file.compare(0, target.size(), target) == 0) {
        fs::remove(entry.path());
      }
    }
  }
  try {
    common::write_atomically(
        waiting,
        provenance.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) +
            "\n");
    common::write_atomically(text_path(machine), text);
  } catch (...) {
    std::error_code ignored;
    fs::remove(waiting, ignored);
    throw;
  }
  fs::rename(waiting, path);
}

}  // namespace transcript
