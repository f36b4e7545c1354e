// The command: arguments in, exit status out; the library does the rest.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <CLI/CLI.hpp>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "diagnostic.h"
#include "evidence.h"
#include "file.h"
#include "record.h"
#include "report.h"
#include "status.h"
#include "suggest.h"
#include "text.h"

namespace {

namespace fs = std::filesystem;
using namespace transcript;

enum Exit { kMatch = 0, kDiffer = 1, kUnusable = 2, kFailed = 3, kTimedOut = 4 };

struct Options {
  std::string root, program, machine, format = "human";
  std::string gpu_build, cpu_build, source, rules;
  std::vector<std::string> command, changing;
  std::string recorded, actual, address;
  std::string nvcc_version, nvcc_flags, host_compiler, cuda_runtime, git_commit,
      git_dirty;
  double timeout = 600;
  double limit_mb = 64;
  bool exact = false, block = false;
};

void print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) {
    throw std::runtime_error("cannot write to standard output");
  }
}

fs::path root_of(const Options& options) {
  return options.root.empty() ? Store::find_root(fs::current_path())
                              : fs::absolute(options.root);
}

Store store_of(const Options& options) {
  const fs::path root = root_of(options);
  if (!options.program.empty()) return Store(root, options.program);
  const std::vector<std::string> programs = Store::programs(root);
  if (programs.size() == 1) return Store(root, programs[0]);
  std::string list;
  for (const std::string& one : programs) list += (list.empty() ? "" : ", ") + one;
  throw std::runtime_error("name a program with --program" +
                           (list.empty() ? "; transcripts/ has none" : ": " + list));
}

RunLimits limits_of(const Options& options) {
  RunLimits limits;
  limits.timeout = std::chrono::milliseconds(static_cast<long>(options.timeout * 1000));
  limits.output = static_cast<std::size_t>(options.limit_mb * 1e6);
  return limits;
}

/// What to run: the command given, or the GPU build where a GPU answers, or the CPU
/// build.
struct Program {
  std::vector<std::string> command;
  std::string what;
  bool on_gpu = false;
};

/// This tool is built at BUILD/tools/transcript/, the programs at BUILD/src/.
fs::path beside_this_tool(const std::string& name) {
  std::error_code ignored;
  const fs::path self = fs::read_symlink("/proc/self/exe", ignored);
  return self.parent_path().parent_path().parent_path() / "src" / name;
}

Program program_of(const Options& options, const std::string& name) {
  const bool gpu = query_gpu().count > 0;
  if (!options.command.empty()) {
    return {options.command, options.command[0], gpu && options.machine != "cpu"};
  }
  const fs::path gpu_build =
      options.gpu_build.empty() ? beside_this_tool(name) : fs::path(options.gpu_build);
  const fs::path cpu_build = options.cpu_build.empty() ? beside_this_tool(name + "_cpu")
                                                       : fs::path(options.cpu_build);
  if (gpu && options.machine != "cpu" && fs::exists(gpu_build)) {
    return {{gpu_build}, "the GPU build", true};
  }
  if (fs::exists(cpu_build)) {
    return {{cpu_build, "--timed-runs", "0"}, "the CPU build", false};
  }
  throw std::runtime_error(fmt::format(
      "no program to run: {} {}, and {} is not built; build it, or give the "
      "command after --",
      gpu_build.filename().string(),
      !gpu ? "needs a GPU, and none answers" : "is not built",
      cpu_build.filename().string()));
}

