#include "store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <system_error>

#include "file.h"
#include "hash.h"
#include "report.h"
#include "suggest.h"

namespace transcript {
namespace fs = std::filesystem;
using nlohmann::json;
namespace {

std::string text_hash(const json& provenance) {
  const json::json_pointer at("/stdout/sha256");
  return provenance.is_object() && provenance.contains(at) && provenance[at].is_string()
             ? provenance[at].get<std::string>()
             : "";
}

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

}  // namespace

Store::Lock::Lock(const Store& store)
    : folder_(::open(store.folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  while (folder_ >= 0 && ::flock(folder_, LOCK_EX) != 0 && errno == EINTR) {
  }
  if (folder_ < 0) {
    throw std::system_error(errno, std::generic_category(), store.folder_.string());
  }
}

Store::Lock::~Lock() {
  ::close(folder_);
}

Store::Store(fs::path root, std::string program)
    : root_(std::move(root)), program_(std::move(program)) {
  folder_ = root_ / "transcripts" / program_;
  if (!program_.empty() && fs::exists(rules_path())) return;
  const std::string near = common::closest(program_, programs(root_));
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
    if (fs::exists(entry.path() / "rules.toml"))
      names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

fs::path Store::text_path(const std::string& machine) const {
  return folder_ / (machine + ".md");
}
fs::path Store::provenance_path(const std::string& machine) const {
  return folder_ / (machine + ".json");
}

std::string Store::name(const fs::path& path) const {
  const fs::path relative = path.lexically_relative(root_);
  const bool outside = relative.empty() || *relative.begin() == "..";
  return (outside ? path : relative).string();
}

std::vector<std::string> Store::machines() const {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder_)) {
    if (entry.path().extension() == ".md") names.push_back(entry.path().stem());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Rules Store::rules() const {
  return parse_rules(common::read_file(rules_path()), name(rules_path()));
}

Evidence Store::load(const std::string& machine) const {
  const fs::path path = text_path(machine), beside = provenance_path(machine);
  if (!fs::exists(path)) {
    const std::string near = common::closest(machine, machines());
    std::string known;
    for (const std::string& one : machines())
      known += (known.empty() ? "" : ", ") + one;
    throw std::runtime_error(name(path) + ": no such evidence" +
                             (!near.empty()   ? "; did you mean '" + near + "'?"
                              : known.empty() ? "; record it first"
                                              : "; there is: " + known));
  }
  Evidence evidence{machine, "", nullptr, ""};
  do {
    evidence.text = common::read_file(path);
    const std::string hash = sha256(evidence.text);
    // In the order in which save() moves it: what has left the one is in the other.
    evidence.provenance = read_json(staging() / beside.filename());
    if (text_hash(evidence.provenance) != hash) evidence.provenance = read_json(beside);
    evidence.fault =
        evidence.provenance.is_null()
            ? name(beside) + (fs::exists(beside) ? " is no provenance" : " is missing")
        : text_hash(evidence.provenance) != hash
            ? name(path) + " was altered since it was recorded"
            : "";
    // Both may have been replaced between the two readings.
  } while (!evidence.fault.empty() && common::read_file(path) != evidence.text);
  return evidence;
}

void Store::check_replaceable(const std::string& machine) const {
  for (const fs::path& path : {text_path(machine), provenance_path(machine)}) {
    if (!fs::is_symlink(path)) continue;
    throw std::runtime_error(name(path) +
                             ": is a symbolic link; put the file itself in its place");
  }
}

/// Completes a recording that was killed between its two files, and removes what is
/// left of one that was killed before.
void Store::finish_interrupted() const {
  if (fs::is_directory(fs::symlink_status(staging()))) {
    for (const auto& entry : fs::directory_iterator(staging())) {
      const fs::path text = text_path(entry.path().stem());
      if (entry.path().extension() == ".json" && fs::exists(text) &&
          text_hash(read_json(entry.path())) == sha256(common::read_file(text))) {
        fs::rename(entry.path(), folder_ / entry.path().filename());
      }
    }
  }
  fs::remove_all(staging());
}

void Store::save(const std::string& machine, const std::string& text,
                 const json& provenance) const {
  check_replaceable(machine);
  finish_interrupted();
  const auto stage = [&](const fs::path& path, const std::string& bytes) {
    const fs::path staged = staging() / path.filename();
    common::write_atomically(staged, bytes);
    if (fs::exists(path)) fs::permissions(staged, fs::status(path).permissions());
    return staged;
  };
  fs::create_directory(staging());
  try {
    const fs::path new_provenance =
        stage(provenance_path(machine), to_text(provenance));
    fs::rename(stage(text_path(machine), text), text_path(machine));
    fs::rename(new_provenance, provenance_path(machine));
  } catch (...) {
    std::error_code ignored;
    fs::remove_all(staging(), ignored);
    throw;
  }
  std::error_code next_recording_does;
  fs::remove(staging(), next_recording_does);
}

void check_rules_used(const Rules& rules, const std::vector<bool>& used,
                      const fs::path& folder) {
  std::vector<bool> elsewhere = used;
  std::vector<common::Diagnostic> idle;
  std::error_code none;
  if (std::count(used.begin(), used.end(), false) == 0) return;
  for (const auto& entry : fs::directory_iterator(folder, none)) {
    if (entry.path().extension() != ".md") continue;
    const Document document(common::read_file(entry.path()), entry.path().string());
    if (document.sections().empty()) continue;
    const std::vector<bool> here = rules_used(document, rules);
    for (std::size_t i = 0; i < here.size(); ++i)
      elsewhere[i] = elsewhere[i] || here[i];
  }
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (!elsewhere[i]) idle.push_back(matches_nothing(rules, i));
  }
  if (!idle.empty()) throw common::DiagnosticError(std::move(idle));
}

}  // namespace transcript
