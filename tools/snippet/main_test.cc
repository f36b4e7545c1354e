// The command itself, as a child process.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "file.h"
#include "scratch.h"

namespace fs = std::filesystem;

namespace {

pid_t start(const std::vector<std::string>& arguments, const fs::path& out,
            const fs::path& err) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  const int mode = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_addopen(&actions, 1, out.c_str(), mode, 0600);
  posix_spawn_file_actions_addopen(&actions, 2, err.c_str(), mode, 0600);
  std::vector<char*> argv = {const_cast<char*>(SNIPPET_EXE)};
  for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  pid_t child = 0;
  REQUIRE(posix_spawn(&child, SNIPPET_EXE, &actions, nullptr, argv.data(), environ) ==
          0);
  posix_spawn_file_actions_destroy(&actions);
  return child;
}

struct Result {
  int exit;
  std::string out, err;
};

Result run(const std::vector<std::string>& arguments) {
  const common::Scratch scratch;
  int status = 0;
  waitpid(start(arguments, scratch / "out", scratch / "err"), &status, 0);
  REQUIRE(WIFEXITED(status));
  return {WEXITSTATUS(status), common::read_file(scratch / "out"),
          common::read_file(scratch / "err")};
}

class Repository {
 public:
  explicit Repository(const std::string& document) {
    write("a.py", "# snippet: x\nfresh\n# end snippet\n");
    write("a.md", document);
  }
  void write(const std::string& file, const std::string& text) const {
    fs::create_directories((scratch_ / file).parent_path());
    common::write_atomically(scratch_ / file, text);
  }
  std::string read(const std::string& file) const {
    return common::read_file(scratch_ / file);
  }
  std::string root() const { return scratch_.path(); }

 private:
  common::Scratch scratch_;
};

const std::string kStale = "<!-- pull: a.py#x -->\n<!-- end pull -->\n";
const std::string kFresh =
    "<!-- pull: a.py#x -->\n```python\nfresh\n```\n<!-- end pull -->\n";

}  // namespace

TEST_CASE("check exits with 1 while a place is stale, and with 0 after sync") {
  const Repository repository(kStale);
  const Result stale = run({"check", "--root", repository.root()});
  CHECK(stale.exit == 1);
  CHECK(stale.err == "");
  CHECK(stale.out.find("+fresh\n") != std::string::npos);
  CHECK(run({"sync", "--root", repository.root()}).exit == 0);
  CHECK(repository.read("a.md") == kFresh);
  const Result fresh = run({"check", "--root", repository.root()});
  CHECK(fresh.exit == 0);
  CHECK(fresh.out == "1 place, all fresh\n");
}

TEST_CASE("files are named from where the user stands") {
  const Repository repository(kStale);
  repository.write("b.md", kStale);
  CHECK(run({"sync", "--root", repository.root(), repository.root() + "/b.md"}).out ==
        "b.md:1: updated: a.py#x\n");
  CHECK(repository.read("a.md") == kStale);
}

TEST_CASE("list and show") {
  const Repository repository(kStale);
  const Result list = run({"--root", repository.root(), "list"});
  CHECK(list.exit == 0);
  CHECK(list.out == "a.py:2-2: x: 1 place\n");
  const Result show = run({"show", "a.py#x", "--root", repository.root()});
  CHECK(show.exit == 0);
  CHECK(show.out == "fresh\n");
}

TEST_CASE("an error exits with 2, on stderr, and writes nothing") {
  const Repository repository(kStale + "<!-- end pull -->\n");
  for (const char* command : {"check", "sync", "list"}) {
    const Result result = run({command, "--root", repository.root()});
    CHECK(result.exit == 2);
    CHECK(result.out == "");
    CHECK(result.err ==
          "a.md:3: this ends nothing: no pull is open here\n"
          "  <!-- end pull -->\n"
          "  ^\n");
  }
  CHECK(repository.read("a.md") == kStale + "<!-- end pull -->\n");
}

TEST_CASE("a wrong command line exits with 2") {
  CHECK(run({}).exit == 2);
  CHECK(run({"chekc"}).exit == 2);
  CHECK(run({"check", "--nonsense"}).exit == 2);
  CHECK(run({"sync", "--machine", "m"}).exit == 2);
  CHECK(run({"check", "--root", "/no/such/folder"}).exit == 2);
  CHECK(run({"--help"}).exit == 0);
}

