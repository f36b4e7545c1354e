// Builds and runs every wrong version of a program and prints who noticed it.
//
//   mutants LIST FOLDER [--recorded FILE] -- COMPILER OPTIONS... [-- TEST OPTIONS...]
//   mutants LIST FOLDER --gpu
//
// The first form builds for the CPU; TEST, a source built with the options of both,
// holds the test cases that some mutants name. The second builds with nvcc for this
// machine's GPU. FOLDER keeps what was built. Exit: 0 all were noticed, 1 one was not
// or the table is not the recorded one (of another device: lacks a mutant), 2 the list
// does not fit the program, 77 no GPU.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "build.h"
#include "file.h"
#include "mutant.h"
#include "rewrite.h"
#include "verdict.h"

namespace fs = std::filesystem;

using mutants::build;
using mutants::kLongLimit;
using mutants::Run;
using mutants::run;
using mutants::Words;
using mutants::write_if_changed;

namespace {

struct Options {
  std::string list, recorded;
  fs::path folder;
  bool gpu = false;
  Words compile, test;  // commands; what the test adds to the first
};

// ------------------------------------------------------------------ building

/// Builds one version in its folder: the program, and the test where it is asked for.
void build_version(const Options& options, const mutants::List& list,
                   const std::string& text, bool test, const fs::path& folder) {
  fs::create_directories(folder);
  Words command = options.compile;
  if (options.gpu) {
    const fs::path source = folder / (list.program + ".cu");
    write_if_changed(source, text);
    command.push_back(source);
    build(command, source, folder / "program");
    return;
  }
  const fs::path include = folder / "include";
  fs::create_directories(include);
  const fs::path source = include / (list.program + ".cu.h");  // as the test names it
  write_if_changed(source, cpu_cuda::rewrite(text, list.program + ".cu"));
  command.insert(command.end(), {"-x", "c++", source, "-x", "none"});
  build(command, source, folder / "program");
  if (!test || options.test.empty()) return;
  command = options.compile;
  command.push_back("-I" + include.string());
  command.insert(command.end(), options.test.begin(), options.test.end());
  build(command, source, folder / "test");
}

// ------------------------------------------------------------------ judging

Words command_of(const fs::path& folder, const std::string& cases, int kernel) {
  Words command = {folder / "program", "--timed-runs", "0", "--cases", cases};
  if (kernel > 0) command.insert(command.end(), {"--kernels", std::to_string(kernel)});
  return command;
}

/// What is no check of the list: a hang, an error, a failure without a word.
void add_other(const Run& result, const std::vector<mutants::Check>& checks,
               mutants::Verdict& verdict) {
  bool seen = !verdict.other.empty();
  for (std::size_t i = 0; i < checks.size(); ++i) {
    seen |= !checks[i].line.empty() && !verdict.checks[i].noticed.empty();
  }
  if (result.code == 124 || result.code == 137) {
    verdict.other.insert("hang");
  } else if (!result.err.empty()) {
    const std::string line = result.err.substr(0, result.err.find('\n'));
    verdict.other.insert(line.substr(line.rfind(": ") + 2));
  } else if (result.code != 0 && (result.code != 1 || !seen)) {
    verdict.other.insert("exit status " + std::to_string(result.code));
  }
}

/// A race may leave the right result by luck; the sanitizer sees it all the same.
bool racecheck_fails(const Words& program, const fs::path& folder) {
  Words command = {"compute-sanitizer", "--tool", "racecheck", "--error-exitcode", "9"};
  command.insert(command.end(), program.begin(), program.end());
  return run(command, folder, kLongLimit).code == 9;
}

std::string cases_of(const Options& options, const mutants::List& list,
                     const mutants::Mutant& mutant) {
  const std::string cases = mutant.cases.empty() ? list.cases : mutant.cases;
  const bool more = options.gpu && !list.gpu_cases.empty();
  return more ? cases + "," + list.gpu_cases : cases;
}

struct Row {
  std::vector<std::string> cells;
  bool noticed = false;
};

Row judge(const Options& options, const mutants::List& list,
          const mutants::Mutant& mutant, const fs::path& folder) {
  const std::string cases = cases_of(options, list, mutant);
  const Words command = command_of(folder, cases, mutant.kernel);
  const Run result = run(command, folder);
  mutants::Verdict verdict = mutants::read_verdict(result.out, list.checks, cases);
  add_other(result, list.checks, verdict);
  if (options.gpu && result.code == 0 && !mutant.from.empty() &&
      racecheck_fails(command_of(folder, list.cases, mutant.kernel), folder)) {
    verdict.other.insert("racecheck alone");
  }

  Row row;
  row.cells.push_back(mutant.name);
  bool anything = !verdict.other.empty();
  for (std::size_t i = 0; i < list.checks.size(); ++i) {
    const bool seen = !verdict.checks[i].noticed.empty();
    row.cells.push_back(verdict.checks[i].text());
    row.noticed |= seen && list.checks[i].name == mutant.noticed;
    anything |= seen;
  }
  row.cells.push_back(verdict.other.empty() ? "-" : mutants::joined(verdict.other));
  if (!options.test.empty()) {
    bool failed = false;
    if (!mutant.test.empty()) {
      std::string filter = mutant.test;  // in which a comma would separate two filters
      std::replace(filter.begin(), filter.end(), ',', '?');
      const Run test = run({folder / "test", "--test-case=" + filter}, folder);
      failed = test.out.find(" 0 passed | 1 failed |") != std::string::npos;
    }
    row.cells.push_back(failed ? "fails" : "-");
    row.noticed |= failed && mutant.noticed == "test";
    anything |= failed;
  }
  row.noticed |= mutant.noticed == "otherwise" && !verdict.other.empty();
  if (mutant.noticed == "anything") row.noticed = anything;
  return row;
}

// ------------------------------------------------------------------ the report

std::string table(const std::vector<Row>& rows) {
  std::vector<std::size_t> width(rows[0].cells.size(), 3);
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < width.size(); ++i) {
      width[i] = std::max(width[i], row.cells[i].size());
    }
  }
  std::string text;
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < width.size(); ++i) {
      text +=
          "| " + row.cells[i] + std::string(width[i] - row.cells[i].size() + 1, ' ');
    }
    text += "|\n";
    if (&row != &rows[0]) continue;
    for (std::size_t i : width) text += "| :" + std::string(i - 1, '-') + " ";
    text += "|\n";
  }
  return text;
}

