#include "record.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>

#include "file.h"
#include "hash.h"
#include "report.h"
#include "text.h"

namespace transcript {
namespace fs = std::filesystem;
namespace {

bool any_matches(const std::vector<std::string>& patterns, const std::string& address) {
  for (const std::string& pattern : patterns) {
    if (matches(pattern, address)) return true;
  }
  return false;
}

/// The evidence that a run of this source must agree with: that which claims to be of
/// the same source and is as it was recorded. Throws Refused when some cannot say.
std::vector<Evidence> binding(const Store& store, const std::string& source_hash) {
  std::vector<Evidence> all;
  for (const std::string& machine : store.machines()) {
    Evidence evidence = store.load(machine);
    if (!evidence.provenance && fs::exists(store.provenance_path(machine))) {
      throw Refused(2, fmt::format("not recorded: {}; restore it, or remove it and "
                                   "record again",
                                   evidence.fault));
    }
    if (evidence.intact &&
        evidence.provenance->value("source_sha256", "") == source_hash) {
      all.push_back(std::move(evidence));
    }
  }
  return all;
}

/// Throws Refused when `text` does not agree with itself, and so with no rerun: a time
/// that is zero, for one.
void check_itself(const Transcript& text, const Rules& rules) {
  const Compared compared{text.name(), "itself", compare(text, text, rules)};
  if (compared.comparison.match()) return;
  throw Refused(2, human_report(compared, false) +
                       "not recorded: by these rules the run does not agree even with "
                       "itself; correct the program or the rules");
}

/// Throws Refused when `text` differs from evidence of the same source.
void check_against(const Store& store, const RecordRequest& request,
                   const std::string& text, const Rules& rules,
                   const std::string& source_hash) {
  std::string disagreements;
  for (const Evidence& evidence : binding(store, source_hash)) {
    const Transcript recorded(evidence.text,
                              store.name(store.text_path(evidence.machine)));
    if (recorded.blocks() == 0) continue;  // nothing to agree with
    const Transcript actual(text, "the new run");
    // Those beyond what a report lists must be excused as well.
    Compared compared{recorded.name(), actual.name(),
                      compare(recorded, actual, rules,
                              request.changing.empty() ? Comparison::kListed
                                                       : std::size_t{SIZE_MAX})};
    Comparison& comparison = compared.comparison;
    const std::size_t before = comparison.differences.size();
    std::erase_if(comparison.differences, [&](const Entry& entry) {
      return any_matches(request.changing, entry.address);
    });
    comparison.differing -= before - comparison.differences.size();
    if (comparison.differences.size() > Comparison::kListed) {
      comparison.differences.resize(Comparison::kListed);
    }
    comparison.reports.clear();
    if (!comparison.match()) disagreements += human_report(compared, false);
  }
  if (disagreements.empty()) return;
  throw Refused(1,
                disagreements +
                    "not recorded: the run disagrees with evidence of the same source; "
                    "if figures are meant to change, name them with --changing");
}

}  // namespace

int exit_code(const RunResult& run) {
  if (run.end == RunResult::End::timed_out) return 4;
  return run.ok() && !run.out.empty() ? 0 : 3;
}

std::string fault_of(const RunResult& run, const RunLimits& limits) {
  if (!run.ok()) return describe(run, limits);
  if (trim(run.out).empty()) return "printed nothing";
  return "";
}

std::string record(const Store& store, const RecordRequest& request) {
  if (std::getenv("CI") != nullptr) {
    throw Refused(2, "not recorded: CI is set, and evidence is recorded by people");
  }
  for (const std::string& pattern : request.changing) {
    if (!pattern.empty()) continue;
    throw Refused(2,
                  "not recorded: --changing has an empty pattern; write '*' if every "
                  "figure is meant to change");
  }
  const Rules rules = store.rules();
  ProvenanceInput input;
  input.source = common::read_file(request.source);
  input.source_name = request.source.filename();
  input.rules = rules.text;
  input.root = store.root();
  input.on_gpu = request.on_gpu;
  input.build = request.build;
  input.command = request.command;
  input.date = utc_now();
  if (request.on_gpu) input.before = query_gpu();
  std::string machine = request.machine;
  if (machine.empty()) {
    machine = request.on_gpu ? machine_name(input.before.values["name"]) : "cpu";
  }
  if (machine.empty()) {
    throw Refused(2,
                  "not recorded: no GPU gives a name; name the machine with --machine");
  }
  if (machine != machine_name(machine)) {
    throw Refused(2, fmt::format("not recorded: a machine's name is lower case with "
                                 "dashes; did you mean '{}'?",
                                 machine_name(machine)));
  }
  const std::string source_hash = sha256(input.source);
  // What would stop the recording in any case is said before a long run.
  store.check_replaceable(machine);
  binding(store, source_hash);
  input.run = run(request.command, request.limits);
  if (request.on_gpu) input.after = query_gpu();
  try {
    input.binary = common::read_file(request.command[0]);
  } catch (const std::system_error&) {
    // Found in PATH, perhaps; its provenance says that it could not be read.
  }

  std::string fault = fault_of(input.run, request.limits);
  if (fault.empty() && input.run.held_open) {
    fault = "left a process running that held its output open";
  }
  if (!fault.empty()) {
    throw Refused(
        exit_code(input.run) == 0 ? 3 : exit_code(input.run),
        last_lines(input.run.err, 2000) + "not recorded: the program " + fault);
  }
  check_itself({input.run.out, store.name(store.text_path(machine))}, rules);
  const nlohmann::json document = provenance(input);
  const Lock lock = store.lock();
  check_against(store, request, input.run.out, rules, source_hash);
  store.save(machine, input.run.out, document);
  const Evidence written = store.load(machine);
  if (written.text != input.run.out || !written.provenance ||
      *written.provenance != document) {
    throw std::runtime_error(
        store.name(store.text_path(machine)) +
        ": what was written reads back differently; check the disk");
  }
  return fmt::format("recorded {}: {} bytes in {:.3g} s\n",
                     store.name(store.text_path(machine)), input.run.out.size(),
                     input.run.seconds);
}

}  // namespace transcript