TEST_CASE("evidence is pulled through the checker's addresses, from any machine") {
  const auto evidence = [](const std::string& fraction) {
    return "## case 2x2x2\n\nmax |reference| = 1.5\n\n"
           "| kernel          |   max err | gate frac |\n"
           "| :-------------- | --------: | --------: |\n"
           "| int8 one scale  | 1.000e-01 |     0.050 |\n"
           "| int8 per-column | 1.000e-02 |     " +
           fraction + " |\n";
  };
  const std::string cell = "case 2x2x2 / int8 per-column / gate frac";
  const std::string inline_pull = "<!-- pull: transcripts/p/here.md#" + cell + " -->";
  const std::string block_pull =
      "<!-- pull: transcripts/p/here.md#case 2x2x2 / table -->\n";
  const std::string end = "<!-- end pull -->";
  const Repository repository("It is " + inline_pull + "?" + end + " of the gate.\n\n" +
                              block_pull + end + "\n");
  repository.write("transcripts/p/here.md", evidence("0.016"));
  repository.write("transcripts/p/there.md", evidence("0.017"));
  repository.write("transcripts/p/rules.toml", "");
  const auto expected = [&](const std::string& fraction) {
    return "It is " + inline_pull + fraction + end + " of the gate.\n\n" + block_pull +
           "```text\n"
           "| kernel          |   max err | gate frac |\n"
           "| :-------------- | --------: | --------: |\n"
           "| int8 one scale  | 1.000e-01 |     0.050 |\n"
           "| int8 per-column | 1.000e-02 |     " +
           fraction + " |\n```\n" + end + "\n";
  };
  const Result sync = run({"sync", "--root", repository.root()});
  CHECK(sync.err == "");
  CHECK(sync.exit == 0);
  CHECK(repository.read("a.md") == expected("0.016"));

  const common::Scratch output;
  const Result other = run({"sync", "--root", repository.root(), "--machine", "there",
                            "--output", output.path().string()});
  CHECK(other.err == "");
  CHECK(common::read_file(output / "a.md") == expected("0.017"));
  CHECK(repository.read("a.md") == expected("0.016"));
}

TEST_CASE("evidence that is not there is named, with what is meant") {
  const Repository repository(
      "It is <!-- pull: transcripts/p/here.md#case 2x2x2 / int8 per-colum / max err "
      "-->1<!-- end pull -->.\n");
  repository.write("transcripts/p/here.md",
                   "## case 2x2x2\n\n| kernel | max err |\n| :- | -: |\n"
                   "| int8 per-column | 1.000e-02 |\n");
  repository.write("transcripts/p/rules.toml", "");
  const Result wrong = run({"check", "--root", repository.root()});
  CHECK(wrong.exit == 2);
  // What follows the message's first words is the checker's own affair.
  CHECK(wrong.err.starts_with(
      "a.md:1: no row 'int8 per-colum'; did you mean 'int8 per-column'?"));
  CHECK(wrong.err.ends_with(
      "\n  It is <!-- pull: transcripts/p/here.md#case 2x2x2 / int8 per-colum / max "
      "err "
      "-->1<!-- end pull -->.\n"
      "                                                      ^\n"));
  const common::Scratch output;
  const Result missing = run({"sync", "--root", repository.root(), "--machine", "there",
                              "--output", output.path().string()});
  CHECK(missing.exit == 2);
  CHECK(
      missing.err ==
      "a.md:1: cannot read transcripts/p/there.md: No such file or directory; did you "
      "mean 'transcripts/p/here.md'?\n"
      "  It is <!-- pull: transcripts/p/here.md#case 2x2x2 / int8 per-colum / max err "
      "-->1<!-- end pull -->.\n"
      "                   ^\n");
}

TEST_CASE("killed during sync, each file is old or new") {
  std::string region, old, fresh = "<!-- pull: big.py#x -->\n```python\n";
  for (int i = 0; i < 5000; ++i) region += "line " + std::to_string(i) + "\n";
  old = "<!-- pull: big.py#x -->\n" + region + "<!-- end pull -->\n";
  fresh += region + "```\n<!-- end pull -->\n";
  constexpr int kDocuments = 30;
  const auto name = [](int i) { return "d" + std::to_string(i) + ".md"; };

  // Kills fall at ever later moments, every other one right after the first rename;
  // until one fell before all renames and one between two.
  bool before = false, between = false;
  const common::Scratch output;
  for (int attempt = 0; attempt < 100 && !(before && between); ++attempt) {
    const Repository repository("");
    repository.write("big.py", "# snippet: x\n" + region + "# end snippet\n");
    for (int i = 0; i < kDocuments; ++i) repository.write(name(i), old);
    const pid_t child =
        start({"sync", "--root", repository.root()}, output / "out", output / "err");
    if (attempt % 2 == 0) {
      usleep(static_cast<useconds_t>(attempt) * 500);
    } else {
      siginfo_t ended{};
      while (repository.read(name(0)) == old && ended.si_pid == 0) {
        waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOHANG | WNOWAIT);
      }
    }
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    int updated = 0;
    for (int i = 0; i < kDocuments; ++i) {
      const std::string text = repository.read(name(i));
      CHECK((text == old || text == fresh));
      updated += text == fresh;
    }
    before = before || updated == 0;
    between = between || (updated > 0 && updated < kDocuments);
  }
  CHECK(before);
  CHECK(between);
}
