// The command: arguments in, exit status out; the library does the rest.
#include <CLI/CLI.hpp>
#include <iostream>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "diagnostic.h"
#include "record.h"
#include "report.h"

namespace {

using namespace transcript;
using nlohmann::json;

void add_store(CLI::App* command) {
  command->add_option("--root", options.root, "the repository [the nearest one]");
  command->add_option("--program", options.program, "a folder of transcripts/");
}

void add_format(CLI::App* command, const std::string& first,
                const std::string& second) {
  command->add_option("--format", options.format, "[" + first + "] or " + second)
      ->check(CLI::IsMember({first, second}));
}

void add_run(CLI::App* command) {
  add_store(command);
  command->add_option("--machine", options.machine, "whose evidence");
  command->add_option("--timeout", options.timeout, "seconds")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command->add_option("command", options.command, "what to run, after --");
}

int run_command(int argc, char** argv) {
  CLI::App app{
      "Compares what a program prints, in Markdown, with recorded evidence.\n\n"
      "An address names a figure: SECTION / ROW / COLUMN for a table's cell,\n"
      "SECTION / WORDS / N for the N-th figure after WORDS on a line; 'NAME [2]' is "
      "the\n"
      "second of a name. Exit status: 0 match, 1 differ, 2 unusable arguments, rules "
      "or\n"
      "evidence, 3 the program failed, 4 it timed out.",
      "transcript"};
  app.require_subcommand(1);
  app.set_version_flag("--version", TRANSCRIPT_VERSION);
  app.footer(kRuleSyntax);

  auto* verify_app = app.add_subcommand("verify", "run the program and compare");
  add_run(verify_app);
  add_format(verify_app, "human", "json");

  auto* record_app = app.add_subcommand("record", "run the program, keep its output");
  add_run(record_app);
  record_app->add_option("--source", options.source, "[src/PROGRAM.cu]");
  record_app
      ->add_option("--changing", options.changing,
                   "pattern of addresses whose figures are meant to change")
      ->allow_extra_args(false);
  record_app
      ->add_option("--fact", options.facts,
                   "FIELD=VALUE of the provenance that cannot be seen here, such as "
                   "build.nvcc_flags, git.commit, git.dirty")
      ->allow_extra_args(false);

  auto* diff_app = app.add_subcommand("diff", "compare two files");
  diff_app->add_option("recorded", options.recorded, "'-' is standard input")
      ->required();
  diff_app->add_option("actual", options.actual, "'-' is standard input")->required();
  diff_app->add_option("--rules", options.rules, "[rules.toml beside RECORDED]");
  add_format(diff_app, "human", "json");

  auto* status_app =
      app.add_subcommand("status", "say which evidence is stale, and why");
  add_store(status_app);

  auto* get_app = app.add_subcommand("get", "print one figure");
  add_store(get_app);
  get_app->add_option("--machine", options.machine, "whose evidence");
  get_app->add_flag("--block", options.block, "lines: SECTION, or SECTION / table");
  get_app->add_option("address", options.address, "ADDRESS or FILE#ADDRESS")
      ->required();

  auto* export_app = app.add_subcommand("export", "print all figures");
  add_store(export_app);
  export_app->add_option("--machine", options.machine, "whose evidence");
  export_app->add_option("file", options.recorded, "or a file of evidence");
  add_format(export_app, "json", "tsv");

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kMatch : kUnusable;
  }
  if (verify_app->parsed()) return verify();
  if (record_app->parsed()) return record_run();
  if (diff_app->parsed()) return diff();
  if (status_app->parsed()) return print_status();
  return get_app->parsed() ? get_figure() : export_figures();
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
  } catch (const std::bad_alloc&) {
    error = "transcript: out of memory\n";
  } catch (const std::exception& other) {
    error = std::string("transcript: ") + other.what() + "\n";
  }
  std::cerr << error;
  const std::string_view name = argc > 1 ? argv[1] : "";
  if (options.format == "json" && (name == "verify" || name == "diff")) {
    const json result = {{"exit_status", code},
                         {"error", error.empty() ? json() : json(error)},
                         {"comparisons", compared_so_far()}};
    const std::string text = to_text(result);
    std::fwrite(text.data(), 1, text.size(), stdout);
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    std::cerr << "transcript: cannot write to standard output\n";
    return kUnusable;
  }
  return code;
}
