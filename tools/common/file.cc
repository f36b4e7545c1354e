#include "file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace common {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const char* doing) {
  throw std::system_error(errno, std::generic_category(),
                          path.string() + ": cannot " + doing);
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  bool close() {
    const int fd = fd_;
    fd_ = -1;
    return ::close(fd) == 0;
  }

 private:
  int fd_;
};

}  // namespace

std::string read_file(const std::filesystem::path& path) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) fail(path, "open");
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) fail(path, "read");
  std::string bytes;
  std::size_t used = 0;
  for (;;) {
    // One byte more than the file reports, so that its end is seen without a copy;
    // pipes report nothing and grow as they go.
    if (bytes.size() == used) {
      const auto reported = static_cast<std::size_t>(status.st_size);
      bytes.resize(used < reported + 1 ? reported + 1 : used * 2 + 4096);
    }
    const ssize_t got = ::read(file.get(), bytes.data() + used, bytes.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(path, "read");
    if (got == 0) break;
    used += static_cast<std::size_t>(got);
  }
  bytes.resize(used);
  return bytes;
}

Replacement::Replacement(const std::filesystem::path& path, std::string_view bytes) {
  std::error_code missing;
  target_ = std::filesystem::canonical(path, missing);
  if (missing) target_ = path;

  temporary_ = target_.string() + ".XXXXXX";
  Descriptor file(::mkostemp(temporary_.data(), O_CLOEXEC));
  if (file.get() < 0) fail(target_, "write beside");
  const auto abandon = [&] {
    const int cause = errno;
    ::unlink(temporary_.c_str());
    errno = cause;
    fail(target_, "write");
  };

  struct stat status {};
  mode_t mode;
  if (::stat(target_.c_str(), &status) == 0) {
    mode = status.st_mode & 07777;
  } else {
    const mode_t mask = ::umask(0);
    ::umask(mask);
    mode = 0666 & ~mask;
  }
  while (!bytes.empty()) {
    const ssize_t put = ::write(file.get(), bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) abandon();
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  if (::fchmod(file.get(), mode) != 0 || ::fsync(file.get()) != 0 || !file.close()) {
    abandon();
  }
}

Replacement::Replacement(Replacement&& other) noexcept
    : target_(std::move(other.target_)),
      temporary_(std::exchange(other.temporary_, {})) {}

Replacement::~Replacement() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void Replacement::commit() {
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail(target_, "replace");
  temporary_.clear();
}

void write_atomically(const std::filesystem::path& path, std::string_view bytes) {
  Replacement(path, bytes).commit();
}

}  // namespace common
