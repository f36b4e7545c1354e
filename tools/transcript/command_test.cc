// The command as people run it: real processes, real files, exit statuses.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>
#include <future>
#include <nlohmann/json.hpp>

#include "file.h"
#include "hash.h"
#include "process.h"
#include "provenance.h"
#include "scratch.h"
#include "text.h"

namespace {

namespace fs = std::filesystem;
using namespace transcript;
using nlohmann::json;

const std::string kText =
    "GPU: none (compute capability 0.0)\n"
    "\n"
    "case 2x2, max = 34.5857\n"
    "  kernel    max err  time (ms)\n"
    "  f32         0.100     1.5000\n"
    "  int8        0.300     2.5000\n";

const std::string kRules =
    "[[rule]]\ncolumn = 'time (ms)'\nclass = 'time'\n\n"
    "[[rule]]\nline = 'GPU: * (compute capability *)'\nclass = 'device'\n";

/// A repository with one program, "p": a shell script that runs `body`.
class Repository {
 public:
  Repository() {
    fs::create_directories(root() / "transcripts/p");
    fs::create_directories(root() / "src");
    write("transcripts/p/rules.toml", kRules);
    write("src/p.cu", "int main() {}\n");
    program(print(kText));
  }

  const fs::path& root() const { return scratch_.path(); }
  std::string path(const std::string& name) const { return (root() / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    common::write_atomically(root() / name, text);
  }
  std::string read(const std::string& name) const {
    return common::read_file(root() / name);
  }

  /// A line of shell that prints `text` byte for byte.
  std::string print(const std::string& text) {
    const std::string file = "out" + std::to_string(++files_);
    write(file, text);
    return "cat " + path(file) + "\n";
  }
  void program(const std::string& body) const {
    write("program", "#!/bin/sh\n" + body);
    fs::permissions(root() / "program", fs::perms::owner_all);
  }

  RunResult transcript(std::vector<std::string> arguments,
                       const std::string& environment = "") const {
    std::vector<std::string> command{"env", "-u", "CI"};
    if (!environment.empty()) command.push_back(environment);
    command.push_back(TRANSCRIPT_EXE);
    command.insert(command.end(), arguments.begin(), arguments.end());
    return run(command);
  }
  RunResult verify(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"verify", "--root", root(), "--cpu-build",
                               path("program"), "--gpu-build", path("none")});
    return transcript(more);
  }
  std::vector<std::string> record_arguments(const std::string& machine = "cpu") const {
    return {"record",      "--root",     root(),         "--cpu-build", path("program"),
            "--gpu-build", path("none"), "--git-commit", "0123abcd",    "--git-dirty",
            "false",       "--machine",  machine};
  }
  RunResult record(const std::vector<std::string>& more = {},
                   const std::string& environment = "") const {
    std::vector<std::string> arguments = record_arguments();
    arguments.insert(arguments.end(), more.begin(), more.end());
    return transcript(arguments, environment);
  }
  RunResult status() const { return transcript({"status", "--root", root()}); }

  /// Both files of the evidence, to see that they stand as they were.
  std::string evidence() const {
    std::string all;
    for (const char* file : {"transcripts/p/cpu.txt", "transcripts/p/cpu.json"}) {
      all += fs::exists(root() / file) ? read(file) : "(none)";
    }
    return all;
  }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(root() / "transcripts/p"), {}));
  }

 private:
  common::Scratch scratch_;
  int files_ = 0;
};

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("what was recorded verifies, and is fresh") {
  Repository repository;
  const RunResult recorded = repository.record();
  CHECK(recorded.status == 0);
  CHECK(recorded.err == "");
  CHECK(recorded.out.substr(0, 44) == "recorded transcripts/p/cpu.txt: 153 bytes in");
  CHECK(repository.read("transcripts/p/cpu.txt") == kText);
  CHECK(repository.files() == 3);

  const RunResult verified = repository.verify();
  CHECK(verified.status == 0);
  CHECK(verified.out ==
        "--- transcripts/p/cpu.txt\n"
        "+++ the CPU build\n"
        "\n"
        "match: 8 figures in 6 lines, 3 reported only (0 changed)\n");
  const RunResult status = repository.status();
  CHECK(status.status == 0);
  CHECK(status.out == "fresh: 1 transcript\n");
}

TEST_CASE("a changed figure is exit 1, with the figure's name") {
  Repository repository;
  REQUIRE(repository.record().status == 0);
  repository.program(repository.print(replaced(kText, "0.300", "0.302")));
  const RunResult result = repository.verify();
  CHECK(result.status == 1);
  CHECK(result.out ==
        "--- transcripts/p/cpu.txt\n"
        "+++ the CPU build\n"
        "\n"
        "case 2x2\n"
        "  int8 / max err  (line 6)\n"
        "    -0.300\n"
        "    +0.302\n"
        "    change +0.002 (+0.667 %); class: last place, 0.001\n"
        "\n"
        "1 difference in 8 figures and 6 lines, 3 reported only (0 changed)\n");
  const json report = json::parse(repository.verify({"--format", "json"}).out);
  CHECK(report[0]["differences"][0]["address"] == "case 2x2 / int8 / max err");
  CHECK(contains(repository.verify({"--format", "junit"}).out, "failures=\"1\""));
}

