// The command: arguments in, reports and an exit status out.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>

#include "evidence.h"
#include "file.h"
#include "number.h"
#include "record.h"
#include "report.h"

namespace {

using namespace transcript;
namespace fs = std::filesystem;
using nlohmann::json;
using Strings = std::vector<std::string>;

constexpr int kMatch = 0, kDiffer = 1, kUnusable = 2;

std::string root_folder, program, format, rules_file, recorded_file, actual_file,
    address;
Strings facts;
Recording request;
bool as_block = false;
json compared = json::array();  // so far, whatever happens then

fs::path root() {
  return root_folder.empty() ? Store::find_root() : fs::canonical(root_folder);
}

Strings programs() {
  return program.empty() ? Store::programs(root()) : Strings{program};
}

/// The one of `names`, or an error that asks for one.
std::string only(const Strings& names, const std::string& ask, const char* none) {
  if (names.size() == 1) return names[0];
  throw std::runtime_error(
      ask + (names.empty() ? none : fmt::format(": {}", fmt::join(names, ", "))));
}

Store current_store() {
  return {root(),
          only(programs(), "name a program with --program", "; transcripts/ has none")};
}

Strings machines_of(const Store& store) {
  return request.machine.empty() ? store.machines() : Strings{request.machine};
}

void complete_request(const Store& store) {
  if (request.command.empty())
    request.command = built_program(store.program, request.machine);
  if (request.source.empty())
    request.source = store.root / "src" / (store.program + ".cu");
}

int report(const Compared& one) {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string_view(value == nullptr ? "" : value);
  };
  if (format == "json") {
    compared.push_back(json_report(one));
  } else {
    std::cout << human_report(one, ::isatty(STDOUT_FILENO) != 0 &&
                                       variable("NO_COLOR").empty() &&
                                       variable("TERM") != "dumb");
  }
  return one.comparison.match() ? kMatch : kDiffer;
}

int verify() {
  const Store store = current_store();
  const Rules rules = store.rules();
  const Strings machines = machines_of(store);
  if (machines.empty()) {
    throw std::runtime_error(store.name(store.folder) +
                             ": no evidence to verify; record it first");
  }
  std::vector<Evidence> all;
  for (const std::string& one : machines) {
    all.push_back(store.load(one));
    if (all.back().fault.empty()) continue;
    throw std::runtime_error(all.back().fault + "; restore it, or record it again");
  }
  complete_request(store);
  const RunResult result = run(request.command, request.limits);
  const std::string what = fs::path(request.command[0]).filename();
  check_run(result, request.limits, "transcript: " + what);
  const Document actual(result.out, what);
  int verdict = kMatch;
  for (Evidence& evidence : all) {
    const Document recorded(std::move(evidence.text), evidence.name);
    Compared one{recorded.name(), what, compare(recorded, actual, rules)};
    check_rules_used(rules, one.comparison.used, store.folder);
    if (result.held_open) {
      one.comparison.notes.push_back(
          "a process that the program started held its output open; it was ended, but "
          "one that left the program's process group may still be running");
    }
    verdict = std::max(verdict, report(one));
  }
  return verdict;
}

int record_run() {
  const Store store = current_store();
  complete_request(store);
  for (const std::string& fact : facts) {
    const std::size_t equals = fact.find('=');
    if (equals == std::string::npos) throw std::runtime_error("--fact is FIELD=VALUE");
    request.facts[fact.substr(0, equals)] = fact.substr(equals + 1);
  }
  std::cout << record(store, request);
  return kMatch;
}

int diff() {
  if (recorded_file == "-" && actual_file == "-") {
    throw std::runtime_error("only one side can be standard input");
  }
  fs::path path = rules_file;
  if (path.empty()) path = fs::path(recorded_file).parent_path() / "rules.toml";
  Rules rules;
  if (!rules_file.empty() || (recorded_file != "-" && fs::exists(path))) {
    rules = parse_rules(common::read_file(path), path.string());
  }
  const auto read = [](const std::string& file) {
    return file == "-" ? Document({std::istreambuf_iterator<char>(std::cin), {}},
                                  "standard input")
                       : Document(common::read_file(file), file);
  };
  const Document recorded = read(recorded_file), actual = read(actual_file);
  const Compared one{recorded.name(), actual.name(), compare(recorded, actual, rules)};
  check_rules_used(rules, one.comparison.used, fs::absolute(path).parent_path());
  return report(one);
}

int print_status() {
  const Strings all = programs();
  if (all.empty()) throw std::runtime_error("transcripts/ has no program");
  std::string stale;
  std::size_t count = 0;
  for (const std::string& name : all) {
    const Store store(root(), name);
    count += store.machines().size();
    stale += status(store);
  }
  std::cout << (stale.empty() ? fmt::format("fresh: {} transcript{}\n", count,
                                            count == 1 ? "" : "s")
                              : stale);
  return stale.empty() ? kMatch : kDiffer;
}

/// FILE, or the only evidence there is, or that of --machine.
fs::path evidence_file(const std::string& file) {
  if (!file.empty()) return fs::exists(file) ? fs::path(file) : root() / file;
  const Store store = current_store();
  const std::string machine = only(machines_of(store), "name a machine with --machine",
                                   "; there is no evidence yet");
  store.load(machine);  // says what is wrong with the name
  return store.file(machine, ".md");
}

