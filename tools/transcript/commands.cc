#include "commands.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "evidence.h"
#include "file.h"
#include "number.h"
#include "provenance.h"
#include "record.h"
#include "report.h"

namespace transcript {

namespace fs = std::filesystem;
using nlohmann::json;

Options options;

namespace {

json all_compared = json::array();

void print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) {
    throw std::runtime_error("cannot write to standard output");
  }
}

std::string list_of(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return list;
}

fs::path root() {
  return fs::canonical(options.root.empty() ? Store::find_root(fs::current_path())
                                            : fs::path(options.root));
}

fs::path this_tool() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored);
}

Store current_store() {
  if (!options.program.empty()) return Store(root(), options.program);
  const std::vector<std::string> programs = Store::programs(root());
  if (programs.size() == 1) return Store(root(), programs[0]);
  throw std::runtime_error(
      "name a program with --program" +
      (programs.empty() ? "; transcripts/ has none" : ": " + list_of(programs)));
}

RunLimits limits() {
  RunLimits limits;
  limits.timeout = std::chrono::seconds(options.timeout);
  return limits;
}

/// The command given, or the GPU build where a GPU answers, or the CPU build. This tool
/// is built at BUILD/tools/transcript/, the programs at BUILD/src/.
std::vector<std::string> command_for(const std::string& program) {
  if (!options.command.empty()) return options.command;
  const fs::path built = this_tool().parent_path().parent_path().parent_path() / "src";
  const fs::path gpu = built / program, cpu = built / (program + "_cpu");
  if (options.machine != "cpu" && fs::exists(gpu) && !query_gpu().names.empty()) {
    return {gpu};
  }
  if (fs::exists(cpu)) return {cpu, "--timed-runs", "0"};
  throw std::runtime_error(
      "no program to run: no GPU build that a GPU answers to, and no " + cpu.string() +
      "; build it, or give the command after --");
}

int report(const Compared& one) {
  if (options.format == "json") {
    all_compared.push_back(json_report(one));
  } else {
    const char* no_color = std::getenv("NO_COLOR");
    const char* terminal = std::getenv("TERM");
    print(human_report(
        one, ::isatty(STDOUT_FILENO) != 0 &&
                 (no_color == nullptr || *no_color == '\0') &&
                 (terminal == nullptr || std::string_view(terminal) != "dumb")));
  }
  return one.comparison.match() ? kMatch : kDiffer;
}

}  // namespace

const json& compared_so_far() {
  return all_compared;
}

int verify() {
  const Store store = current_store();
  const Rules rules = store.rules();
  std::vector<std::string> machines = store.machines();
  if (!options.machine.empty()) machines = {options.machine};
  if (machines.empty()) {
    throw std::runtime_error(store.name(store.rules_path().parent_path()) +
                             ": no evidence to verify; record it first");
  }
  std::vector<Evidence> all;
  for (const std::string& machine : machines) {
    all.push_back(store.load(machine));
    if (all.back().fault.empty()) continue;
    throw std::runtime_error(all.back().fault + "; restore it, or record it again");
  }
  const std::vector<std::string> command = command_for(store.program());
  const RunResult result = run(command, limits());
  const std::string what = fs::path(command[0]).filename();
  check_run(result, limits(), "transcript: " + what);
  const Document actual(result.out, what);
  int verdict = kMatch;
  for (Evidence& evidence : all) {
    const Document recorded(std::move(evidence.text),
                            store.name(store.text_path(evidence.machine)));
    Compared compared{recorded.name(), actual.name(), compare(recorded, actual, rules)};
    check_rules_used(rules, compared.comparison.used, store.rules_path().parent_path());
    if (result.held_open) {
      compared.comparison.notes.push_back(
          "a process that the program started held its output open; it was ended, but "
          "one that left the program's process group may still be running");
    }
    verdict = std::max(verdict, report(compared));
  }
  return verdict;
}