TEST_CASE("a run is compared with every machine's evidence, or with one") {
  Repository repository;
  REQUIRE(repository.record().status == 0);
  repository.write("transcripts/p/tesla-t4.txt", replaced(kText, "0.100", "0.200"));
  const RunResult all = repository.verify();
  CHECK(all.status == 1);
  CHECK(contains(all.out, "--- transcripts/p/cpu.txt"));
  CHECK(contains(all.out, "--- transcripts/p/tesla-t4.txt"));
  CHECK(repository.verify({"--machine", "cpu"}).status == 0);
  CHECK(repository.verify({"--machine", "tesla-t4"}).status == 1);
}

TEST_CASE("a program that fails is exit 3, whatever it printed") {
  Repository repository;
  REQUIRE(repository.record().status == 0);
  const auto after = [&](const std::string& body) {
    repository.program(body);
    const RunResult result = repository.verify();
    CHECK(result.out == "");
    return std::to_string(result.status) + " " + result.err;
  };
  const std::string print = repository.print(kText);
  CHECK(after(print + "exit 3\n") ==
        "3 transcript: the CPU build exited with status 3\n");
  CHECK(after(print + "echo 'no luck' >&2; exit 1\n") ==
        "3 no luck\ntranscript: the CPU build exited with status 1\n");
  CHECK(after(print + "kill -SEGV $$\n") ==
        "3 transcript: the CPU build was killed by SIGSEGV (Segmentation fault)\n");
  CHECK(after("") == "3 transcript: the CPU build printed nothing\n");
  CHECK(after("echo; echo '  '\n") == "3 transcript: the CPU build printed nothing\n");
  repository.write("program", "#!/no/such/shell\n");
  CHECK(after("\n").size() > 0);
}

TEST_CASE("a hang with a grandchild is exit 4, soon after the timeout") {
  Repository repository;
  REQUIRE(repository.record().status == 0);
  repository.program(repository.print(kText) + "sleep 100 & sleep 100\n");
  const RunResult result = repository.verify({"--timeout", "0.3"});
  CHECK(result.status == 4);
  CHECK(result.err == "transcript: the CPU build did not end within 0.3 s\n");
  CHECK(result.seconds < 5);
}

TEST_CASE("oddities of the output are noted and do not matter") {
  Repository repository;
  REQUIRE(repository.record().status == 0);
  const auto note = [&](const std::string& body) {
    repository.program(body);
    const RunResult result = repository.verify();
    CHECK(result.status == 0);
    const std::size_t at = result.out.find("note: ");
    return at == std::string::npos
               ? ""
               : result.out.substr(at, result.out.find('\n', at) - at);
  };
  std::string crlf;
  for (const char c : kText) crlf += c == '\n' ? "\r\n" : std::string(1, c);
  CHECK(note(repository.print(crlf)) == "note: the CPU build: CRLF line endings");
  CHECK(note(repository.print("\x1B[1m" + kText + "\x1B[0m")) ==
        "note: the CPU build: ANSI escapes stripped");
  CHECK(note(repository.print(kText.substr(0, kText.size() - 1))) ==
        "note: the CPU build: no newline at the end");
  CHECK(note(repository.print(kText) +
             "head -c 1000000 /dev/zero | tr '\\0' e >&2\n") == "");
  CHECK(note(repository.print(kText) + "sleep 100 &\n") ==
        "note: a process that it left running held its output open, and was ended");
}

TEST_CASE("invalid UTF-8 is shown as bytes, in every format") {
  Repository repository;
  REQUIRE(repository.record().status == 0);
  repository.program(repository.print(replaced(kText, "int8",
                                               "in\xFF"
                                               "8")));
  const RunResult result = repository.verify();
  CHECK(result.status == 1);
  CHECK(contains(result.out, "    +in\\xFF8\n"));
  CHECK(
      contains(result.out, "note: the CPU build: invalid UTF-8 (first at byte 126)\n"));
  CHECK(json::parse(repository.verify({"--format", "json"}).out)[0]["differing"] == 1);
  CHECK(contains(repository.verify({"--format", "junit"}).out, "in\\xFF8"));
}

TEST_CASE("a gigabyte of output is cut off, and a failure") {
  Repository repository;
  REQUIRE(repository.record().status == 0);
  repository.program("head -c 1000000000 /dev/zero | tr '\\0' x\n");
  const RunResult result = repository.verify();
  CHECK(result.status == 3);
  CHECK(result.err == "transcript: the CPU build printed more than 64000000 bytes\n");
  CHECK(result.seconds < 20);
}

