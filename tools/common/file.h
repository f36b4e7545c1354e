// Reading whole files, and replacing one so that a reader sees old or new, never half.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace common {

/// The bytes of a file. Throws std::system_error that names the path and the cause.
std::string read_file(const std::filesystem::path& path);

/// Replaces `path` by `bytes`: a temporary file beside the target (through symbolic
/// links) is written, flushed to disk and renamed over it. Mode bits of an existing
/// target survive. Throws std::system_error; then the old file stands untouched and
/// the temporary one is gone.
void write_atomically(const std::filesystem::path& path, std::string_view bytes);

}  // namespace common
