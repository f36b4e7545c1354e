#include "process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace transcript {
namespace {

using Clock = std::chrono::steady_clock;
using End = RunResult::End;

struct Descriptor {
  int fd = -1;
  ~Descriptor() { close(); }
  void close() {
    if (fd >= 0) ::close(fd);
    fd = -1;
  }
};

/// In the child: becomes the program, or sends errno up the pipe.
[[noreturn]] void become(const std::vector<char*>& arguments,
                         const std::vector<char*>& environment, int out, int err,
                         int failed, const sigset_t& mask) {
  ::setpgid(0, 0);
  const int null = ::open("/dev/null", O_RDONLY);
  ::dup2(null, 0);
  ::dup2(out, 1);
  ::dup2(err, 2);
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
  ::execvpe(arguments[0], arguments.data(), environment.data());
  const int error = errno;
  if (::write(failed, &error, sizeof error) < 0) ::_exit(126);
  ::_exit(127);
}

}  // namespace

RunResult run(const std::vector<std::string>& command, const RunLimits& limits) {
  RunResult result;
  Descriptor out, err, failed, in_out, in_err, in_failed, exited, interrupts;
  for (auto [from, to] :
       {std::pair(&out, &in_out), {&err, &in_err}, {&failed, &in_failed}}) {
    std::array<int, 2> pipe{-1, -1};
    if (::pipe2(pipe.data(), O_CLOEXEC) != 0) result.reason = std::strerror(errno);
    from->fd = pipe[0];
    to->fd = pipe[1];
  }
  std::vector<char*> arguments;
  for (const std::string& one : command)
    arguments.push_back(const_cast<char*>(one.c_str()));
  arguments.push_back(nullptr);
  std::string locale = "LC_ALL=C";
  std::vector<char*> environment{locale.data()};
  for (char** one = ::environ; *one != nullptr; ++one) {
    if (std::strncmp(*one, "LC_ALL=", 7) != 0) environment.push_back(*one);
  }
  environment.push_back(nullptr);
  if (command.empty()) result.reason = "no command";
  if (!result.reason.empty()) return result;

  // The program has a group of its own, which a terminal's Ctrl-C does not reach.
  sigset_t caught, before;
  ::sigemptyset(&caught);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action;
    ::sigaction(signal, nullptr, &action);
    if (action.sa_handler != SIG_IGN) ::sigaddset(&caught, signal);
  }
  ::pthread_sigmask(SIG_BLOCK, &caught, &before);
  interrupts.fd = ::signalfd(-1, &caught, SFD_CLOEXEC);

  const auto begin = Clock::now();
  const pid_t child = ::fork();
  if (child == 0)
    become(arguments, environment, in_out.fd, in_err.fd, in_failed.fd, before);
  ::setpgid(child, child);
  for (Descriptor* one : {&in_out, &in_err, &in_failed}) one->close();
  int error = child < 0 ? errno : 0;
  if (child < 0 || ::read(failed.fd, &error, sizeof error) == sizeof error) {
    if (child > 0) ::waitpid(child, nullptr, 0);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    result.reason = std::strerror(error);
    return result;
  }
  exited.fd = static_cast<int>(::syscall(SYS_pidfd_open, child, 0));

  // Waits for the end of the program and of its output, until a deadline; then asks
  // the group to end, makes it end, and at last gives up on what holds the output.
  const auto forever = Clock::time_point::max();
  auto deadline = begin + limits.timeout;
  bool ended = false;
  int status = 0, interrupted = 0, patience = 2;
  const auto finish = [&](End why) {
    if (result.end != End::not_started) return;
    result.end = why;
    ::kill(-child, SIGTERM);
    deadline = Clock::now() + limits.grace;
  };
  std::array<char, 1 << 16> buffer;
  while ((!ended || out.fd >= 0 || err.fd >= 0) && patience > 0) {
    std::array<pollfd, 4> waited{{{out.fd, POLLIN, 0},
                                  {err.fd, POLLIN, 0},
                                  {ended ? -1 : exited.fd, POLLIN, 0},
                                  {interrupts.fd, POLLIN, 0}}};
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    // Without descriptors for processes, as before Linux 5.3, it is asked now and then.
    const auto most = exited.fd < 0 && !ended ? 20 : 1000;
    ::poll(waited.data(), waited.size(),
           static_cast<int>(std::clamp<long>(left.count(), 0, most)));
    for (const bool is_out : {true, false}) {
      Descriptor& from = is_out ? out : err;
      if (waited[is_out ? 0 : 1].revents == 0) continue;
      const ssize_t size = ::read(from.fd, buffer.data(), buffer.size());
      if (size < 0 && errno == EINTR) continue;
      if (size <= 0) {
        from.close();
        continue;
      }
      const auto count = static_cast<std::size_t>(size);
      std::string& kept = is_out ? result.out : result.err;
      const std::size_t room = (is_out ? limits.output : limits.error) - kept.size();
      kept.append(buffer.data(), std::min(count, room));
      if (!is_out) result.err_size += count;
      if (is_out && count > room) finish(End::too_much_output);
    }
    if (waited[3].revents != 0) {
      signalfd_siginfo info{};
      if (::read(interrupts.fd, &info, sizeof info) == sizeof info) {
        interrupted = static_cast<int>(info.ssi_signo);
      }
      finish(End::signaled);
    }
    if (!ended && ::waitpid(child, &status, WNOHANG) == child) {
      ended = true;
      result.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
      if (result.end == End::not_started) deadline = Clock::now() + limits.grace;
    }
    if (Clock::now() < deadline || deadline == forever) continue;
    if (result.end == End::not_started && !ended) {
      finish(End::timed_out);
      continue;
    }
    // Ended, and something holds its output; or it was asked to end and did not.
    result.held_open = result.held_open || result.end == End::not_started;
    ::kill(-child, SIGKILL);
    out.close();
    err.close();
    deadline = Clock::now() + limits.grace;
    --patience;
  }
  if (result.end != End::not_started) ::kill(-child, SIGKILL);
  if (!ended)
    result.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (interrupted != 0) ::raise(interrupted);
  if (result.end == End::not_started) {
    result.end = WIFSIGNALED(status) ? End::signaled : End::exited;
    result.status = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
  }
  return result;
}

std::string describe(const RunResult& result, const RunLimits& limits) {
  switch (result.end) {
    case End::exited:
      return fmt::format("exited with status {}", result.status);
    case End::signaled: {
      const char* name = ::sigabbrev_np(result.status);
      return fmt::format("was killed by {}{} ({})", name == nullptr ? "signal " : "SIG",
                         name == nullptr ? std::to_string(result.status) : name,
                         ::strsignal(result.status));
    }
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
