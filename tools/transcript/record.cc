#include "record.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "file.h"
#include "report.h"
#include "text.h"

namespace transcript {
namespace fs = std::filesystem;
using nlohmann::json;
namespace {

[[noreturn]] void refuse(const std::string& why, int code = 2) {
  throw Refused(code, why);
}

/// Keeps other recordings of the program out while it lives.
struct Lock {
  const int fd;
  explicit Lock(const fs::path& folder)
      : fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    while (::flock(fd, LOCK_EX) != 0 && errno == EINTR) {
    }
  }
  ~Lock() { ::close(fd); }
};

/// The name of the GPU that a program's first heading names, or "".
std::string gpu_named(const GpuState& gpu, std::string_view output) {
  const std::size_t begin = output.starts_with("# ") ? 0 : output.find("\n# ");
  if (begin == std::string_view::npos) return "";
  const std::string_view heading =
      output.substr(begin, output.find('\n', begin + 1) - begin);
  for (const std::string& name : gpu.names) {
    if (heading.find(name) != std::string_view::npos) return name;
  }
  return "";
}

/// "nvidia-h200" for "NVIDIA H200": lower case, everything else one dash.
std::string machine_name(std::string_view gpu) {
  std::string name;
  for (const char c : gpu) {
    const bool word = is_word(c) && c != '_';
    if (word) name += c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
    if (!word && !name.empty() && name.back() != '-') name += '-';
  }
  while (!name.empty() && name.back() == '-') name.pop_back();
  return name;
}

/// Throws Refused when a run differs from evidence of the same source, or repeats it.
void check_against(const Store& store, const Recording& request, const Document& actual,
                   const Rules& rules) {
  std::string disagreements;
  for (const std::string& machine : store.machines()) {
    Evidence evidence = store.load(machine);
    if (!evidence.fault.empty() || evidence.provenance.value("source_sha256", json()) !=
                                       sha256(request.source_text)) {
      continue;
    }
    const Document recorded(std::move(evidence.text), evidence.name);
    if (recorded.sections().empty()) continue;  // nothing to agree with
    // Those beyond what a report lists must be excused as well.
    Compared compared{
        recorded.name(), actual.name(),
        compare(recorded, actual, rules,
                request.changing.empty() ? Comparison::kListed : SIZE_MAX)};
    Comparison& found = compared.comparison;
    if (!request.gpu.empty() && machine != "cpu" && found.reported > 0 &&
        found.match() && found.reported_changed == 0) {
      refuse("not recorded: every time is that of " + recorded.name() +
             ": this only prints recorded text");
    }
    found.differing -= std::erase_if(found.differences, [&](const Entry& entry) {
      return std::any_of(
          request.changing.begin(), request.changing.end(),
          [&](const std::string& pattern) { return matches(pattern, entry.address); });
    });
    found.differences.resize(std::min(found.differences.size(), Comparison::kListed));
    found.reports.clear();
    if (!found.match()) disagreements += human_report(compared, false);
  }
  if (disagreements.empty()) return;
  refuse(disagreements +
             "not recorded: the run disagrees with evidence of the same source; if "
             "figures are meant to change, name them with --changing",
         1);
}

/// A program's command as provenance keeps it: files of the repository from its root,
/// of others the last part.
std::vector<std::string> without_folders(std::vector<std::string> command,
                                         const Store& store) {
  for (std::string& argument : command) {
    const std::size_t value =
        argument.find('=') < argument.find('/') ? argument.find('=') + 1 : 0;
    const std::string path = argument.substr(value);
    if (path.find('/') == std::string::npos) continue;
    const std::string name = store.name(fs::weakly_canonical(path));
    argument.resize(value);
    argument += name[0] == '/' ? fs::path(path).filename().string()
                : name.find('/') == std::string::npos ? "./" + name
                                                      : name;
  }
  return command;
}

/// A word as a shell needs it.
std::string quoted(const std::string& word) {
  const auto odd = [](char c) { return !is_word(c) && !std::strchr("-./=,:+%@", c); };
  if (!word.empty() && std::none_of(word.begin(), word.end(), odd)) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

fs::path this_tool() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored);
}

}  // namespace

std::vector<std::string> built_program(const std::string& name,
                                       const std::string& machine) {
  const fs::path built = this_tool().parent_path().parent_path().parent_path() / "src";
  const fs::path gpu = built / name, cpu = built / (name + "_cpu");
  if (machine != "cpu" && fs::exists(gpu) && !query_gpu().names.empty()) return {gpu};
  if (fs::exists(cpu)) return {cpu, "--timed-runs", "0"};
  throw std::runtime_error(
      "no program to run: no GPU build that a GPU answers to, and no " + cpu.string() +
      "; build it, or give the command after --");
}

void check_run(const RunResult& run, const RunLimits& limits, const std::string& what) {
  if (run.ok() && !trim(run.out).empty()) return;
  const std::string fault = run.ok() ? "printed nothing" : describe(run, limits);
  refuse(last_lines(run.err, 2000) + what + " " + fault,
         run.end == RunResult::End::timed_out ? 4 : 3);
}

