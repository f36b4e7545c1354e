#include <CLI/CLI.hpp>
#include <exception>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "diagnostic.h"
#include "evidence.h"
#include "link.h"
#include "workspace.h"

namespace fs = std::filesystem;

namespace {

constexpr int kUnusable = 2;

// Files on the command line are named from where the user stands; the tool names them
// from the root.
std::string from_root(const std::string& file, const fs::path& root) {
  const fs::path path = fs::absolute(file).lexically_normal();
  return path.lexically_relative(root).generic_string();
}

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app("Keeps the code shown in documents equal to its source.", "snippet");
  app.require_subcommand(1);
  app.fallthrough();
  std::string root, machine, output, address, program;
  std::string compiler(snippet::kCompilers[0].id);
  std::vector<std::string> files;
  app.add_option("--root", root, "The repository (default: found from here upwards)");

  const auto with_files = [&](CLI::App* command) {
    command->add_option("FILES", files, "Only these (default: all)");
    return command;
  };
  CLI::App* list = with_files(app.add_subcommand(
      "list", "Regions, where they stand, and how many places pull each"));
  CLI::App* show = app.add_subcommand("show", "Print one region");
  show->add_option("FILE#NAME", address)->required();
  CLI::App* check = with_files(app.add_subcommand(
      "check", "Print a diff for each stale place; exit 1 if there is one"));
  CLI::App* sync =
      with_files(app.add_subcommand("sync", "Bring every place up to date"));
  CLI::Option* into = sync->add_option("--output", output,
                                       "Write the documents below this folder instead");
  sync->add_option("--machine", machine,
                   "Pull evidence recorded on this machine instead (with --output)")
      ->needs(into);
  CLI::App* link =
      app.add_subcommand("link", "Print a program's Compiler Explorer link");
  link->add_option("SNIPPET.cu", program)->required();
  link->add_option("--compiler", compiler, "The site's id")->capture_default_str();
  CLI::App* index =
      app.add_subcommand("index", "Print regions, programs and links as JSON");

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUnusable;
  }
  const fs::path top =
      fs::canonical(root.empty() ? snippet::find_root(".") : fs::path(root));
  for (std::string& file : files) file = from_root(file, top);

  const snippet::Evidence evidence = {
      [](const std::string& file, const std::string& text, const std::string& address) {
        return transcript::get(text, address, file);
      },
      [](const std::string& file, const std::string& text, const std::string& address) {
        return transcript::block(text, address, file);
      }};
  snippet::Workspace workspace(top, evidence, machine);
  if (*list) workspace.list(files, std::cout);
  if (*show) workspace.show(address, std::cout);
  if (*check) return workspace.check(files, std::cout) ? 0 : 1;
  if (*link) workspace.link(from_root(program, top), compiler, std::cout);
  if (*index) workspace.index(std::cout);
  if (*sync) workspace.sync(files, output, std::cout);
  return 0;
} catch (const common::DiagnosticError& error) {
  std::cerr << error.what();
  return kUnusable;
} catch (const std::exception& error) {
  std::cerr << "snippet: " << error.what() << '\n';
  return kUnusable;
}
