// Reading whole files, and replacing one so that a reader sees old or new, never half.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace common {

/// The bytes of a file. Throws std::system_error that names the path and the cause.
std::string read_file(const std::filesystem::path& path);

/// The new contents of a file, on disk beside it and not yet in its place, so that
/// several files can be made ready before the first one changes.
class Replacement {
 public:
  /// Writes `bytes` to a temporary file beside `path` (through symbolic links) and
  /// flushes it to disk. Throws std::system_error, and then leaves nothing.
  Replacement(const std::filesystem::path& path, std::string_view bytes);
  /// Removes the temporary file unless it was committed.
  ~Replacement();
  Replacement(Replacement&& other) noexcept;
  Replacement& operator=(Replacement&&) = delete;
  /// Renames the temporary file over the target. Throws std::system_error.
  void commit();

 private:
  std::filesystem::path target_;
  std::string temporary_;  // empty once it has been committed
};

/// Replaces `path` by `bytes`: a temporary file beside the target (through symbolic
/// links) is written, flushed to disk and renamed over it. Mode bits of an existing
/// target survive. Throws std::system_error; then the old file stands untouched and
/// the temporary one is gone.
void write_atomically(const std::filesystem::path& path, std::string_view bytes);

}  // namespace common
