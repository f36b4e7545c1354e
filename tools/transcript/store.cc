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

/// Why a document cannot tell which text and source it is about, or nothing. Fields
/// that are missing are for status to report: such evidence only binds no recording.
std::string unusable(const nlohmann::json& provenance) {
  if (provenance.is_discarded()) return " is not JSON";
  if (!provenance.is_object()) return ": it is not a JSON object";
  const auto text = provenance.find("stdout");
  if (text != provenance.end() && !text->is_object()) {
    return ": 'stdout' is not a JSON object";
  }
  for (const auto& [field, pointer] :
       {std::pair("stdout.sha256", "/stdout/sha256"_json_pointer),
        std::pair("source_sha256", "/source_sha256"_json_pointer)}) {
    if (provenance.contains(pointer) && !provenance[pointer].is_string()) {
      return fmt::format(": '{}' is not a string", field);
    }
  }
  return "";
}

/// A JSON file, or nothing where there is none (any more). One that is nested deeper
/// than provenance ever is counts as no JSON: to copy it would take more than the
/// stack.
std::optional<nlohmann::json> read_json(const fs::path& path) {
  constexpr int kDeepest = 100;
  bool too_deep = false;
  try {
    nlohmann::json document = nlohmann::json::parse(
        common::read_file(path),
        [&](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
          too_deep |= depth > kDeepest;
          return !too_deep;
        },
        false);
    if (too_deep) return nlohmann::json(nlohmann::json::value_t::discarded);
    return document;
  } catch (const std::system_error& error) {
    if (error.code() != std::errc::no_such_file_or_directory &&
        error.code() != std::errc::not_a_directory) {
      throw;
    }
    return std::nullopt;
  }
}

}  // namespace

Lock::Lock(const fs::path& folder)
    : folder_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  int result = -1;
  while (folder_ >= 0 && (result = ::flock(folder_, LOCK_EX)) != 0 && errno == EINTR) {
  }
  if (result == 0) return;
  const int cause = errno;
  if (folder_ >= 0) ::close(folder_);
  throw std::system_error(cause, std::generic_category(),
                          folder.string() + ": cannot lock");
}

Lock::~Lock() {
  ::close(folder_);
}

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
  const fs::path path = provenance_path(machine);
  for (;;) {
    evidence.text = common::read_file(text_path(machine));
    const std::string hash = sha256(evidence.text);
    // In the order in which save() moves it: what has left the one is in the other.
    for (const fs::path& candidate : {staging() / path.filename(), path}) {
      std::optional<nlohmann::json> document = read_json(candidate);
      evidence.intact = document && text_hash(*document) == hash;
      if (candidate == path || evidence.intact) {
        evidence.provenance = std::move(document);
      }
      if (evidence.intact) break;
    }
    // Both may have been replaced between the two readings.
    if (evidence.intact || common::read_file(text_path(machine)) == evidence.text) {
      break;
    }
  }
  if (!evidence.provenance) {
    evidence.fault = fmt::format("{} is missing", name(path));
  } else if (const std::string fault = unusable(*evidence.provenance); !fault.empty()) {
    evidence.fault = name(path) + fault;
    evidence.provenance.reset();
    evidence.intact = false;
  }
  return evidence;
}

void Store::check_replaceable(const std::string& machine) const {
  for (const fs::path& path : {text_path(machine), provenance_path(machine)}) {
    if (!fs::is_symlink(path)) continue;
    throw std::runtime_error(name(path) +
                             ": is a symbolic link; put the file itself in its place");
  }
}

void Store::finish_interrupted() const {
  if (fs::is_directory(fs::symlink_status(staging()))) {
    for (const auto& entry : fs::directory_iterator(staging())) {
      if (entry.path().extension() != ".json") continue;
      const fs::path text = text_path(entry.path().stem());
      const auto left = read_json(entry.path());
      if (left && fs::exists(text) &&
          text_hash(*left) == sha256(common::read_file(text))) {
        fs::rename(entry.path(), folder_ / entry.path().filename());
      }
    }
  }
  fs::remove_all(staging());
}

void Store::save(const std::string& machine, const std::string& text,
                 const nlohmann::json& provenance) const {
  check_replaceable(machine);
  finish_interrupted();
  const auto stage = [&](const fs::path& path, const std::string& bytes) {
    const fs::path staged = staging() / path.filename();
    common::write_atomically(staged, bytes);
    if (fs::exists(path)) fs::permissions(staged, fs::status(path).permissions());
    return staged;
  };
  std::error_code failed;
  fs::create_directory(staging(), failed);
  if (failed) throw std::system_error(failed, name(staging()) + ": cannot make");
  try {
    const fs::path new_provenance =
        stage(provenance_path(machine),
              provenance.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) +
                  "\n");
    fs::rename(stage(text_path(machine), text), text_path(machine));
    fs::rename(new_provenance, provenance_path(machine));
  } catch (...) {
    std::error_code ignored;
    fs::remove_all(staging(), ignored);
    throw;
  }
  fs::remove(staging(), failed);  // else the next recording does
}

}  // namespace transcript
