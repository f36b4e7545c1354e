#include "status.h"

#include <fmt/format.h>

#include "compare.h"
#include "file.h"
#include "hash.h"
#include "provenance.h"

namespace transcript {
namespace fs = std::filesystem;

std::vector<Stale> status(const Store& store, const fs::path& source) {
  const Rules rules = store.rules();
  const std::string source_hash = sha256(common::read_file(source));
  const std::string rules_hash = sha256(rules.text);
  const auto refresh = [&](const std::string& machine) {
    return fmt::format("transcript record --program {} --machine {}", store.program(),
                       machine);
  };
  std::vector<Stale> all;
  std::vector<bool> matched(rules.rules.size(), false);
  const std::vector<std::string> machines = store.machines();
  for (const std::string& machine : machines) {
    Stale stale{store.name(store.text_path(machine)), {}, refresh(machine)};
    const auto because = [&](std::string reason) {
      stale.reasons.push_back(std::move(reason));
    };
    const Evidence evidence = store.load(machine);
    const Transcript transcript(evidence.text, stale.file);
    const std::vector<bool> here = matched_rules(transcript, rules);
    for (std::size_t r = 0; r < here.size(); ++r) matched[r] = matched[r] || here[r];

    if (transcript.blocks() == 0) because("it has no text");
    if (!evidence.provenance) {
      because(evidence.fault);
      const fs::path path = store.provenance_path(machine);
      if (fs::exists(path)) {
        stale.command = "remove " + store.name(path) + ", then " + stale.command;
      }
    } else if (const std::string fault = check_provenance(*evidence.provenance);
               !fault.empty()) {
      because(store.name(store.provenance_path(machine)) + ": " + fault);
    } else {
      const nlohmann::json& record = *evidence.provenance;
      if (!evidence.intact) because("it was altered since it was recorded");
      if (record["source_sha256"] != source_hash) {
        because(store.name(source) + " changed since");
      }
      if (record["rules_sha256"] != rules_hash) {
        because(store.name(store.rules_path()) + " changed since");
      }
      if (record["exit_status"] != 0) because("the program failed");
      if (record["git"]["dirty"].is_null()) {
        because("it is not known to come from a clean commit: " +
                record["unknown"]["git.dirty"].get<std::string>());
      } else if (record["git"]["dirty"] != false) {
        because("it was recorded from a tree with uncommitted changes");
      }
    }
    if (!stale.reasons.empty()) all.push_back(std::move(stale));
  }
  if (machines.empty()) {
    all.push_back({store.name(store.rules_path().parent_path()),
                   {"it holds no evidence"},
                   fmt::format("transcript record --program {}", store.program())});
  }
  for (std::size_t r = 0; r < matched.size() && !machines.empty(); ++r) {
    if (matched[r]) continue;
    all.push_back({fmt::format("{}:{}", rules.name, rules.rules[r].source_line),
                   {"this rule matches nothing in any evidence"},
                   "correct or remove the rule"});
  }
  return all;
}

std::string describe(const std::vector<Stale>& stale) {
  std::string text;
  for (const Stale& one : stale) {
    text += one.file + ": stale\n";
    for (const std::string& reason : one.reasons) text += "  " + reason + "\n";
    text += "  refresh: " + one.command + "\n";
  }
  return text;
}

}  // namespace transcript
