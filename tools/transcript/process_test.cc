#include "process.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "file.h"
#include "scratch.h"
#include "text.h"

using namespace transcript;
using End = RunResult::End;
using std::chrono::milliseconds;

namespace {

RunResult shell(const std::string& script, const RunLimits& limits = {}) {
  return run({"sh", "-c", script}, limits);
}

RunLimits within(int timeout, int grace) {
  RunLimits limits;
  limits.timeout = milliseconds(timeout);
  limits.grace = milliseconds(grace);
  return limits;
}

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
      .count();
}

/// Whether a process still runs, waiting a little for it to go.
bool alive(const std::string& pid_text) {
  const pid_t pid = std::stoi(pid_text);
  for (int i = 0; i < 100; ++i) {
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    std::string word, state;
    if (!(stat >> word >> word >> state) || state == "Z") return false;
    std::this_thread::sleep_for(milliseconds(20));
  }
  return true;
}

}  // namespace

TEST_CASE("a program's output, errors and status are kept apart") {
  const RunResult result = shell("echo out; echo err >&2; exit 0");
  CHECK(result.ok());
  CHECK(result.out == "out\n");
  CHECK(result.err == "err\n");
  CHECK(describe(result) == "exited with status 0");
}

TEST_CASE("arguments reach the program as they are, its locale is C, its input empty") {
  CHECK(run({"printf", "%s|", "a b", "", "*"}).out == "a b||*|");
  CHECK(shell("echo $LC_ALL; cat").out == "C\n");
}

TEST_CASE("perfect output does not excuse a failing status") {
  const RunResult result = shell("echo fine; exit 3");
  CHECK_FALSE(result.ok());
  CHECK(result.end == End::exited);
  CHECK(result.out == "fine\n");
  CHECK(describe(result) == "exited with status 3");
}

TEST_CASE("a signal is named, and a failure") {
  const RunResult result = shell("echo fine; kill -SEGV $$");
  CHECK_FALSE(result.ok());
  CHECK(result.end == End::signaled);
  CHECK(describe(result) == "was killed by SIGSEGV (Segmentation fault)");
  // A shell's 139 is an exit status like any other.
  CHECK(describe(shell("exit 139")) == "exited with status 139");
}

TEST_CASE("a program that cannot be started says why") {
  CHECK(describe(run({"no-such-program-here"})) ==
        "could not be started: No such file or directory");
  CHECK(describe(run({"/no/such/program"})) ==
        "could not be started: No such file or directory");
  CHECK(describe(run({"/dev/null"})) == "could not be started: Permission denied");
  CHECK(describe(run({})) == "could not be started: no command");
}

TEST_CASE("a hang ends at the timeout, and everything it started with it") {
  const common::Scratch scratch;
  const std::string pids = (scratch / "pids").string();
  RunResult result;
  const double seconds = seconds_of([&] {
    result = shell(
        "sleep 100 & echo $! > " + pids + "; echo $$ >> " + pids + "; echo some; wait",
        within(300, 1000));
  });
  CHECK(result.end == End::timed_out);
  CHECK(result.out == "some\n");
  CHECK(describe(result, within(300, 1000)) == "did not end within 0.3 s");
  CHECK(seconds < 3);
  std::ifstream file(pids);
  for (std::string pid; std::getline(file, pid);) CHECK_FALSE(alive(pid));
}

TEST_CASE("one that ignores SIGTERM is killed after the grace") {
  const common::Scratch scratch;
  const std::string pids = (scratch / "pids").string();
  const std::string deaf =
      "trap '' TERM; sleep 100 & echo $! > " + pids + "; while :; do sleep 100; done";
  const RunLimits limits = within(200, 300);
  const double seconds =
      seconds_of([&] { CHECK(shell(deaf, limits).end == End::timed_out); });
  CHECK(seconds >= 0.5);
  CHECK(seconds < 3);
  CHECK_FALSE(alive(std::string(trim(common::read_file(pids)))));
}

TEST_CASE("the whole group is asked to end before it is made to") {
  const common::Scratch scratch;
  const std::string asked = (scratch / "asked").string();
  shell("(trap 'echo yes > " + asked +
            "; exit' TERM; while :; do sleep 0.05; done) & sleep 100",
        within(300, 3000));
  CHECK(std::filesystem::exists(asked));
}