TEST_CASE("recording refuses a failing run and keeps the old evidence") {
  Repository repository;
  REQUIRE(repository.record().status == 0);
  const std::string before = repository.evidence();
  const auto refused = [&](const std::string& body,
                           const std::vector<std::string>& more = {}) {
    repository.program(body);
    const RunResult result = repository.record(more);
    CHECK(result.out == "");
    CHECK(repository.evidence() == before);
    CHECK(repository.files() == 3);
    return std::to_string(result.status) + " " + result.err;
  };
  const std::string print = repository.print(kText);
  CHECK(refused(print + "echo why >&2; exit 3\n") ==
        "3 why\nnot recorded: the program exited with status 3\n");
  // Of much that it said, the end says why.
  CHECK(
      refused("seq 5000 >&2; exit 3\n")
          .ends_with("\n4999\n5000\nnot recorded: the program exited with status 3\n"));
  CHECK(refused(print + "kill -KILL $$\n") ==
        "3 not recorded: the program was killed by SIGKILL (Killed)\n");
  CHECK(refused("") == "3 not recorded: the program printed nothing\n");
  CHECK(refused(print + "sleep 100\n", {"--timeout", "0.2"}) ==
        "4 not recorded: the program did not end within 0.2 s\n");
  CHECK(refused("yes\n", {"--max-output", "1"}) ==
        "3 not recorded: the program printed more than 1000000 bytes\n");
  CHECK(
      refused(print + "sleep 100 &\n") ==
      "3 not recorded: the program left a process running that held its output open\n");
}

TEST_CASE("recording refuses to run where CI is set") {
  Repository repository;
  REQUIRE(repository.record().status == 0);
  const std::string before = repository.evidence();
  repository.program("touch " + repository.path("ran") + "\n" +
                     repository.print(kText));
  const RunResult result = repository.record({}, "CI=true");
  CHECK(result.status == 2);
  CHECK(result.err == "not recorded: CI is set, and evidence is recorded by people\n");
  CHECK(repository.evidence() == before);
  CHECK_FALSE(fs::exists(repository.path("ran")));
}

TEST_CASE("recording refuses figures that disagree with the same source's evidence") {
  Repository repository;
  REQUIRE(repository.record().status == 0);
  const std::string before = repository.evidence();
  std::string other = replaced(kText, "0.300", "0.305");
  other = replaced(other, "2.5000", "9.7531");  // a time may differ
  repository.program(repository.print(other));

  const RunResult refused = repository.record();
  CHECK(refused.status == 1);
  CHECK(refused.err ==
        "--- transcripts/p/cpu.txt\n"
        "+++ the new run\n"
        "\n"
        "case 2x2\n"
        "  int8 / max err  (line 6)\n"
        "    -0.300\n"
        "    +0.305\n"
        "    change +0.005 (+1.67 %); class: last place, 0.001\n"
        "\n"
        "1 difference in 8 figures and 6 lines, 3 reported only (1 changed)\n"
        "not recorded: the run disagrees with evidence of the same source; if figures "
        "are "
        "meant to change, name them with --changing\n");
  CHECK(repository.evidence() == before);
  CHECK(repository.transcript(repository.record_arguments("tesla-t4")).status == 1);
  CHECK_FALSE(fs::exists(repository.path("transcripts/p/tesla-t4.txt")));
  CHECK(repository.record({"--changing", "case 2x2 / f32 / *"}).status == 1);
  CHECK(repository.evidence() == before);

  CHECK(repository.record({"--changing", "case * / int8 / max err"}).status == 0);
  CHECK(repository.read("transcripts/p/cpu.txt") == other);
}

TEST_CASE("evidence of another source does not bind a recording") {
  Repository repository;
  REQUIRE(repository.record().status == 0);
  repository.write("src/p.cu", "int main() { return 0; }\n");
  repository.program(repository.print(replaced(kText, "0.300", "0.305")));
  CHECK(repository.record().status == 0);
}

TEST_CASE("an excuse reaches every difference, not only those listed") {
  Repository repository;
  std::string many = kText + "\nmany\n", other = many;
  for (int i = 0; i < 5000; ++i) {
    many += "  row" + std::to_string(i) + "x = 1\n";
    other += "  row" + std::to_string(i) + "x = 2\n";
  }
  repository.program(repository.print(many));
  REQUIRE(repository.record().status == 0);
  repository.program(repository.print(replaced(other, "0.300", "0.305")));
  const RunResult refused = repository.record({"--changing", "many / *"});
  CHECK(refused.status == 1);
  CHECK(contains(refused.err, "\n1 difference in 5008 figures "));
  CHECK(contains(refused.err, "  int8 / max err  (line 6)\n"));
  CHECK(repository.record({"--changing", "case *"}).status == 1);
  CHECK(repository.record({"--changing", "*"}).status == 0);
}

TEST_CASE("an empty pattern excuses nothing") {
  Repository repository;
  REQUIRE(repository.record().status == 0);
  const std::string before = repository.evidence();
  repository.program(repository.print(replaced(kText, "0.300", "0.305")));
  for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{
           {"--changing", ""}, {"--changing", "case *", "--changing", ""}}) {
    const RunResult result = repository.record(more);
    CHECK(result.status == 2);
    CHECK(result.err ==
          "not recorded: --changing has an empty pattern; write '*' if every figure is "
          "meant to change\n");
    CHECK(repository.evidence() == before);
  }
}

