#include "build.h"

#include <sys/wait.h>

#include <cstdlib>
#include <stdexcept>

#include "file.h"

namespace fs = std::filesystem;

namespace mutants {
namespace {

/// A command for the shell, with its words as they are.
std::string quoted(const Words& words) {
  std::string text;
  for (const std::string& word : words) {
    text += text.empty() ? "'" : " '";
    for (char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
    text += "'";
  }
  return text;
}

/// When anything that the command names, or its include folders hold, was last changed.
fs::file_time_type newest_input(const Words& command) {
  auto newest = fs::file_time_type::min();
  for (const std::string& word : command) {
    const fs::path path = word.rfind("-I", 0) == 0 ? word.substr(2) : word;
    std::error_code none;
    if (fs::is_regular_file(path, none)) {
      newest = std::max(newest, fs::last_write_time(path));
    } else if (path != word) {
      for (const auto& file : fs::recursive_directory_iterator(path)) {
        newest = std::max(newest, file.last_write_time());
      }
    }
  }
  return newest;
}

}  // namespace

Run run(const Words& words, const fs::path& folder, int limit) {
  const std::string out = folder / "stdout", err = folder / "stderr";
  const std::string command =
      "timeout -k 5 " + std::to_string(limit) + " " + quoted(words);
  const int status =
      std::system((command + " >" + quoted({out}) + " 2>" + quoted({err})).c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
          common::read_file(out), common::read_file(err)};
}

void build(Words command, const fs::path& source, const fs::path& output) {
  const auto changed = std::max(newest_input(command), fs::last_write_time(source));
  command.insert(command.end(), {"-o", output});
  const fs::path done = output.string() + ".command";
  if (fs::exists(output) && fs::exists(done) && fs::last_write_time(output) > changed &&
      common::read_file(done) == quoted(command)) {
    return;
  }
  const Run result = run(command, output.parent_path(), kLongLimit);
  if (result.code != 0) throw std::runtime_error(result.err + quoted(command));
  common::write_atomically(done, quoted(command));
}

void write_if_changed(const fs::path& file, const std::string& text) {
  if (!fs::exists(file) || common::read_file(file) != text) {
    common::write_atomically(file, text);
  }
}

}  // namespace mutants
