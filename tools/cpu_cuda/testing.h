// Running a command and reading what it said, for these tests.
#pragma once

#include <doctest/doctest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <string>

#include "file.h"
#include "scratch.h"

namespace cpu_cuda::testing {

struct Result {
  int exit_code;  // 128 + the signal for a command that a signal ended
  std::string out, err;
};

/// Runs a shell command. Quoting is the caller's.
inline Result run(const std::string& command) {
  const common::Scratch scratch;
  const std::string out = scratch / "out", err = scratch / "err";
  const int status = std::system(("(" + command + ") >" + out + " 2>" + err).c_str());
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return {code, common::read_file(out), common::read_file(err)};
}

/// A variable that Meson sets for the test.
inline std::string setting(const char* name) {
  const char* value = std::getenv(name);
  REQUIRE_MESSAGE(value != nullptr, name << " is not set; run this through meson test");
  return value;
}

/// A path, or any other word, as the shell takes it for one word.
inline std::string quoted(std::string word) {
  for (std::size_t i = 0; (i = word.find('\'', i)) != std::string::npos; i += 4) {
    word.replace(i, 1, "'\\''");
  }
  return "'" + word + "'";
}

/// A program that Meson names, for a command.
inline std::string program(const char* name) {
  return quoted(setting(name));
}

/// The number of the first line of `text` that holds `mark`, as text.
inline std::string line_of(const std::string& text, const std::string& mark) {
  std::size_t line = 1;
  const std::size_t at = text.find(mark);
  REQUIRE_MESSAGE(at != std::string::npos, mark);
  for (std::size_t i = 0; i < at; ++i) line += text[i] == '\n';
  return std::to_string(line);
}

}  // namespace cpu_cuda::testing