TEST_CASE("altered evidence does not bind a recording") {
  Repository repository;
  REQUIRE(repository.record().status == 0);
  for (const std::string& altered :
       {replaced(kText, "0.300", "0.301"), std::string(), std::string("\n")}) {
    repository.write("transcripts/p/cpu.txt", altered);
    CHECK(
        contains(repository.status().out, "  it was altered since it was recorded\n"));
    const RunResult result = repository.record();
    CHECK(result.status == 0);
    CHECK(result.err == "");
    CHECK(repository.read("transcripts/p/cpu.txt") == kText);
    CHECK(repository.status().status == 0);
  }
  // Not even where the hash was altered as well, when there is nothing to agree with.
  json document = json::parse(repository.read("transcripts/p/cpu.json"));
  document["stdout"]["sha256"] = sha256("\n");
  repository.write("transcripts/p/cpu.txt", "\n");
  repository.write("transcripts/p/cpu.json", document.dump());
  CHECK(repository.record().status == 0);
}

TEST_CASE("provenance that cannot be used stops the recording, with a remedy") {
  Repository repository;
  REQUIRE(repository.record().status == 0);
  const json whole = json::parse(repository.read("transcripts/p/cpu.json"));
  json hash = whole, source = whole, text = whole;
  hash["stdout"]["sha256"] = 5;
  source["source_sha256"] = nullptr;
  text["stdout"] = "some";
  repository.program("touch " + repository.path("ran") + "\n" +
                     repository.print(kText));
  const auto refused = [&](const std::string& provenance) {
    repository.write("transcripts/p/cpu.json", provenance);
    const std::string before = repository.evidence();
    const RunResult result = repository.record();
    CHECK(result.status == 2);
    CHECK(result.out == "");
    CHECK(repository.evidence() == before);
    CHECK_FALSE(fs::exists(repository.path("ran")));
    const RunResult other = repository.transcript(repository.record_arguments("t4"));
    CHECK(other.err == result.err);
    const RunResult status = repository.status();
    CHECK(contains(status.out,
                   "  refresh: remove transcripts/p/cpu.json, then transcript record "
                   "--program p --machine cpu\n"));
    return result.err;
  };
  const std::string remedy = "; restore it, or remove it and record again\n";
  const std::string file = "not recorded: transcripts/p/cpu.json";
  CHECK(refused("{") == file + " is not JSON" + remedy);
  const std::string deep =
      "{\"x\":" + std::string(1000000, '[') + std::string(1000000, ']') + "}";
  CHECK(refused(deep) == file + " is not JSON" + remedy);
  CHECK(refused("[]") == file + ": it is not a JSON object" + remedy);
  CHECK(refused("null") == file + ": it is not a JSON object" + remedy);
  CHECK(refused(hash.dump()) == file + ": 'stdout.sha256' is not a string" + remedy);
  CHECK(refused(source.dump()) == file + ": 'source_sha256' is not a string" + remedy);
  CHECK(refused(text.dump()) == file + ": 'stdout' is not a JSON object" + remedy);
  fs::remove(repository.path("transcripts/p/cpu.json"));
  CHECK(repository.record().status == 0);
}

TEST_CASE("a run that agrees with no rerun is not recorded") {
  Repository repository;
  REQUIRE(repository.record().status == 0);
  const std::string before = repository.evidence();
  const auto refused = [&](const std::string& time) {
    repository.program(repository.print(replaced(kText, "1.5000", time)));
    const RunResult result = repository.record({"--changing", "*"});
    CHECK(result.status == 2);
    CHECK(repository.evidence() == before);
    return result.err;
  };
  CHECK(refused("0.0000") ==
        "--- transcripts/p/cpu.txt\n"
        "+++ itself\n"
        "\n"
        "case 2x2\n"
        "  f32 / time (ms)  (line 5)\n"
        "    -0.0000\n"
        "    +0.0000\n"
        "    change +0; class: time: a positive number or 'not timed'\n"
        "\n"
        "1 difference in 8 figures and 6 lines, 2 reported only (0 changed)\n"
        "not recorded: by these rules the run does not agree even with itself; correct "
        "the program or the rules\n");
  CHECK(contains(refused("   nan"), "\n  f32 / time (ms)  (line 5)\n    -nan\n"));
}

TEST_CASE("rules that do not fit the new evidence stop the recording") {
  Repository repository;
  REQUIRE(repository.record().status == 0);
  const std::string before = repository.evidence();
  repository.write("transcripts/p/rules.toml",
                   kRules + "[[rule]]\nrow = 'fp8'\nclass = 'exact'\n");
  const RunResult result = repository.record();
  CHECK(result.status == 2);
  CHECK(contains(result.err,
                 "transcripts/p/rules.toml:8: this rule matches nothing in "));
  CHECK(repository.evidence() == before);
}

TEST_CASE("the first evidence must fit the rules as well") {
  Repository repository;
  repository.write("transcripts/p/rules.toml",
                   kRules + "[[rule]]\nrow = 'fp8'\nclass = 'exact'\n");
  CHECK(repository.record().status == 2);
  CHECK(repository.evidence() == "(none)(none)");
}

