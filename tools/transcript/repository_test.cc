#include "repository.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <iterator>

#include "file.h"

namespace transcript {

const std::string kText =
    "# p on no GPU\n"
    "\n"
    "## case 2x2\n"
    "\n"
    "max = 34.5857\n"
    "\n"
    "| kernel | max err | time (ms) |\n"
    "| :----- | ------: | --------: |\n"
    "| f32    |   0.100 |    1.5000 |\n"
    "| int8   |   0.300 |    2.5000 |\n";

const std::string kRules =
    "[[rule]]\ncolumn = 'time (ms)'\nclass = 'reported'\n\n"
    "[[rule]]\nline = '# p on *'\nclass = 'machine'\n";

Repository::Repository(const std::string& folder) : folder_(folder) {
  fs::create_directories(root() / "transcripts/p");
  fs::create_directories(root() / "transcripts/notes");  // no program: it has no rules
  fs::create_directories(root() / "src");
  write("transcripts/p/rules.toml", kRules);
  write("src/p.cu", "int main() {}\n");
  program(print(kText));
}

void Repository::write(const std::string& name, const std::string& text) const {
  common::write_atomically(root() / name, text);
}
std::string Repository::read(const std::string& name) const {
  return common::read_file(root() / name);
}

std::string Repository::print(const std::string& text) {
  const std::string file = "out" + std::to_string(++files_);
  write(file, text);
  return "cat \"$(dirname \"$0\")/" + file + "\"\n";
}
void Repository::script(const std::string& name, const std::string& body) const {
  write(name, "#!/bin/sh\n" + body);
  fs::permissions(root() / name, fs::perms::owner_all);
}
void Repository::gpu(const std::string& name) const {
  fs::create_directories(root() / "bin");
  script("bin/nvidia-smi",
         "case $1 in *=name) echo '" + name +
             "' ;; *compute_cap) echo 9.0 ;;\n"
             "*mig*) echo '[N/A]' ;; *throttle*) exit 2 ;; *event*) echo 0x0 ;;\n"
             "*) echo 7 ;; esac\n");
}
Strings Repository::with_gpu() const {
  return {"PATH=" + path("bin") + ":" + std::getenv("PATH")};
}

RunResult Repository::transcript(const Strings& arguments,
                                 const Strings& environment) const {
  Strings command{"env", "-u", "CI"};
  command.insert(command.end(), environment.begin(), environment.end());
  command.push_back(TRANSCRIPT_EXE);
  command.insert(command.end(), arguments.begin(), arguments.end());
  return run(command);
}
RunResult Repository::verify(Strings more) const {
  more.insert(more.begin(), {"verify", "--root", root()});
  more.insert(more.end(), {"--", path("program")});
  return transcript(more);
}
Strings Repository::record_arguments(const Strings& more) const {
  Strings all{"record", "--root",         root(), "--fact", "git.commit=0123abcd",
              "--fact", "git.dirty=false"};
  all.insert(all.end(), more.begin(), more.end());
  all.insert(all.end(), {"--source", path("src/p.cu"), "--", path("program")});
  return all;
}
RunResult Repository::record(const Strings& more, const Strings& environment) const {
  return transcript(record_arguments(more), environment);
}

std::string Repository::evidence() const {
  std::string all;
  for (const char* file : {"transcripts/p/cpu.md", "transcripts/p/cpu.json"}) {
    all += fs::exists(root() / file) ? read(file) : "(none)";
  }
  return all;
}
std::size_t Repository::files() const {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(root() / "transcripts/p"), {}));
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}
bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace transcript
