// Recording, as people run it: what becomes evidence, and what does not.
#include "record.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <future>
#include <nlohmann/json.hpp>

#include "repository.h"

using namespace transcript;
using nlohmann::json;

TEST_CASE("what was recorded verifies, and is fresh") {
  Repository repository;
  const RunResult recorded = repository.record();
  CHECK(recorded.status == 0);
  CHECK(recorded.err == "");
  CHECK(recorded.out.substr(0, 43) == "recorded transcripts/p/cpu.md: 175 bytes in");
  CHECK(repository.read("transcripts/p/cpu.md") == kText);
  CHECK(repository.files() == 3);

  const RunResult verified = repository.verify();
  CHECK(verified.status == 0);
  CHECK(verified.out ==
        "--- transcripts/p/cpu.md\n"
        "+++ program\n"
        "\n"
        "match: 3 judged, 2 reported (0 changed), 1 excused\n");
  const RunResult status = repository.status();
  CHECK(status.status == 0);
  CHECK(status.out == "fresh: 1 transcript\n");
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
  CHECK(refused(print + "sleep 100\n", {"--timeout", "1"}) ==
        "4 not recorded: the program did not end within 1 s\n");
  CHECK(refused("yes\n") ==
        "3 not recorded: the program printed more than 67108864 bytes\n");
  CHECK(
      refused(print + "sleep 100 &\n") ==
      "3 not recorded: the program left a process running that held its output open\n");
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
        "--- transcripts/p/cpu.md\n"
        "+++ the new run\n"
        "\n"
        "case 2x2\n"
        "  int8 / max err  (line 10)\n"
        "    -0.300\n"
        "    +0.305\n"
        "    change +0.005 (+1.67 %); allowed: last place, 1e-03\n"
        "\n"
        "1 difference: 3 judged, 2 reported (1 changed), 1 excused\n"
        "not recorded: the run disagrees with evidence of the same source; if figures "
        "are "
        "meant to change, name them with --changing\n");
  CHECK(repository.evidence() == before);
  CHECK(repository.record().status == 1);
  CHECK(repository.record({"--changing", "case 2x2 / f32 / *"}).status == 1);
  CHECK(repository.evidence() == before);

  CHECK(repository.record({"--changing", "case * / int8 / max err"}).status == 0);
  CHECK(repository.read("transcripts/p/cpu.md") == other);
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
  std::string many = kText + "\n## many\n\n", other = many;
  for (int i = 0; i < 5000; ++i) {
    many += "  row" + std::to_string(i) + "x = 1\n";
    other += "  row" + std::to_string(i) + "x = 2\n";
  }
  repository.program(repository.print(many));
  REQUIRE(repository.record().status == 0);
  repository.program(repository.print(replaced(other, "0.300", "0.305")));
  const RunResult refused = repository.record({"--changing", "many / *"});
  CHECK(refused.status == 1);
  CHECK(contains(refused.err, "\n1 difference: 5003 judged, "));
  CHECK(contains(refused.err, "  int8 / max err  (line 10)\n"));
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
    repository.write("transcripts/p/cpu.md", altered);
    CHECK(contains(repository.status().out,
                   "  transcripts/p/cpu.md was altered since it was recorded\n"));
    const RunResult result = repository.record();
    CHECK(result.status == 0);
    CHECK(result.err == "");
    CHECK(repository.read("transcripts/p/cpu.md") == kText);
    CHECK(repository.status().status == 0);
  }
  // Not even where the hash was altered as well, when there is nothing to agree with.
  json document = json::parse(repository.read("transcripts/p/cpu.json"));
  document["stdout"]["sha256"] = sha256("\n");
  repository.write("transcripts/p/cpu.md", "\n");
  repository.write("transcripts/p/cpu.json", document.dump());
  CHECK(repository.record().status == 0);
}

TEST_CASE("rules that do not fit the new evidence stop the recording") {
  Repository repository;
  REQUIRE(repository.record().status == 0);
  const std::string before = repository.evidence();
  repository.write("transcripts/p/rules.toml",
                   kRules + "[[rule]]\nrow = 'fp8'\nclass = 'exact'\n");
  const RunResult result = repository.record();
  CHECK(result.status == 2);
  CHECK(
      contains(result.err, "transcripts/p/rules.toml:8: this rule matches nothing, "));
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
  std::string longer = kText + "\n## notes\n\n";
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
  std::string line = "trap '' XFSZ; ulimit -f 8; exec env -u CI \"" TRANSCRIPT_EXE "\"";
  for (const std::string& argument : repository.record_arguments()) {
    line += " '" + argument + "'";
  }
  const RunResult result = run({"sh", "-c", line});
  CHECK(result.status == 2);
  CHECK(contains(result.err, "File too large"));
  CHECK(repository.evidence() == before);
  CHECK(repository.files() == 3);
}