int get_figure() {
  const std::size_t hash = address.find('#');
  const bool in_file = hash != std::string::npos;
  const fs::path file = evidence_file(in_file ? address.substr(0, hash) : "");
  const std::string bytes = common::read_file(file),
                    name = address.substr(in_file ? hash + 1 : 0);
  std::cout << (as_block ? block(bytes, name, file.string())
                         : get(bytes, name, file.string()) + "\n");
  return kMatch;
}

int export_figures() {
  json all = json::array();
  std::string tsv = "address\tsection\trow\tcolumn\ttext\tvalue\n";
  for (const Figure& one : figures(common::read_file(evidence_file(recorded_file)))) {
    const json value = one.value.empty() ? json() : json(to_double(one.value));
    const json row = one.row.empty() ? json() : json(one.row);
    const json column = one.column.empty() ? json() : json(one.column);
    all.push_back({{"address", one.address},
                   {"section", one.section},
                   {"text", one.text},
                   {"row", row},
                   {"column", column},
                   {"value", value}});
    tsv += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\n", one.address, one.section, one.row,
                       one.column, one.text,
                       value.is_null() ? "" : fmt::format("{}", value.get<double>()));
  }
  std::cout << (format == "tsv" ? tsv : to_text(all));
  return kMatch;
}

int run_command(int argc, char** argv) {
  CLI::App app{
      "Compares what a program prints, in Markdown, with recorded evidence.\n\n"
      "An address names a figure: SECTION / ROW / COLUMN for a table's cell,\n"
      "SECTION / WORDS / N for the N-th figure after WORDS on a line; 'NAME [2]' is\n"
      "the second of a name. Exit status: 0 match, 1 differ, 2 unusable arguments,\n"
      "rules or evidence, 3 the program failed, 4 it timed out.",
      "transcript"};
  app.require_subcommand(1);
  app.set_version_flag("--version", TRANSCRIPT_VERSION);
  app.footer(kRuleSyntax);
  const auto add = [&](const char* name, const char* does, int (*command)()) {
    return std::pair(app.add_subcommand(name, does), command);
  };
  const std::pair<CLI::App*, int (*)()> commands[] = {
      add("verify", "run the program and compare", verify),
      add("record", "run the program, keep its output", record_run),
      add("diff", "compare two files", diff),
      add("status", "say which evidence is stale, and why", print_status),
      add("get", "print one figure", get_figure),
      add("export", "print all figures", export_figures)};
  for (const int i : {0, 1, 3, 4, 5}) {
    CLI::App* one = commands[i].first;
    one->add_option("--root", root_folder, "the repository [the nearest one]");
    one->add_option("--program", program, "a folder of transcripts/");
    if (i != 3) one->add_option("--machine", request.machine, "whose evidence");
  }
  int timeout = 600;
  for (CLI::App* one : {commands[0].first, commands[1].first}) {
    one->add_option("--timeout", timeout, "seconds")
        ->check(CLI::Range(1, 1000000))
        ->capture_default_str();
    one->add_option("command", request.command, "what to run, after --");
  }
  for (const int i : {0, 2, 5}) {
    const Strings names{i == 5 ? "json" : "human", i == 5 ? "tsv" : "json"};
    CLI::App* one = commands[i].first;
    one->add_option("--format", format, "[" + names[0] + "] or " + names[1])
        ->check(CLI::IsMember(names));
  }
  CLI::App *record = commands[1].first, *diff = commands[2].first;
  CLI::App *get = commands[4].first, *exported = commands[5].first;
  record->add_option("--source", request.source, "[src/PROGRAM.cu]");
  const auto add_repeated = [&](const char* name, Strings& values, const char* what) {
    record->add_option(name, values, what)->allow_extra_args(false);
  };
  add_repeated("--changing", request.changing,
               "pattern of addresses whose figures are meant to change");
  add_repeated("--fact", facts,
               "FIELD=VALUE of the provenance that cannot be seen here, such as "
               "build.nvcc_flags, git.commit, git.dirty");
  diff->add_option("recorded", recorded_file, "'-' is standard input")->required();
  diff->add_option("actual", actual_file, "'-' is standard input")->required();
  diff->add_option("--rules", rules_file, "[rules.toml beside RECORDED]");
  get->add_flag("--block", as_block, "lines: SECTION, or SECTION / table");
  get->add_option("address", address, "ADDRESS or FILE#ADDRESS")->required();
  exported->add_option("file", recorded_file, "or a file of evidence");

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kMatch : kUnusable;
  }
  request.limits.timeout = std::chrono::seconds(timeout);
  for (const auto& [one, run] : commands) {
    if (one->parsed()) return run();
  }
  return kUnusable;
}

}  // namespace

int main(int argc, char** argv) {
  int code = kUnusable;
  std::string error;
  try {
    code = run_command(argc, argv);
  } catch (const Refused& refused) {
    error = refused.what() + std::string("\n");
    code = refused.exit_code;
  } catch (const common::DiagnosticError& diagnostics) {
    error = diagnostics.what();
  } catch (const std::exception& other) {
    error = std::string("transcript: ") + other.what() + "\n";
  }
  std::cerr << error;
  const std::string_view name = argc > 1 ? argv[1] : "";
  if (format == "json" && (name == "verify" || name == "diff")) {
    std::cout << to_text({{"exit_status", code},
                          {"error", error.empty() ? json() : json(error)},
                          {"comparisons", compared}});
  }
  if (!std::cout.flush()) {
    std::cerr << "transcript: cannot write to standard output\n";
    return kUnusable;
  }
  return code;
}