TEST_CASE("a full disk leaves the old evidence, and no half of the new") {
  Repository repository;
  const std::string folder = repository.path("transcripts/p");
  REQUIRE(repository.record().status == 0);
  // More than a small file system has room for: 100 kB of notes.
  std::string longer = kText + "\nnotes\n";
  for (int i = 0; i < 2000; ++i)
    longer += "  a line of some fifty characters, more or less\n";
  repository.write("src/p.cu", "// changed\nint main() {}\n");
  repository.program(repository.print(longer));

  const fs::path small = repository.path("small");
  fs::create_directory(small);
  const RunResult mounted =
      run({"mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", small.string()});
  if (mounted.ok()) {
    MESSAGE("on a tmpfs of 64 KiB");
    fs::copy(folder, small, fs::copy_options::recursive);
    fs::rename(folder, repository.path("kept"));
    fs::create_directory_symlink(small, folder);
    const std::string before = repository.evidence();
    const RunResult result = repository.record();
    CHECK(result.status == 2);
    INFO(result.err);
    CHECK(contains(result.err, "No space left on device"));
    CHECK(repository.evidence() == before);
    CHECK(repository.files() == 3);
    CHECK(run({"umount", small.string()}).ok());
    fs::remove(folder);
    fs::rename(repository.path("kept"), folder);
  } else {
    MESSAGE("no tmpfs may be mounted here");
  }

  const std::string before = repository.evidence();
  std::string line = "trap '' XFSZ; ulimit -f 8; exec env -u CI " TRANSCRIPT_EXE;
  for (const std::string& argument : repository.record_arguments()) {
    line += " '" + argument + "'";
  }
  const RunResult result = run({"sh", "-c", line});
  CHECK(result.status == 2);
  CHECK(contains(result.err, "File too large"));
  CHECK(repository.evidence() == before);
  CHECK(repository.files() == 3);
}

TEST_CASE("kill -9 at any step leaves the old pair or the new one") {
  Repository repository;
  REQUIRE(repository.record().status == 0);
  const std::string old_text = repository.read("transcripts/p/cpu.txt");
  const std::string new_text = replaced(kText, "0.300", "0.400");
  int kept_old = 0, became_new = 0;
  for (int at = 1;; ++at) {
    Repository fresh;
    REQUIRE(fresh.record().status == 0);
    const std::string before = fresh.evidence();
    fresh.write("src/p.cu", "// changed\n");
    fresh.program(fresh.print(new_text));
    const RunResult result = [&] {
      std::vector<std::string> command{"env",
                                       "-u",
                                       "CI",
                                       "LD_PRELOAD=" KILL_AT_LIBRARY,
                                       "KILL_AT=" + std::to_string(at),
                                       TRANSCRIPT_EXE};
      for (const std::string& argument : fresh.record_arguments()) {
        command.push_back(argument);
      }
      return run(command);
    }();
    if (result.ok()) break;
    REQUIRE(result.end == RunResult::End::signaled);
    const std::string text = fresh.read("transcripts/p/cpu.txt");
    const RunResult status = fresh.status();
    INFO("killed at step ", at, ":\n", status.out);
    CHECK_FALSE(contains(status.out, "altered"));
    if (text == old_text) {
      ++kept_old;
      CHECK(fresh.evidence() == before);
      CHECK(contains(status.out, "src/p.cu changed since"));
    } else {
      ++became_new;
      CHECK(text == new_text);
      CHECK(status.status == 0);
    }
    // The next recording cleans up and completes.
    CHECK(fresh.record().status == 0);
    CHECK(fresh.read("transcripts/p/cpu.txt") == new_text);
    CHECK(fresh.files() == 3);
    CHECK(fresh.status().status == 0);
  }
  CHECK(kept_old == 5);  // before either file is complete, and before the text's rename
  CHECK(became_new == 1);  // between the text's rename and the provenance's
}

TEST_CASE("recording leaves the files of others alone") {
  Repository repository;
  REQUIRE(repository.record().status == 0);
  for (const char* file : {"cpu.txt.backup", "cpu.json.new.backup", "cpu.json.new",
                           "cpu.txt.AbC123", ".cpu.txt.swp"}) {
    repository.write(std::string("transcripts/p/") + file, "kept\n");
  }
  CHECK(repository.record().status == 0);
  CHECK(repository.files() == 3 + 5);
}

TEST_CASE("a recording waits while another one compares and saves") {
  Repository repository;
  const int folder =
      ::open(repository.path("transcripts/p").c_str(), O_RDONLY | O_CLOEXEC);
  REQUIRE(::flock(folder, LOCK_EX) == 0);
  auto recording =
      std::async(std::launch::async, [&] { return repository.record().status; });
  CHECK(recording.wait_for(std::chrono::milliseconds(700)) ==
        std::future_status::timeout);
  CHECK(repository.evidence() == "(none)(none)");
  ::close(folder);
  CHECK(recording.get() == 0);
  CHECK(repository.files() == 3);
}