void print_reports(const std::vector<Compared>& all, const Options& options) {
  if (options.format == "junit") {
    print(junit_report(all));
  } else if (options.format == "json") {
    nlohmann::json array = nlohmann::json::array();
    for (const Compared& one : all) array.push_back(json_report(one));
    print(array.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  } else {
    const bool color = ::isatty(STDOUT_FILENO) != 0;
    for (const Compared& one : all) print(human_report(one, color));
  }
}

int verdict(const std::vector<Compared>& all) {
  for (const Compared& one : all) {
    if (!one.comparison.match()) return kDiffer;
  }
  return kMatch;
}

int verify(const Options& options) {
  const Store store = store_of(options);
  const Rules rules = store.rules();
  std::vector<std::string> machines;
  if (!options.machine.empty() && fs::exists(store.text_path(options.machine))) {
    machines.push_back(options.machine);
  } else {
    machines = store.machines();
  }
  if (machines.empty()) {
    throw std::runtime_error(store.name(store.rules_path().parent_path()) +
                             ": no evidence to verify; record it first");
  }
  const Program program = program_of(options, store.program());
  const RunLimits limits = limits_of(options);
  const RunResult result = run(program.command, limits);
  if (const std::string fault = fault_of(result, limits); !fault.empty()) {
    std::cerr << last_lines(result.err, 2000) << "transcript: " << program.what << " "
              << fault << "\n";
    return exit_code(result) == kMatch ? kFailed : exit_code(result);
  }
  const Transcript actual(result.out, program.what);
  std::vector<Compared> all;
  for (const std::string& machine : machines) {
    const Transcript recorded(store.load(machine).text,
                              store.name(store.text_path(machine)));
    all.push_back({recorded.name(), actual.name(), compare(recorded, actual, rules)});
    if (result.held_open) {
      all.back().comparison.notes.push_back(
          "a process that it left running held its output open, and was ended");
    }
  }
  print_reports(all, options);
  return verdict(all);
}

int record_command(const Options& options) {
  const Store store = store_of(options);
  const Program program = program_of(options, store.program());
  RecordRequest request;
  request.command = program.command;
  request.on_gpu = program.on_gpu;
  request.machine = options.machine;
  request.source =
      options.source.empty() ? store.source_path() : fs::path(options.source);
  request.changing = options.changing;
  request.limits = limits_of(options);
  const auto given = [](const std::string& value) {
    return value.empty() ? std::nullopt : std::optional(value);
  };
  request.build = {given(options.nvcc_version),  given(options.nvcc_flags),
                   given(options.host_compiler), given(options.cuda_runtime),
                   given(options.git_commit),    std::nullopt};
  if (!options.git_dirty.empty()) request.build.git_dirty = options.git_dirty == "true";
  print(record(store, request));
  return kMatch;
}

std::string read(const std::string& path) {
  if (path != "-") return common::read_file(path);
  return {std::istreambuf_iterator<char>(std::cin), {}};
}

int diff(const Options& options) {
  if (options.recorded == "-" && options.actual == "-") {
    throw std::runtime_error("only one side can be standard input");
  }
  Rules rules;
  const fs::path beside = fs::path(options.recorded).parent_path() / "rules.toml";
  if (!options.rules.empty()) {
    rules = parse_rules(common::read_file(options.rules), options.rules);
  } else if (!options.exact && options.recorded != "-" && fs::exists(beside)) {
    rules = parse_rules(common::read_file(beside), beside.string());
  }
  const auto name = [](const std::string& path) {
    return path == "-" ? std::string("standard input") : path;
  };
  const Transcript recorded(read(options.recorded), name(options.recorded));
  const Transcript actual(read(options.actual), name(options.actual));
  std::vector<Compared> all;
  all.push_back({recorded.name(), actual.name(), compare(recorded, actual, rules)});
  print_reports(all, options);
  return verdict(all);
}

int status_command(const Options& options) {
  std::vector<Stale> all;
  const fs::path root = root_of(options);
  std::vector<std::string> programs = Store::programs(root);
  if (!options.program.empty()) programs = {options.program};
  std::size_t count = 0;
  for (const std::string& program : programs) {
    const Store store(root, program);
    count += store.machines().size();
    const fs::path source =
        options.source.empty() ? store.source_path() : fs::path(options.source);
    for (Stale& stale : status(store, source)) all.push_back(std::move(stale));
  }
  if (programs.empty()) throw std::runtime_error("transcripts/ has no program");
  print(describe(all));
  if (!all.empty()) return kDiffer;
  print(fmt::format("fresh: {} transcript{}\n", count, count == 1 ? "" : "s"));
  return kMatch;
}

/// FILE and ADDRESS of "FILE#ADDRESS", or of an address in the only evidence there is.
std::pair<fs::path, std::string> locate(const Options& options) {
  const std::size_t hash = options.address.find('#');
  if (hash != std::string::npos) {
    const fs::path file = options.address.substr(0, hash);
    const fs::path in_root = fs::exists(file) ? file : root_of(options) / file;
    return {in_root, options.address.substr(hash + 1)};
  }
  const Store store = store_of(options);
  const std::vector<std::string> machines = store.machines();
  if (options.machine.empty() && machines.size() != 1) {
    std::string list;
    for (const std::string& one : machines) list += (list.empty() ? "" : ", ") + one;
    throw std::runtime_error(
        "name a machine with --machine" +
        (list.empty() ? "; there is no evidence yet" : ": " + list));
  }
  const std::string machine = options.machine.empty() ? machines[0] : options.machine;
  store.load(machine);  // says what is wrong with the name
  return {store.text_path(machine), options.address};
}

int get_command(const Options& options) {
  const auto [file, address] = locate(options);
  const std::string bytes = common::read_file(file);
  print(options.block ? block(bytes, address, file.string())
                      : get(bytes, address, file.string()) + "\n");
  return kMatch;
}

int export_command(const Options& options) {
  nlohmann::json document = nlohmann::json::object();
  const Store store = store_of(options);
  std::vector<std::string> machines = store.machines();
  if (!options.machine.empty()) machines = {options.machine};
  for (const std::string& machine : machines) {
    const Evidence evidence = store.load(machine);
    document[machine] = {
        {"figures", nlohmann::json::parse(export_json(evidence.text, machine))},
        {"provenance", evidence.provenance ? *evidence.provenance : nlohmann::json()}};
  }
  print(document.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  return kMatch;
}

void add_store(CLI::App* command, Options& options) {
  command->add_option("--root", options.root, "the repository [the nearest one]");
  command->add_option("--program", options.program, "a folder of transcripts/");
}

/// Unlike CLI::Range it refuses what is not a number.
CLI::Validator between(double low, double high) {
  const std::string range = fmt::format("[{} - {}]", low, high);
  return CLI::Validator(
      [=](const std::string& text) {
        double value = 0;
        const bool holds =
            CLI::detail::lexical_cast(text, value) && value >= low && value <= high;
        return holds ? std::string() : fmt::format("{} not in range {}", text, range);
      },
      range);
}

void add_run(CLI::App* command, Options& options) {
  add_store(command, options);
  command->add_option("--machine", options.machine, "whose evidence");
  command->add_option("--gpu-build", options.gpu_build, "the program built by nvcc");
  command->add_option("--cpu-build", options.cpu_build, "the program built for a CPU");
  command->add_option("--timeout", options.timeout, "seconds")
      ->check(between(0.001, 1e6))
      ->capture_default_str();
  command
      ->add_option("--max-output", options.limit_mb, "MB of output; more is a failure")
      ->check(between(1e-6, 4000))
      ->capture_default_str();
  command->add_option("command", options.command, "what to run, after --");
}

void add_format(CLI::App* command, Options& options) {
  command->add_option("--format", options.format, "human, json or junit")
      ->check(CLI::IsMember({"human", "json", "junit"}))
      ->capture_default_str();
}

int run_command(int argc, char** argv) {
  Options options;
  CLI::App app{
      "Compares what a program prints with recorded evidence, figure by figure.\n\n"
      "An address names a figure: BLOCK / ROW / COLUMN for a table's cell, or\n"
      "BLOCK / WORDS / N for the N-th figure after WORDS on a line. A block is named\n"
      "by its first line up to ',', '(', ':' or '='; 'NAME [2]' is the second of a\n"
      "name. Exit status: 0 match, 1 differ, 2 unusable arguments, rules or evidence,\n"
      "3 the program failed, 4 it timed out.",
      "transcript"};
  app.require_subcommand(1);
  app.set_version_flag("--version", TRANSCRIPT_VERSION);

  auto* verify_app = app.add_subcommand("verify", "run the program and compare");
  add_run(verify_app, options);
  add_format(verify_app, options);

  auto* record_app =
      app.add_subcommand("record", "run the program and keep its output");
  add_run(record_app, options);
  record_app->add_option("--source", options.source, "[src/PROGRAM.cu]");
  record_app
      ->add_option("--changing", options.changing,
                   "pattern of addresses whose figures are meant to change")
      ->allow_extra_args(false);
  record_app->add_option("--nvcc-version", options.nvcc_version, "[nvcc --version]");
  record_app->add_option("--nvcc-flags", options.nvcc_flags, "that built the program");
  record_app->add_option("--host-compiler", options.host_compiler,
                         "[the binary's notes]");
  record_app->add_option("--cuda-runtime", options.cuda_runtime, "[nvcc's version]");
  record_app->add_option("--git-commit", options.git_commit, "[git rev-parse HEAD]");
  record_app->add_option("--git-dirty", options.git_dirty, "[git status]")
      ->check(CLI::IsMember({"true", "false"}));

  auto* diff_app = app.add_subcommand("diff", "compare two files");
  diff_app->add_option("recorded", options.recorded, "'-' is standard input")
      ->required();
  diff_app->add_option("actual", options.actual, "'-' is standard input")->required();
  auto* rules_option =
      diff_app->add_option("--rules", options.rules, "[rules.toml beside RECORDED]");
  diff_app->add_flag("--exact", options.exact, "use no rules")->excludes(rules_option);
  add_format(diff_app, options);

  auto* status_app =
      app.add_subcommand("status", "say which evidence is stale, and why");
  add_store(status_app, options);
  status_app->add_option("--source", options.source, "[src/PROGRAM.cu]");

  auto* get_app = app.add_subcommand("get", "print one figure");
  add_store(get_app, options);
  get_app->add_option("--machine", options.machine, "whose evidence");
  get_app->add_flag("--block", options.block, "print lines: BLOCK, or BLOCK / table");
  get_app->add_option("address", options.address, "ADDRESS, or FILE#ADDRESS")
      ->required();

  auto* export_app = app.add_subcommand("export", "print all figures as JSON");
  add_store(export_app, options);
  export_app->add_option("--machine", options.machine, "[all]");

  std::vector<std::string> commands;
  for (const CLI::App* one : app.get_subcommands({}))
    commands.push_back(one->get_name());
  if (argc > 1 && argv[1][0] != '-' &&
      std::find(commands.begin(), commands.end(), argv[1]) == commands.end()) {
    const std::string near = common::closest(argv[1], commands);
    throw std::runtime_error(
        fmt::format("no command '{}'{}", argv[1],
                    near.empty() ? "; --help lists them"
                                 : fmt::format("; did you mean '{}'?", near)));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    app.exit(error);
    return kUnusable;
  }
  if (verify_app->parsed()) return verify(options);
  if (record_app->parsed()) return record_command(options);
  if (diff_app->parsed()) return diff(options);
  if (status_app->parsed()) return status_command(options);
  if (get_app->parsed()) return get_command(options);
  return export_command(options);
}

}  // namespace

int main(int argc, char** argv) {
  int code = kUnusable;
  try {
    code = run_command(argc, argv);
  } catch (const Refused& refused) {
    std::cerr << refused.what() << "\n";
    code = refused.exit_code;
  } catch (const common::DiagnosticError& error) {
    std::cerr << error.what();
  } catch (const std::bad_alloc&) {
    std::cerr << "transcript: out of memory\n";
  } catch (const std::exception& error) {
    std::cerr << "transcript: " << error.what() << "\n";
  }
  if (std::fflush(stdout) != 0) {
    std::cerr << "transcript: cannot write to standard output\n";
    return kUnusable;
  }
  return code;
}
