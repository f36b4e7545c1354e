#include "process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/process/args.hpp>
#include <boost/process/async.hpp>
#include <boost/process/async_pipe.hpp>
#include <boost/process/child.hpp>
#include <boost/process/env.hpp>
#include <boost/process/environment.hpp>
#include <boost/process/exe.hpp>
#include <boost/process/extend.hpp>
#include <boost/process/group.hpp>
#include <boost/process/io.hpp>
#include <cstring>
#include <functional>
#include <utility>  // before asio, whose awaitable.hpp in Boost 1.74 lacks it

namespace transcript {
namespace {

namespace asio = boost::asio;
namespace bp = boost::process;
using Clock = std::chrono::steady_clock;
using Error = boost::system::error_code;

/// The file that a shell would run, or an empty string.
std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* path = std::getenv("PATH");
  std::string_view left = path == nullptr ? "/usr/bin:/bin" : path;
  for (;;) {
    const std::size_t colon = left.find(':');
    const std::string folder(left.substr(0, colon));
    const std::string file = (folder.empty() ? "." : folder) + "/" + name;
    if (::access(file.c_str(), X_OK) == 0) return file;
    if (colon == std::string_view::npos) return "";
    left.remove_prefix(colon + 1);
  }
}

/// One run. Everything happens in the thread that calls it.
class Runner {
 public:
  explicit Runner(const RunLimits& limits) : limits_(limits) {}

  RunResult run(const std::vector<std::string>& command) {
    const std::string program = command.empty() ? "" : find_program(command[0]);
    if (program.empty()) {
      result_.reason = "no such program in PATH";
      return std::move(result_);
    }
    bp::environment environment = boost::this_process::environment();
    environment["LC_ALL"] = "C";
    const auto begin = Clock::now();
    std::error_code error;
    for (bp::async_pipe* pipe : {&out_, &err_}) {
      // The program gets copies as its streams; an end it kept besides would never
      // close.
      ::fcntl(pipe->native_source(), F_SETFD, FD_CLOEXEC);
      ::fcntl(pipe->native_sink(), F_SETFD, FD_CLOEXEC);
    }
    bp::child child(
        bp::exe = program,
        bp::args = std::vector<std::string>(command.begin() + 1, command.end()),
        environment, bp::std_in<bp::null, bp::std_out> out_, bp::std_err > err_, group_,
        error, io_, bp::on_exit = [&](int, const std::error_code&) { ended(); },
        bp::extend::on_error = [&](auto& executor,
                                   const std::error_code&) { pid_ = executor.pid; });
    if (error) {
      if (pid_ > 0) ::waitpid(pid_, nullptr, 0);  // Boost 1.74 may leave it a zombie
      result_.reason = error.message();
      return std::move(result_);
    }
    pid_ = child.id();
    read(out_, out_buffer_, [this](std::string_view bytes) { keep_out(bytes); });
    read(err_, err_buffer_, [this](std::string_view bytes) { keep_err(bytes); });
    after(limits_.timeout, [this] { finish(RunResult::End::timed_out); });
    end_with_this_process();
    io_.run();
    if (finishing()) ::kill(-pid_, SIGKILL);  // whoever let go of the pipes but stayed
    if (interrupted_ != 0) {
      signals_.clear();
      ::raise(interrupted_);
    }

    result_.seconds =
        std::chrono::duration<double>((ended_ ? ended_at_ : Clock::now()) - begin)
            .count();
    const int status = child.native_exit_code();
    if (result_.end == RunResult::End::not_started) {
      const bool signaled = WIFSIGNALED(status);
      result_.end = signaled ? RunResult::End::signaled : RunResult::End::exited;
      result_.status = signaled ? WTERMSIG(status) : WEXITSTATUS(status);
    }
    child.detach();
    group_.detach();
    return std::move(result_);
  }

 private:
  using Buffer = std::array<char, 1 << 16>;