TEST_CASE("recordings at one time leave one pair of files") {
  Repository repository;
  // Each prints a figure of its own; all have started before the first one ends.
  repository.program(
      "touch " + repository.path("started") + ".$$\n" + "until [ -e " +
      repository.path("go") + " ]; do sleep 0.01; done\n" +
      "printf 'max = %d.5\\nGPU: none (compute capability 0.0)\\n' $$\n");
  repository.write("transcripts/p/rules.toml",
                   "[[rule]]\nline = 'GPU: * (compute capability *)'\n"
                   "class = 'device'\n");
  const auto at_once = [&](const std::vector<std::string>& more) {
    for (const auto& entry : fs::directory_iterator(repository.root())) {
      const std::string file = entry.path().filename();
      if (file == "go" || file.substr(0, 7) == "started") fs::remove(entry.path());
    }
    std::vector<std::future<RunResult>> recordings;
    for (int i = 0; i < 6; ++i) {
      recordings.push_back(
          std::async(std::launch::async, [&] { return repository.record(more); }));
    }
    for (int started = 0; started < 6; ::usleep(10000)) {
      started = 0;
      for (const auto& entry : fs::directory_iterator(repository.root())) {
        started += entry.path().filename().string().substr(0, 7) == "started";
      }
    }
    repository.write("go", "");
    std::vector<RunResult> results;
    for (auto& recording : recordings) results.push_back(recording.get());
    CHECK(repository.files() == 3);
    CHECK(repository.status().out == "fresh: 1 transcript\n");
    return results;
  };
  for (int round = 0; round < 5; ++round) {
    for (const RunResult& result : at_once({"--changing", "*"})) {
      CHECK(result.status == 0);
      CHECK(result.err == "");
    }
  }
  fs::remove(repository.path("transcripts/p/cpu.txt"));
  fs::remove(repository.path("transcripts/p/cpu.json"));
  int recorded = 0;
  for (const RunResult& result : at_once({})) {
    recorded += result.status == 0;
    if (result.status == 0) continue;
    CHECK(result.status == 1);
    CHECK(
        contains(result.err, "not recorded: the run disagrees with evidence of the "));
  }
  CHECK(recorded == 1);
}

TEST_CASE("recording refuses to part a symbolic link from what it names") {
  for (const std::string& file :
       std::vector<std::string>{"transcripts/p/cpu.txt", "transcripts/p/cpu.json"}) {
    Repository repository;
    REQUIRE(repository.record().status == 0);
    fs::rename(repository.path(file), repository.path("elsewhere"));
    fs::create_symlink(repository.path("elsewhere"), repository.path(file));
    const std::string before = repository.evidence();
    const RunResult result = repository.record();
    CHECK(result.status == 2);
    CHECK(result.err == "transcript: " + file +
                            ": is a symbolic link; put the file itself in its place\n");
    CHECK(repository.evidence() == before);
    CHECK(fs::is_symlink(repository.path(file)));
    CHECK(repository.verify().status == 0);
  }
}

TEST_CASE("kill -9 while the program runs changes nothing") {
  Repository repository;
  REQUIRE(repository.record().status == 0);
  const std::string before = repository.evidence();
  repository.program(repository.print(kText) + "kill -KILL $PPID\nsleep 1\n");
  CHECK(repository.record().end == RunResult::End::signaled);
  CHECK(repository.evidence() == before);
  CHECK(repository.files() == 3);
}

TEST_CASE("status names every reason and the command that refreshes") {
  Repository repository;
  CHECK(repository.status().out ==
        "transcripts/p: stale\n"
        "  it holds no evidence\n"
        "  refresh: transcript record --program p\n");
  REQUIRE(repository.record().status == 0);
  const auto stale = [&] {
    const RunResult result = repository.status();
    CHECK(result.status == 1);
    return result.out;
  };
  const std::string refresh =
      "  refresh: transcript record --program p --machine cpu\n";

  const std::string source = repository.read("src/p.cu");
  repository.write("src/p.cu", source + "// more\n");
  CHECK(stale() ==
        "transcripts/p/cpu.txt: stale\n  src/p.cu changed since\n" + refresh);
  repository.write("src/p.cu", source);

  repository.write("transcripts/p/rules.toml", kRules + "# more\n");
  CHECK(stale() ==
        "transcripts/p/cpu.txt: stale\n  transcripts/p/rules.toml changed since\n" +
            refresh);
  repository.write("transcripts/p/rules.toml", kRules);

  repository.write("transcripts/p/cpu.txt", replaced(kText, "0.300", "0.301"));
  CHECK(stale() ==
        "transcripts/p/cpu.txt: stale\n  it was altered since it was recorded\n" +
            refresh);
  repository.write("transcripts/p/cpu.txt", kText);

  const std::string provenance = repository.read("transcripts/p/cpu.json");
  json document = json::parse(provenance);
  document["git"]["dirty"] = true;
  repository.write("transcripts/p/cpu.json", document.dump());
  CHECK(stale() ==
        "transcripts/p/cpu.txt: stale\n"
        "  it was recorded from a tree with uncommitted changes\n" +
            refresh);
  document["git"]["dirty"] = false;
  document["exit_status"] = 1;
  repository.write("transcripts/p/cpu.json", document.dump());
  CHECK(stale() == "transcripts/p/cpu.txt: stale\n  the program failed\n" + refresh);
  document["exit_status"] = 0;
  document["git"]["dirty"] = nullptr;
  repository.write("transcripts/p/cpu.json", document.dump());
  CHECK(stale() ==
        "transcripts/p/cpu.txt: stale\n"
        "  transcripts/p/cpu.json: 'git.dirty' is null without a reason\n" +
            refresh);
  document["unknown"]["git.dirty"] = "no git";
  repository.write("transcripts/p/cpu.json", document.dump());
  CHECK(stale() ==
        "transcripts/p/cpu.txt: stale\n"
        "  it is not known to come from a clean commit: no git\n" +
            refresh);
  repository.write("transcripts/p/cpu.json", "{");
  CHECK(stale() ==
        "transcripts/p/cpu.txt: stale\n"
        "  transcripts/p/cpu.json is not JSON\n"
        "  refresh: remove transcripts/p/cpu.json, then transcript record --program p "
        "--machine cpu\n");
  fs::remove(repository.path("transcripts/p/cpu.json"));
  CHECK(stale() ==
        "transcripts/p/cpu.txt: stale\n  transcripts/p/cpu.json is missing\n" +
            refresh);
  repository.write("transcripts/p/cpu.json", provenance);
  CHECK(repository.status().status == 0);

  const std::string idle = kRules + "[[rule]]\nrow = 'fp9'\nclass = 'absent-ok'\n";
  repository.write("transcripts/p/rules.toml", idle);
  CHECK(contains(stale(),
                 "transcripts/p/rules.toml:8: stale\n"
                 "  this rule matches nothing in any evidence\n"));
}