std::string report(const mutants::List& list, const std::string& cases,
                   const std::string& device, const std::set<std::string>& left_out,
                   const std::vector<Row>& rows) {
  std::string text = "# wrong versions of " + list.program + " on " + device + "\n\n" +
                     "## mutants (what noticed each, and in which case)\n\n" +
                     "cases " + cases +
                     "\nall: in every case in which the check was made\n";
  if (!left_out.empty()) {
    text += "left out, since this machine runs no such kernel: kernel " +
            mutants::joined(left_out) + "\n";
  }
  return text + "\n" + table(rows);
}

/// The kernels that the unchanged program ran: "1" for a row "1 byte tile".
std::set<std::string> kernels_of(const std::string& out) {
  std::set<std::string> kernels;
  std::istringstream lines(out);
  for (std::string line; std::getline(lines, line);) {
    const Words row = mutants::cells(line);
    if (!row.empty()) kernels.insert(row[0].substr(0, row[0].find(' ')));
  }
  return kernels;
}

/// Whether the recorded table is this one, or, of another device, has all the mutants.
bool agrees(const std::string& text, const std::string& file,
            const mutants::List& list) {
  const std::string recorded = common::read_file(file);
  const std::size_t title = text.find('\n');
  if (recorded.compare(0, title + 1, text, 0, title + 1) == 0) return recorded == text;
  return std::all_of(list.mutants.begin(), list.mutants.end(), [&](const auto& mutant) {
    return recorded.find("\n| " + mutant.name + " ") != std::string::npos;
  });
}

