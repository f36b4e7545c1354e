// A small repository for the tests of the command: real processes, real files.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "process.h"
#include "scratch.h"

namespace transcript {

namespace fs = std::filesystem;
using Strings = std::vector<std::string>;

extern const std::string kText, kRules;

/// With one program, "p": a shell script that runs `body`.
struct Repository {
  explicit Repository(const std::string& folder = "repository");

  fs::path root() const { return fs::canonical(scratch_.path()) / folder_; }
  std::string path(const std::string& name) const { return (root() / name).string(); }
  void write(const std::string& name, const std::string& text) const;
  std::string read(const std::string& name) const;

  /// A line of shell that prints `text` byte for byte.
  std::string print(const std::string& text);
  void program(const std::string& body) const { script("program", body); }
  void script(const std::string& name, const std::string& body) const;
  /// An nvidia-smi that shows one GPU, for with_gpu().
  void gpu(const std::string& name) const;
  Strings with_gpu() const;

  RunResult transcript(const Strings& arguments, const Strings& environment = {}) const;
  RunResult verify(Strings more = {}) const;
  Strings record_arguments(const Strings& more = {}) const;
  RunResult record(const Strings& more = {}, const Strings& environment = {}) const;
  RunResult status() const { return transcript({"status", "--root", root()}); }

  /// Both files of the evidence, to see that they stand as they were.
  std::string evidence() const;
  std::size_t files() const;

  common::Scratch scratch_;
  std::string folder_;
  int files_ = 0;
};

std::string replaced(std::string text, const std::string& from, const std::string& to);
bool contains(const std::string& text, const std::string& part);

}  // namespace transcript
