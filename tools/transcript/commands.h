// What each command does; main.cc reads the arguments.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace transcript {

constexpr int kMatch = 0, kDiffer = 1, kUnusable = 2;

struct Options {
  std::string root, program, machine, format, source, rules, recorded, actual, address;
  std::vector<std::string> command, changing, facts;
  int timeout = 600;
  bool block = false;
};

/// The arguments. Each command returns the exit status, or throws.
extern Options options;

int verify();
int record_run();
int diff();
int print_status();
int get_figure();
int export_figures();

/// The comparisons so far, as JSON has them, whatever happened then.
const nlohmann::json& compared_so_far();

}  // namespace transcript