std::string record(const Store& store, Recording request) {
  const char* ci = std::getenv("CI");
  if (ci != nullptr && *ci != '\0' && std::string_view(ci) != "false") {
    refuse("not recorded: CI is set, and evidence is recorded by people");
  }
  if (std::count(request.changing.begin(), request.changing.end(), "") > 0) {
    refuse(
        "not recorded: --changing has an empty pattern; write '*' if every figure is "
        "meant to change");
  }
  if (request.machine != machine_name(request.machine)) {
    refuse(fmt::format(
        "not recorded: a machine's name is lower case with dashes; did you mean '{}'?",
        machine_name(request.machine)));
  }
  const Rules rules = store.rules();
  request.root = store.root;
  request.rules_text = rules.text;
  request.source_text = common::read_file(request.source);
  request.shown_source = store.name(fs::weakly_canonical(request.source));
  request.shown_command = without_folders(request.command, store);
  request.before = query_gpu();
  const RunResult& run = request.run = transcript::run(request.command, request.limits);
  request.after = query_gpu();
  check_run(run, request.limits, "not recorded: the program");
  if (run.held_open) {
    refuse("not recorded: the program left a process running that held its output open",
           3);
  }
  const std::string& gpu = request.gpu = gpu_named(request.before, run.out);
  const std::string machine = gpu.empty() ? "cpu" : machine_name(gpu);
  if (!request.machine.empty() && request.machine != machine) {
    refuse(fmt::format(
        "not recorded: this is a run of machine '{}', not of '{}': {}", machine,
        request.machine,
        !gpu.empty() ? "the first heading names that GPU"
        : request.before.names.empty()
            ? "no GPU answers (" + request.before.why_none + ")"
            : "the first heading does not name " + request.before.names[0]));
  }
  const json document = provenance(request);
  const Document actual(run.out, "the new run");
  const Lock lock(store.folder);
  check_against(store, request, actual, rules);
  const Comparison itself = compare(actual, actual, rules);
  if (!itself.match()) {
    refuse(human_report({"the new run", "itself", itself}, false) +
           "not recorded: by these rules the run does not agree even with itself");
  }
  check_rules_used(rules, itself.used, store.folder);
  store.save(machine, run.out, document);
  const Evidence written = store.load(machine);
  if (written.text != run.out || written.provenance != document) {
    throw std::runtime_error(
        written.name + ": what was written reads back differently; check the disk");
  }
  return fmt::format("recorded {}: {} bytes in {:.3g} s\n", written.name,
                     run.out.size(), run.seconds);
}

/// Appends why a valid provenance proves nothing now; returns how to run it again.
static std::string reasons_in(const json& record, const Store& store,
                              const std::string& rules_hash, std::string& reasons) {
  const std::string source = record["source"];
  const fs::path file = store.root / source;
  if (!fs::exists(file) || record["source_sha256"] != sha256(common::read_file(file))) {
    reasons += "  " + source + " changed since\n";
  }
  if (record["rules_sha256"] != rules_hash) {
    reasons += "  " + store.name(store.folder / "rules.toml") + " changed since\n";
  }
  if (record["exit_status"] != 0) reasons += "  the program failed\n";
  const json& dirty = record["git"]["dirty"];
  if (dirty != false) {
    reasons += dirty.is_null()
                   ? "  it is not known to come from a clean commit\n"
                   : "  it was recorded from a tree with uncommitted changes\n";
  }
  std::string again = " --source " + quoted(source);
  if (const json& flags = record["build"]["nvcc_flags"]; flags.is_string()) {
    again += " --fact " + quoted("build.nvcc_flags=" + flags.get<std::string>());
  }
  again += " --";
  for (const std::string word : record["command"]) again += " " + quoted(word);
  return again;
}

std::string status(const Store& store) {
  const Rules rules = store.rules();
  const std::vector<std::string> machines = store.machines();
  if (machines.empty()) {
    return store.name(store.folder) + ": stale\n  it holds no evidence\n";
  }
  std::string text;
  for (const std::string& machine : machines) {
    const Evidence evidence = store.load(machine);
    const json& record = evidence.provenance;
    std::string reasons, refresh;
    if (!evidence.fault.empty()) reasons = "  " + evidence.fault + "\n";
    const std::string fault = record.is_null() ? "" : check_provenance(record);
    if (!fault.empty()) {
      reasons += "  " + store.name(store.file(machine, ".json")) + ": " + fault + "\n";
    } else if (!record.is_null()) {
      refresh = reasons_in(record, store, sha256(rules.text), reasons);
    }
    if (reasons.empty()) continue;
    text += fmt::format(
        "{}: stale\n{}  refresh, from {}: {} record --program {} --machine {}{}\n",
        evidence.name, reasons, quoted(store.root), quoted(store.name(this_tool())),
        store.program, machine, refresh);
  }
  for (const std::size_t rule : idle_rules(rules, {}, store.folder)) {
    text += fmt::format("{}:{}: stale\n  this rule matches nothing in any evidence\n",
                        rules.name, rules.rules[rule].source_line);
  }
  return text;
}

}  // namespace transcript