TEST_CASE("one that let go of the output and ignores SIGTERM is ended with its group") {
  const common::Scratch scratch;
  const std::string pids = (scratch / "pids").string();
  const RunResult result = shell(
      "(trap '' TERM; exec >/dev/null 2>&1; while :; do sleep 1; done) & echo $! > " +
          pids + "; sleep 100",
      within(300, 300));
  CHECK(result.end == End::timed_out);
  CHECK_FALSE(alive(std::string(trim(common::read_file(pids)))));
}

TEST_CASE("a grandchild that holds the output open delays by the grace only") {
  const common::Scratch scratch;
  const std::string pids = (scratch / "pids").string();
  RunResult result;
  const double seconds = seconds_of([&] {
    result = shell("sleep 100 & echo $! > " + pids + "; echo done", within(60000, 300));
  });
  CHECK(result.ok());
  CHECK(result.held_open);
  CHECK(result.out == "done\n");
  CHECK(result.seconds < 0.3);  // the program's own time, without the grace
  CHECK(seconds >= 0.3);
  CHECK(seconds < 3);
  CHECK_FALSE(alive(std::string(trim(common::read_file(pids)))));
  CHECK_FALSE(shell("echo done").held_open);
}

TEST_CASE("a grandchild in a session of its own does not delay it either") {
  const double seconds = seconds_of([&] {
    const RunResult result = shell("setsid sleep 5 & echo done", within(60000, 300));
    CHECK(result.ok());
    CHECK(result.held_open);
  });
  CHECK(seconds < 3);
}

TEST_CASE("a flood on stderr blocks nothing and is kept up to its limit") {
  const RunResult result = shell(
      "head -c 1000000 /dev/zero | tr '\\0' e >&2; echo out; "
      "head -c 1000000 /dev/zero | tr '\\0' f >&2");
  CHECK(result.ok());
  CHECK(result.out == "out\n");
  CHECK((result.err == std::string(64 << 10, 'e')));
}

TEST_CASE("a gigabyte of output ends the run at the limit, in bounded memory") {
  RunLimits limits;
  limits.output = 4 << 20;
  RunResult result;
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  const double seconds = seconds_of(
      [&] { result = shell("head -c 1000000000 /dev/zero | tr '\\0' x", limits); });
  getrusage(RUSAGE_SELF, &after);
  CHECK(result.end == End::too_much_output);
  CHECK(result.out.size() == 4 << 20);
  CHECK(describe(result, limits) == "printed more than 4194304 bytes");
  CHECK(seconds < 10);
  CHECK(after.ru_maxrss - before.ru_maxrss < 32 << 10);  // KiB
}

TEST_CASE("output up to the limit is whole") {
  RunLimits limits;
  limits.output = 100000;
  const RunResult result = shell("head -c 100000 /dev/zero", limits);
  CHECK(result.ok());
  CHECK((result.out == std::string(100000, '\0')));
}

TEST_CASE("a descendant that let go of both streams holds nothing") {
  const RunResult result = shell("sleep 2 >/dev/null 2>&1 & echo done");
  CHECK(result.ok());
  CHECK_FALSE(result.held_open);
}

TEST_CASE("many runs leave no process and no descriptor behind") {
  const auto descriptors = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  };
  const auto before = descriptors();
  for (int i = 0; i < 30; ++i) CHECK(shell("exit 0").ok());
  for (int i = 0; i < 5; ++i) run({"/no/such/program"});
  CHECK(descriptors() == before);
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);  // no zombies
}

TEST_CASE("a signal that ends the checker ends the program first") {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    const common::Scratch scratch;
    const std::string file = scratch / "pid";
    const pid_t checker = ::fork();
    REQUIRE(checker >= 0);
    if (checker == 0) {
      ::signal(signal, SIG_DFL);  // not the test framework's
      shell("echo $$ > " + file + "; exec sleep 60");
      ::_exit(0);
    }
    std::string pid;
    for (int i = 0; i < 500 && pid.empty(); ++i) {
      std::this_thread::sleep_for(milliseconds(10));
      std::getline(std::ifstream(file), pid);
    }
    ::kill(checker, signal);
    int status = 0;
    CHECK(::waitpid(checker, &status, 0) == checker);
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == signal);
    REQUIRE(pid != "");
    CHECK(!alive(pid));
  }
}