TEST_CASE("recording leaves the files of others alone") {
  Repository repository;
  REQUIRE(repository.record().status == 0);
  for (const char* file : {"cpu.md.backup", "cpu.json.new.backup", "cpu.json.new",
                           "cpu.md.AbC123", ".cpu.md.swp"}) {
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
  repository.program("touch " + repository.path("started") + ".$$\n" + "until [ -e " +
                     repository.path("go") + " ]; do sleep 0.01; done\n" +
                     "printf '# p on none\\n\\nmax = %d.5\\n' $$\n");
  repository.write("transcripts/p/rules.toml",
                   "[[rule]]\nline = '# p on *'\nclass = 'machine'\n");
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
  fs::remove(repository.path("transcripts/p/cpu.md"));
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

TEST_CASE("recording does not part a symbolic link from what it names") {
  for (const std::string& file :
       std::vector<std::string>{"transcripts/p/cpu.md", "transcripts/p/cpu.json"}) {
    Repository repository;
    REQUIRE(repository.record().status == 0);
    const std::string before = repository.read(file);
    fs::rename(repository.path(file), repository.path("elsewhere"));
    fs::create_symlink(repository.path("elsewhere"), repository.path(file));
    repository.write("src/p.cu", "// changed\n");
    repository.program(repository.print(replaced(kText, "0.300", "0.400")));
    CHECK(repository.record().status == 0);
    CHECK(repository.read("elsewhere") != before);
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

TEST_CASE("kill -9 at any step leaves a whole pair, or one that is refused") {
  const std::string new_text = replaced(kText, "0.300", "0.400");
  // Its name is a list to the loader, so it may hold no space.
  const common::Scratch scratch;
  const std::string library = scratch / "kill_at.so";
  fs::copy_file(KILL_AT_LIBRARY, library);
  int kept_old = 0, torn = 0;
  for (int at = 1;; ++at) {
    Repository fresh;
    REQUIRE(fresh.record().status == 0);
    const std::string before = fresh.evidence();
    fresh.write("src/p.cu", "// changed\n");
    fresh.program(fresh.print(new_text));
    const RunResult result =
        fresh.record({}, {"LD_PRELOAD=" + library, "KILL_AT=" + std::to_string(at)});
    if (result.ok()) break;
    REQUIRE(result.end == RunResult::End::signaled);
    const std::string text = fresh.read("transcripts/p/cpu.md");
    const RunResult status = fresh.status();
    INFO("killed at step ", at, ":\n", status.out);
    if (text == kText) {
      ++kept_old;
      CHECK(fresh.evidence() == before);
      CHECK_FALSE(contains(status.out, "altered"));
      CHECK(contains(status.out, "src/p.cu changed since"));
    } else {
      ++torn;
      CHECK(text == new_text);
      CHECK(contains(status.out, "cpu.md was altered since it was recorded\n"));
      CHECK(fresh.verify().status == 2);
    }
    // The next recording completes.
    CHECK(fresh.record().status == 0);
    CHECK(fresh.read("transcripts/p/cpu.md") == new_text);
    CHECK(fresh.status().status == 0);
  }
  CHECK(kept_old == 3);  // before either file is complete, and before the text's rename
  CHECK(torn == 1);      // between the text's rename and the provenance's
}

TEST_CASE("recording refuses to run where CI is true; empty or 'false' is no CI") {
  Repository repository;
  REQUIRE(repository.record().status == 0);
  const std::string before = repository.evidence();
  repository.program("touch " + repository.path("ran") + "\n" +
                     repository.print(kText));
  for (const char* ci : {"CI=true", "CI=1"}) {
    const RunResult result = repository.record({}, {ci});
    CHECK(result.status == 2);
    CHECK(result.err ==
          "not recorded: CI is set, and evidence is recorded by people\n");
    CHECK(repository.evidence() == before);
    CHECK_FALSE(fs::exists(repository.path("ran")));
  }
  CHECK(repository.record({}, {"CI="}).status == 0);
  CHECK(repository.record({}, {"CI=false"}).status == 0);
}

TEST_CASE("a run is recorded under the GPU that its first heading names, or as 'cpu'") {
  Repository repository;
  const std::string on_gpu =
      replaced(kText, "no GPU", "NVIDIA H200 (compute capability 9.0)");
  repository.program(repository.print(on_gpu));
  // Without that GPU it is the CPU's, whatever it prints.
  const RunResult none =
      repository.record({"--machine", "nvidia-h200"}, {"PATH=/usr/bin:/bin"});
  CHECK(none.status == 2);
  CHECK(
      contains(none.err,
               "not recorded: this is a run of machine 'cpu', not of 'nvidia-h200': no "
               "GPU answers (nvidia-smi "));
  repository.gpu("NVIDIA H200");
  CHECK(repository.record({"--machine", "tesla-t4"}, repository.with_gpu()).err ==
        "not recorded: this is a run of machine 'nvidia-h200', not of 'tesla-t4': the "
        "first heading names that GPU\n");
  CHECK(repository.record({"--machine", "Tesla T4"}, repository.with_gpu()).err ==
        "not recorded: a machine's name is lower case with dashes; did you mean "
        "'tesla-t4'?\n");
  REQUIRE(
      repository
          .record({"--fact", "build.nvcc_flags=-O3 -arch=sm_75"}, repository.with_gpu())
          .status == 0);
  const json document = json::parse(repository.read("transcripts/p/nvidia-h200.json"));
  CHECK(document["gpu"]["name"].get<std::string>() == "NVIDIA H200");
  CHECK(document["gpu"]["count"] == 1);
  CHECK(document["gpu"]["before"]["throttle_reasons"].get<std::string>() == "0x0");
  CHECK(document["gpu"]["mig"].is_null());
  CHECK(document["unknown"]["gpu.mig"].get<std::string>() == "nvidia-smi does not say");
  CHECK(document["build"]["nvcc_flags"].get<std::string>() == "-O3 -arch=sm_75");
  // What only prints recorded text has its times, to the last digit.
  CHECK(repository.record({}, repository.with_gpu()).err ==
        "not recorded: every time is that of transcripts/p/nvidia-h200.md: this only "
        "prints recorded text\n");
  repository.program(repository.print(replaced(on_gpu, "1.5000", "1.5001")));
  CHECK(repository.record({}, repository.with_gpu()).status == 0);
  repository.program(repository.print(kText));
  CHECK(contains(
      repository.record({"--machine", "nvidia-h200"}, repository.with_gpu()).err,
      "this is a run of machine 'cpu', not of 'nvidia-h200': the first heading does "
      "not "
      "name NVIDIA H200\n"));
}

TEST_CASE("status names every reason, and a command that works as printed") {
  Repository repository("it's \xC3\xBC");
  CHECK(repository.status().out == "transcripts/p: stale\n  it holds no evidence\n");
  REQUIRE(repository.record().status == 0);
  const auto stale = [&] {
    const RunResult result = repository.status();
    CHECK(result.status == 1);
    CHECK(contains(result.out, "transcripts/p/cpu.md: stale\n"));
    const std::size_t begin = result.out.find("  "),
                      end = result.out.find("\n  refresh");
    REQUIRE(end != std::string::npos);
    return result.out.substr(begin, end - begin);
  };
  const std::string source = repository.read("src/p.cu");
  repository.write("src/p.cu", source + "// more\n");
  CHECK(stale() == "  src/p.cu changed since");
  // As printed, from the folder that it names.
  const std::string said = repository.status().out;
  const std::size_t from = said.find("from ") + 5, colon = said.find(": ", from);
  const std::string line = "cd " + said.substr(from, colon - from) + " && env -u CI " +
                           said.substr(colon + 2);
  INFO(line);
  CHECK(contains(line, " --source src/p.cu -- ./program"));
  CHECK(run({"sh", "-c", line}).err == "");
  CHECK_FALSE(contains(repository.status().out, "src/p.cu changed since"));
  repository.write("src/p.cu", source);
  REQUIRE(repository.record().status == 0);

  repository.write("transcripts/p/rules.toml", kRules + "# more\n");
  CHECK(stale() == "  transcripts/p/rules.toml changed since");
  repository.write("transcripts/p/rules.toml", kRules);
  repository.write("transcripts/p/cpu.md", replaced(kText, "0.300", "0.301"));
  CHECK(stale() == "  transcripts/p/cpu.md was altered since it was recorded");
  repository.write("transcripts/p/cpu.md", kText);

  const std::string provenance = repository.read("transcripts/p/cpu.json");
  json document = json::parse(provenance);
  const auto with = [&](const char* pointer, const json& value) {
    json changed = json::parse(provenance);
    changed[json::json_pointer(pointer)] = value;
    repository.write("transcripts/p/cpu.json", changed.dump());
    return stale();
  };
  CHECK(with("/git/dirty", true) ==
        "  it was recorded from a tree with uncommitted changes");
  CHECK(with("/exit_status", 1) == "  the program failed");
  CHECK(with("/git/dirty", nullptr) ==
        "  transcripts/p/cpu.json: 'git.dirty' needs either a value or a reason for "
        "having none");
  CHECK(with("/schema", 1) == "  transcripts/p/cpu.json: its schema is not 2");
  for (const std::string& bad :
       {std::string("{"), std::string("[]"),
        "{\"x\":" + std::string(1000000, '[') + std::string(1000000, ']') + "}"}) {
    repository.write("transcripts/p/cpu.json", bad);
    CHECK(stale() == "  transcripts/p/cpu.json is no provenance");
  }
  for (const char* odd :
       {"{\"source\":5}", "{\"stdout\":5}", "{\"unknown\":{}, \"schema\":2}"}) {
    repository.write("transcripts/p/cpu.json", odd);
    CHECK(repository.status().status == 1);
  }
  fs::remove(repository.path("transcripts/p/cpu.json"));
  CHECK(stale() == "  transcripts/p/cpu.json is missing");
  repository.write("transcripts/p/cpu.json", provenance);
  CHECK(repository.status().status == 0);

  repository.write("transcripts/p/rules.toml",
                   kRules + "[[rule]]\nrow = 'fp9'\nclass = 'optional'\n");
  CHECK(contains(repository.status().out,
                 "transcripts/p/rules.toml:8: stale\n"
                 "  this rule matches nothing in any evidence\n"));
}

TEST_CASE("SHA-256 gives the digests of FIPS 180-4's examples") {
  CHECK(sha256("") ==
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256("abc") ==
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_CASE("provenance has every field, and nothing that tells who and where") {
  Repository repository;
  const RunResult recorded =
      repository.transcript({"record", "--root", repository.root(), "--fact",
                             "git.dirty=false", "--", repository.path("program"),
                             "--input=" + repository.path("secret"), "/etc/passwd"});
  REQUIRE(recorded.status == 0);
  const std::string text = repository.read("transcripts/p/cpu.json");
  const json document = json::parse(text);
  CHECK(check_provenance(document) == "");
  CHECK(document["command"] == json{"./program", "--input=./secret", "passwd"});
  CHECK(document["exit_status"] == 0);
  CHECK(document["signal"].is_null());
  CHECK(document["unknown"]["signal"].get<std::string>() ==
        "the program exited by itself");
  CHECK(document["stdout"] == json{{"bytes", kText.size()}, {"sha256", sha256(kText)}});
  CHECK(document["source"].get<std::string>() == "src/p.cu");
  CHECK(document["source_sha256"].get<std::string>() == sha256("int main() {}\n"));
  CHECK(document["rules_sha256"].get<std::string>() == sha256(kRules));
  CHECK(document["binary_sha256"].get<std::string>() ==
        sha256(repository.read("program")));
  CHECK(document["git"]["dirty"] == false);
  CHECK(document["gpu"]["name"].is_null());
  CHECK(document["unknown"]["gpu.name"].get<std::string>() ==
        "the program ran on the CPU");
  CHECK(document["os"]["kernel"].get<std::string>().substr(0, 6) == "Linux ");
  char host[256] = "";
  ::gethostname(host, sizeof host);
  if (std::string(host).size() > 4) CHECK_FALSE(contains(text, host));
  CHECK_FALSE(contains(text, fs::canonical(repository.root()).parent_path().string()));
  for (const char* variable : {"HOME", "PATH", "PWD"}) {
    const char* value = std::getenv(variable);
    if (value != nullptr) CHECK_FALSE(contains(text, value));
  }
  CHECK(repository.record({"--fact", "git.comit=1"}).err ==
        "transcript: --fact: no field 'git.comit'; did you mean 'git.commit'?\n");
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
  const std::vector<std::string> record{"record", "--root", repository.root(), "--",
                                        repository.path("program")};
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