  void read(bp::async_pipe& pipe, Buffer& buffer,
            std::function<void(std::string_view)> keep) {
    pipe.async_read_some(
        asio::buffer(buffer),
        [this, &pipe, &buffer, keep](const Error& error, std::size_t size) {
          keep({buffer.data(), size});
          if (!error) {
            read(pipe, buffer, keep);
          } else if (++closed_ == 2 && ended_) {
            stop_waiting();
          }
        });
  }

  void keep_out(std::string_view bytes) {
    const std::size_t room = limits_.output - result_.out.size();
    result_.out += bytes.substr(0, room);
    if (bytes.size() > room) finish(RunResult::End::too_much_output);
  }

  void keep_err(std::string_view bytes) {
    result_.err_size += bytes.size();
    result_.err += bytes.substr(0, limits_.error - result_.err.size());
  }

  /// The program ended; a descendant may still hold its pipes.
  void ended() {
    ended_ = true;
    ended_at_ = Clock::now();
    if (closed_ == 2) {
      stop_waiting();
    } else if (!finishing()) {
      after(limits_.grace, [this] {
        result_.held_open = true;
        kill();
      });
    }
  }

  void stop_waiting() {
    timer_.cancel();
    signals_.cancel();
  }

  /// The program has a group of its own, which a terminal's Ctrl-C does not reach.
  void end_with_this_process() {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
      struct sigaction action;
      ::sigaction(signal, nullptr, &action);
      if (action.sa_handler != SIG_IGN) signals_.add(signal);
    }
    signals_.async_wait([this](const Error& canceled, int signal) {
      if (canceled) return;
      interrupted_ = signal;
      finish(RunResult::End::signaled);
    });
  }

  bool finishing() const { return result_.end != RunResult::End::not_started; }

  /// Asks the whole group to end, and after the grace makes it.
  void finish(RunResult::End why) {
    if (finishing()) return;
    result_.end = why;
    ::kill(-pid_, SIGTERM);
    after(limits_.grace, [this] { kill(); });
  }

  void kill() {
    ::kill(-pid_, SIGKILL);
    Error ignored;
    out_.close(ignored);
    err_.close(ignored);
    // Even KILL takes its time while the kernel holds the program.
    if (!ended_) after(limits_.grace, [this] { io_.stop(); });
  }

  /// One thing at a time is waited for; the last one asked for counts.
  void after(std::chrono::milliseconds time, std::function<void()> then) {
    timer_.expires_after(time);
    timer_.async_wait([then](const Error& canceled) {
      if (!canceled) then();
    });
  }

  RunLimits limits_;
  RunResult result_;
  asio::io_context io_;
  bp::async_pipe out_{io_}, err_{io_};
  bp::group group_;
  asio::steady_timer timer_{io_};
  asio::signal_set signals_{io_};
  Buffer out_buffer_, err_buffer_;
  pid_t pid_ = 0;
  int closed_ = 0;
  int interrupted_ = 0;
  bool ended_ = false;
  Clock::time_point ended_at_;
};

}  // namespace

RunResult run(const std::vector<std::string>& command, const RunLimits& limits) {
  return Runner(limits).run(command);
}

std::string describe(const RunResult& result, const RunLimits& limits) {
  switch (result.end) {
    case RunResult::End::exited:
      return fmt::format("exited with status {}", result.status);
    case RunResult::End::signaled: {
      const char* name = ::sigabbrev_np(result.status);
      return fmt::format("was killed by {}{} ({})", name == nullptr ? "signal " : "SIG",
                         name == nullptr ? std::to_string(result.status) : name,
                         ::strsignal(result.status));
    }
    case RunResult::End::timed_out:
      return fmt::format("did not end within {:g} s",
                         std::chrono::duration<double>(limits.timeout).count());
    case RunResult::End::too_much_output:
      return fmt::format("printed more than {} bytes", limits.output);
    case RunResult::End::not_started:
      return "could not be started: " + result.reason;
  }
  return "";
}

}  // namespace transcript
