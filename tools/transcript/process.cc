#include "process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace transcript {
namespace {

using Clock = std::chrono::steady_clock;
using End = RunResult::End;

struct Pipe {
  int from = -1, into = -1;
  Pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) == 0) from = ends[0], into = ends[1];
  }
  ~Pipe() { close(from), close(into); }
  static void close(int& end) {
    if (end >= 0) ::close(std::exchange(end, -1));
  }
};

/// Starts the program in a process group of its own; returns 0 or what went wrong.
int start(pid_t& child, const std::vector<std::string>& command, const Pipe& out,
          const Pipe& err, const sigset_t& mask) {
  if (out.into < 0 || err.into < 0) return EMFILE;
  std::vector<char*> arguments, environment{const_cast<char*>("LC_ALL=C")};
  for (const std::string& one : command)
    arguments.push_back(const_cast<char*>(one.c_str()));
  for (char** one = ::environ; *one != nullptr; ++one) {
    if (std::strncmp(*one, "LC_ALL=", 7) != 0) environment.push_back(*one);
  }
  arguments.push_back(nullptr);
  environment.push_back(nullptr);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  ::posix_spawnattr_setsigmask(&attributes, &mask);
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&files, out.into, 1);
  ::posix_spawn_file_actions_adddup2(&files, err.into, 2);
  const int error = ::posix_spawnp(&child, arguments[0], &files, &attributes,
                                   arguments.data(), environment.data());
  ::posix_spawn_file_actions_destroy(&files);
  ::posix_spawnattr_destroy(&attributes);
  return error;
}

/// The signals that would end this process, but for those that it ignores.
sigset_t ending_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action;
    ::sigaction(signal, nullptr, &action);
    if (action.sa_handler != SIG_IGN) ::sigaddset(&set, signal);
  }
  return set;
}

}  // namespace

RunResult run(const std::vector<std::string>& command, const RunLimits& limits) {
  RunResult result;
  result.reason = "no command";
  if (command.empty()) return result;
  // A terminal's Ctrl-C does not reach the program's group: it is passed on below.
  const sigset_t caught = ending_signals();
  sigset_t before;
  ::pthread_sigmask(SIG_BLOCK, &caught, &before);
  Pipe out, err;
  pid_t child = -1;
  const auto begin = Clock::now();
  const int error = start(child, command, out, err, before);
  result.reason = error == 0 ? "" : std::strerror(error);
  for (Pipe* pipe : {&out, &err}) Pipe::close(pipe->into);

  // Waits for the end of the program and of its output, until a deadline; then asks
  // the group to end, makes it end, and at last gives up on what holds the output.
  auto deadline = begin + limits.timeout;
  bool ended = false;
  int status = 0, interrupted = 0, patience = error == 0 ? 2 : 0;
  const auto finish = [&](End why) {
    if (result.end != End::not_started) return;
    result.end = why;
    ::kill(-child, SIGTERM);
    deadline = Clock::now() + limits.grace;
  };
  std::array<char, 1 << 16> buffer;
  while ((!ended || out.from >= 0 || err.from >= 0) && patience > 0) {
    pollfd waited[] = {{out.from, POLLIN, 0}, {err.from, POLLIN, 0}};
    // Not longer: its end and signals are asked for. Mostly it ends with its output.
    ::poll(waited, 2, out.from < 0 && err.from < 0 ? 1 : 5);
    for (const bool is_out : {true, false}) {
      int& from = is_out ? out.from : err.from;
      if (waited[is_out ? 0 : 1].revents == 0) continue;
      const ssize_t size = ::read(from, buffer.data(), buffer.size());
      if (size < 0 && errno == EINTR) continue;
      if (size <= 0) {
        Pipe::close(from);
        continue;
      }
      const auto count = static_cast<std::size_t>(size);
      std::string& kept = is_out ? result.out : result.err;
      const std::size_t room = (is_out ? limits.output : limits.error) - kept.size();
      kept.append(buffer.data(), std::min(count, room));
      if (is_out && count > room) finish(End::too_much_output);
    }
    const timespec now{};
    if (const int signal = ::sigtimedwait(&caught, nullptr, &now); signal > 0) {
      interrupted = signal;
      finish(End::signaled);
    }
    if (!ended) {
      ended = ::waitpid(child, &status, WNOHANG) == child;
      result.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
      if (ended && result.end == End::not_started)
        deadline = Clock::now() + limits.grace;
    }
    if (Clock::now() < deadline) continue;
    if (result.end == End::not_started && !ended) {
      finish(End::timed_out);
      continue;
    }
    // Ended, and something holds its output; or it was asked to end and did not.
    result.held_open = result.held_open || result.end == End::not_started;
    ::kill(-child, SIGKILL);
    Pipe::close(out.from);
    Pipe::close(err.from);
    deadline = Clock::now() + limits.grace;
    --patience;
  }
  if (result.end != End::not_started) ::kill(-child, SIGKILL);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (interrupted != 0) ::raise(interrupted);
  if (result.end == End::not_started && error == 0) {
    result.end = WIFSIGNALED(status) ? End::signaled : End::exited;
    result.status = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
  }
  return result;
}

std::string describe(const RunResult& result, const RunLimits& limits) {
  const char* name = ::sigabbrev_np(result.status);
  switch (result.end) {
    case End::exited:
      return fmt::format("exited with status {}", result.status);
    case End::signaled:
      return fmt::format("was killed by {} ({})",
                         name == nullptr ? fmt::format("signal {}", result.status)
                                         : std::string("SIG") + name,
                         ::strsignal(result.status));
    case End::timed_out:
      return fmt::format("did not end within {:g} s",
                         std::chrono::duration<double>(limits.timeout).count());
    case End::too_much_output:
      return fmt::format("printed more than {} bytes", limits.output);
    case End::not_started:
      return "could not be started: " + result.reason;
  }
  return "";
}

}  // namespace transcript