int record_run() {
  const Store store = current_store();
  RecordRequest request;
  request.command = command_for(store.program());
  request.machine = options.machine;
  request.source = options.source.empty()
                       ? store.root() / "src" / (store.program() + ".cu")
                       : fs::path(options.source);
  request.changing = options.changing;
  request.limits = limits();
  for (const std::string& fact : options.facts) {
    const std::size_t equals = fact.find('=');
    if (equals == std::string::npos) throw std::runtime_error("--fact is FIELD=VALUE");
    request.facts[fact.substr(0, equals)] = fact.substr(equals + 1);
  }
  print(record(store, request));
  return kMatch;
}

static std::string read(const std::string& path) {
  if (path != "-") return common::read_file(path);
  return {std::istreambuf_iterator<char>(std::cin), {}};
}

int diff() {
  const auto name = [](const std::string& path) {
    return path == "-" ? std::string("standard input") : path;
  };
  if (options.recorded == "-" && options.actual == "-") {
    throw std::runtime_error("only one side can be standard input");
  }
  fs::path path = options.rules;
  if (path.empty()) path = fs::path(options.recorded).parent_path() / "rules.toml";
  Rules rules;
  if (!options.rules.empty() || (options.recorded != "-" && fs::exists(path))) {
    rules = parse_rules(common::read_file(path), path.string());
  }
  const Document recorded(read(options.recorded), name(options.recorded));
  const Document actual(read(options.actual), name(options.actual));
  const Compared compared{recorded.name(), actual.name(),
                          compare(recorded, actual, rules)};
  check_rules_used(rules, compared.comparison.used,
                   path.has_parent_path() ? path.parent_path() : fs::path("."));
  return report(compared);
}

int print_status() {
  std::vector<std::string> programs = Store::programs(root());
  if (!options.program.empty()) programs = {options.program};
  if (programs.empty()) throw std::runtime_error("transcripts/ has no program");
  std::string stale;
  std::size_t count = 0;
  for (const std::string& program : programs) {
    const Store store(root(), program);
    count += store.machines().size();
    stale += status(store, this_tool());
  }
  print(stale.empty()
            ? fmt::format("fresh: {} transcript{}\n", count, count == 1 ? "" : "s")
            : stale);
  return stale.empty() ? kMatch : kDiffer;
}

/// FILE, or the only evidence there is, or that of --machine.
static fs::path evidence_file(const std::string& file) {
  if (!file.empty()) return fs::exists(file) ? fs::path(file) : root() / file;
  const Store store = current_store();
  const std::vector<std::string> machines = store.machines();
  if (options.machine.empty() && machines.size() != 1) {
    throw std::runtime_error(
        "name a machine with --machine" +
        (machines.empty() ? "; there is no evidence yet" : ": " + list_of(machines)));
  }
  const std::string machine = options.machine.empty() ? machines[0] : options.machine;
  store.load(machine);  // says what is wrong with the name
  return store.text_path(machine);
}

int get_figure() {
  const std::size_t hash = options.address.find('#');
  const bool in_file = hash != std::string::npos;
  const fs::path file = evidence_file(in_file ? options.address.substr(0, hash) : "");
  const std::string bytes = common::read_file(file);
  const std::string address =
      in_file ? options.address.substr(hash + 1) : options.address;
  print(options.block ? block(bytes, address, file.string())
                      : get(bytes, address, file.string()) + "\n");
  return kMatch;
}

int export_figures() {
  const std::string bytes = common::read_file(evidence_file(options.recorded));
  json all = json::array();
  std::string tsv = "address\tsection\trow\tcolumn\ttext\tvalue\n";
  for (const Figure& one : figures(bytes)) {
    const std::string value =
        one.value.empty() ? "" : fmt::format("{}", to_double(one.value));
    const auto or_null = [](const std::string& text) {
      return text.empty() ? json() : json(text);
    };
    all.push_back({{"address", one.address},
                   {"section", one.section},
                   {"row", or_null(one.row)},
                   {"column", or_null(one.column)},
                   {"text", one.text},
                   {"value", value.empty() ? json() : json(to_double(one.value))}});
    tsv += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\n", one.address, one.section, one.row,
                       one.column, one.text, value);
  }
  print(options.format == "tsv" ? tsv : to_text(all));
  return kMatch;
}

}  // namespace transcript