TEST_CASE("provenance has every field, and nothing that tells who and where") {
  Repository repository;
  std::vector<std::string> more{"--", repository.path("program"),
                                "--input=" + repository.path("secret")};
  REQUIRE(repository.record(more).status == 0);
  const std::string text = repository.read("transcripts/p/cpu.json");
  const json document = json::parse(text);
  CHECK(check_provenance(document) == "");
  CHECK(document["command"] == json{"program", "--input=secret"});
  CHECK(document["exit_status"] == 0);
  CHECK(document["signal"].is_null());
  CHECK(document["unknown"]["signal"] == "the program exited by itself");
  CHECK(document["stdout"] == json{{"bytes", kText.size()}, {"sha256", sha256(kText)}});
  CHECK(document["source"] == "p.cu");
  CHECK(document["source_sha256"] == sha256("int main() {}\n"));
  CHECK(document["rules_sha256"] == sha256(kRules));
  CHECK(document["binary_sha256"] == sha256(repository.read("program")));
  CHECK(document["git"] == json{{"commit", "0123abcd"}, {"dirty", false}});
  CHECK(document["gpu"]["name"].is_null());
  CHECK(document["unknown"]["gpu.name"] == "the program ran on the CPU");
  CHECK(document["os"]["kernel"].get<std::string>().substr(0, 6) == "Linux ");
  char host[256] = "";
  ::gethostname(host, sizeof host);
  if (std::string(host).size() > 4) CHECK_FALSE(contains(text, host));
  CHECK_FALSE(contains(text, "/" + repository.root().filename().string()));
  for (const char* variable : {"HOME", "PATH", "PWD"}) {
    const char* value = std::getenv(variable);
    if (value != nullptr) CHECK_FALSE(contains(text, value));
  }
}

TEST_CASE("git tells the commit, and whether more than evidence changed since") {
  Repository repository;
  const auto git = [&](std::vector<std::string> arguments) {
    std::vector<std::string> command{"git",         "-C", repository.root(), "-c",
                                     "user.name=n", "-c", "user.email=e"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return run(command);
  };
  if (!git({"init", "-q"}).ok()) {
    MESSAGE("no git here");
    return;
  }
  repository.write(".gitignore", "/out*\n/program\n");
  REQUIRE(git({"add", "-A"}).ok());
  REQUIRE(git({"commit", "-qm", "first"}).ok());
  const std::vector<std::string> record{
      "record", "--root", repository.root(),         "--machine",
      "cpu",    "--",     repository.path("program")};
  REQUIRE(repository.transcript(record).status == 0);
  const auto recorded = [&] {
    return json::parse(repository.read("transcripts/p/cpu.json"))["git"];
  };
  CHECK(recorded()["commit"].get<std::string>() + "\n" ==
        git({"rev-parse", "HEAD"}).out);
  CHECK(recorded()["dirty"] == false);
  REQUIRE(repository.transcript(record).status == 0);  // its own evidence is not dirt
  CHECK(recorded()["dirty"] == false);
  CHECK(repository.status().status == 0);
  repository.write("src/p.cu", "changed\n");
  REQUIRE(repository.transcript(record).status == 0);
  CHECK(recorded()["dirty"] == true);
  CHECK(contains(repository.status().out, "from a tree with uncommitted changes"));
}

TEST_CASE("diff compares two files, or one with standard input") {
  Repository repository;
  repository.write("a.txt", kText);
  repository.write("b.txt", replaced(kText, "1.5000", "1.6000"));
  const std::string a = repository.path("a.txt"), b = repository.path("b.txt");
  CHECK(repository.transcript({"diff", a, a}).status == 0);
  CHECK(repository.transcript({"diff", a, b}).status == 1);
  const std::string rules = repository.path("transcripts/p/rules.toml");
  CHECK(repository.transcript({"diff", "--rules", rules, a, b}).status == 0);
  // The rules beside the recording apply by themselves.
  repository.write("transcripts/p/cpu.txt", kText);
  const std::string cpu = repository.path("transcripts/p/cpu.txt");
  CHECK(repository.transcript({"diff", cpu, b}).status == 0);
  CHECK(repository.transcript({"diff", "--exact", cpu, b}).status == 1);
  CHECK(run({"sh", "-c", TRANSCRIPT_EXE " diff " + a + " - < " + a}).status == 0);
  CHECK(run({"sh", "-c", TRANSCRIPT_EXE " diff - " + b + " < " + a}).status == 1);
  const RunResult nothing = repository.transcript({"diff", a, "/dev/null"});
  CHECK(nothing.status == 2);
  CHECK(nothing.err == "/dev/null: has no text: there is nothing to compare\n");
  const RunResult missing = repository.transcript({"diff", a, "/no/such"});
  CHECK(missing.status == 2);
  CHECK(missing.err ==
        "transcript: /no/such: cannot open: No such file or directory\n");
}

TEST_CASE("get and export read figures by name") {
  Repository repository;
  repository.write("transcripts/p/cpu.txt", kText);
  const auto get = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"get", "--root", repository.root()});
    const RunResult result = repository.transcript(more);
    return std::to_string(result.status) + " " + result.out + result.err;
  };
  CHECK(get({"case 2x2 / f32 / max err"}) == "0 0.100\n");
  CHECK(get({repository.path("transcripts/p/cpu.txt") + "#case 2x2 / max ="}) ==
        "0 34.5857\n");
  CHECK(get({"transcripts/p/cpu.txt#case 2x2 / max ="}) == "0 34.5857\n");
  CHECK(get({"--block", "GPU"}) == "0 GPU: none (compute capability 0.0)\n");
  CHECK(contains(get({"case 2x2 / f32 / max er"}), "did you mean 'max err'?"));
  repository.write("transcripts/p/tesla-t4.txt", replaced(kText, "0.100", "0.200"));
  CHECK(get({"case 2x2 / f32 / max err"}) ==
        "2 transcript: name a machine with --machine: cpu, tesla-t4\n");
  CHECK(get({"--machine", "tesla-t4", "case 2x2 / f32 / max err"}) == "0 0.200\n");
  CHECK(get({"--machine", "tesla-t5", "x"}) ==
        "2 transcript: transcripts/p/tesla-t5.txt: no such evidence; did you mean "
        "'tesla-t4'?\n");
  const json all =
      json::parse(repository.transcript({"export", "--root", repository.root()}).out);
  CHECK(all["tesla-t4"]["figures"][4]["value"] == 0.2);
  CHECK(all["cpu"]["provenance"].is_null());
}