int judge_all(const Options& options) {
  const mutants::List list = mutants::read_list(options.list);
  const fs::path root = fs::path(options.list).parent_path() / "../..";
  const std::string source = common::read_file(root / "src" / (list.program + ".cu"));
  std::vector<std::string> texts = {source};
  for (const auto& each : list.mutants) texts.push_back(apply(each, list, source));
  const auto folder = [&](std::size_t i) {
    return options.folder / (list.program + "-" + std::to_string(i));
  };
  build_version(options, list, source, true, folder(0));

  mutants::Mutant none;
  none.name = "none";
  Words header = {"mutant"};
  for (const auto& check : list.checks) header.push_back(check.name);
  header.push_back("otherwise");
  if (!options.test.empty()) header.push_back("test");
  std::vector<Row> rows = {{header, true}, judge(options, list, none, folder(0))};
  const std::string out = common::read_file(folder(0) / "stdout");
  const bool passes =
      std::all_of(rows[1].cells.begin() + 1, rows[1].cells.end(),
                  [](const std::string& cell) { return cell == "-"; }) &&
      (options.test.empty() || run({folder(0) / "test"}, folder(0)).code == 0);
  if (!passes) {
    throw std::runtime_error("the unchanged program fails:\n" + table(rows) + out);
  }

  const std::set<std::string> kernels = kernels_of(out);
  std::set<std::string> left_out;
  std::vector<std::size_t> wanted;
  for (std::size_t i = 0; i < list.mutants.size(); ++i) {
    const std::string kernel = std::to_string(list.mutants[i].kernel);
    if (kernel == "0" || kernels.count(kernel) > 0) {
      wanted.push_back(i);
    } else {
      left_out.insert(kernel);
    }
  }
  mutants::on_all_cores(wanted.size(), [&](std::size_t at) {
    const std::size_t i = wanted[at];
    build_version(options, list, texts[i + 1], !list.mutants[i].test.empty(),
                  folder(i + 1));
  });
  bool failed = false;
  for (std::size_t i : wanted) {
    rows.push_back(judge(options, list, list.mutants[i], folder(i + 1)));
    if (rows.back().noticed) continue;
    failed = true;
    std::fprintf(stderr, "%s:%d: %s was not noticed by: %s\n", list.file.c_str(),
                 list.mutants[i].line, list.mutants[i].name.c_str(),
                 list.mutants[i].noticed.c_str());
  }

  const std::string title = out.substr(0, out.find('\n'));
  const std::string device =
      options.gpu ? title.substr(title.find(" on ") + 4) : "a CPU";
  const std::string text =
      report(list, cases_of(options, list, {}), device, left_out, rows);
  std::fputs(text.c_str(), stdout);
  const fs::path written = options.folder / (list.program + ".md");
  common::write_atomically(written, text);
  if (!options.recorded.empty() && !agrees(text, options.recorded, list)) {
    failed = true;
    std::fprintf(stderr, "%s differs; if the new table is right: cp '%s' '%s'\n",
                 options.recorded.c_str(), written.c_str(), options.recorded.c_str());
  }
  return failed ? 1 : 0;
}

/// nvcc's command for this machine's GPU; empty where there is none.
Words gpu_command(const fs::path& folder) {
  const Run card =
      run({"nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"}, folder);
  if (card.code != 0 || run({"nvcc", "--version"}, folder).code != 0) return {};
  std::string target = card.out.substr(0, card.out.find('\n'));
  target.erase(std::remove(target.begin(), target.end(), '.'), target.end());
  if (target == "90") target += "a";
  return {"nvcc", "-w",       "-std=c++17",
          "-O3",  "-gencode", "arch=compute_" + target + ",code=sm_" + target};
}

Options parse(int argc, char** argv) {
  Options options;
  const Words words(argv + 1, argv + argc);
  if (words.size() < 3) throw std::runtime_error("usage: see main.cc");
  options.list = words[0];
  options.folder = words[1];
  int separators = 0;
  for (std::size_t i = 2; i < words.size(); ++i) {
    if (words[i] == "--" && separators < 2) {
      ++separators;
    } else if (separators > 0) {
      (separators == 1 ? options.compile : options.test).push_back(words[i]);
    } else if (words[i] == "--gpu") {
      options.gpu = true;
    } else if (words[i] == "--recorded" && i + 1 < words.size()) {
      options.recorded = words[++i];
    } else {
      throw std::runtime_error("unknown argument " + words[i]);
    }
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    Options options = parse(argc, argv);
    fs::create_directories(options.folder);
    if (options.gpu) options.compile = gpu_command(options.folder);
    if (options.compile.empty()) {
      std::puts("SKIP: no nvcc on PATH, or no NVIDIA GPU answers");
      return 77;
    }
    return judge_all(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