TEST_CASE("what cannot be used is exit 2, one clear error") {
  Repository repository;
  const auto error = [&](const std::vector<std::string>& arguments) {
    const RunResult result = repository.transcript(arguments);
    CHECK(result.status == 2);
    CHECK(result.out == "");
    return result.err;
  };
  const std::string root = repository.root();
  CHECK(contains(error({}), "subcommand is required"));
  CHECK(error({"verfy"}) == "transcript: no command 'verfy'; did you mean 'verify'?\n");
  CHECK(contains(error({"diff", "a"}), "actual is required"));
  for (const char* bad : {"nan", "inf", "0", "1e18", "x"}) {
    CHECK(
        contains(error({"verify", "--timeout", bad, "--", "true"}),
                 "--timeout: " + std::string(bad) + " not in range [0.001 - 1000000]"));
  }
  CHECK(error({"diff", "-", "-"}) ==
        "transcript: only one side can be standard input\n");
  CHECK(error({"verify", "--root", root, "--program", "q"}) ==
        "transcript: transcripts/q: no such program; did you mean 'p'?\n");
  CHECK(error({"verify", "--root", root}) ==
        "transcript: transcripts/p: no evidence to verify; record it first\n");
  repository.write("transcripts/p/cpu.txt", kText);
  repository.write("transcripts/p/rules.toml", "[[rule]]\nrow = 'a'\n");
  CHECK(
      error({"verify", "--root", root}) ==
      "transcripts/p/rules.toml:1: a rule gives either 'class', or 'rel' and/or 'abs'\n"
      "  [[rule]]\n"
      "  ^\n");
  fs::remove(repository.path("transcripts/p/rules.toml"));
  CHECK(contains(error({"status", "--root", root}), "rules.toml: cannot open"));
  repository.write("transcripts/p/rules.toml", kRules);
  CHECK(contains(error({"verify", "--root", root, "--cpu-build", root + "/none",
                        "--gpu-build", root + "/none2"}),
                 "transcript: no program to run: none2 "));
  CHECK(
      run({"sh", "-c", "cd / && " TRANSCRIPT_EXE " status"}).err ==
      "transcript: no folder 'transcripts' here or above: run this in the repository, "
      "or name it with --root\n");
}

TEST_CASE("a report that cannot be written is an error") {
  Repository repository;
  repository.write("a.txt", kText);
  const std::string a = repository.path("a.txt");
  const RunResult full =
      run({"sh", "-c", TRANSCRIPT_EXE " diff " + a + " " + a + " > /dev/full"});
  CHECK(full.status == 2);
  CHECK(full.err == "transcript: cannot write to standard output\n");
  // More than one buffer: the C library tells of it early, and then no more.
  std::string long_text;
  for (int i = 0; i < 2000; ++i) long_text += "line " + std::to_string(i) + "\n";
  repository.write("transcripts/p/cpu.txt", long_text);
  CHECK(run({"sh", "-c",
             TRANSCRIPT_EXE " export --root " + repository.root().string() +
                 " > /dev/full"})
            .status == 2);
}
