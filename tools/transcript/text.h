// A program's bytes made comparable: line endings and terminal colours aside, and white
// space folded, with a note for everything that was set aside.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace transcript {

inline bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}
inline bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// `bytes` with ANSI escape sequences removed and CRLF turned into LF. One note a kind
/// of oddity: "ANSI escapes stripped", "CRLF line endings", "no newline at the end",
/// "invalid UTF-8 (first at byte N)", "NUL bytes". Works in place, in linear time.
std::string clean(std::string bytes, std::vector<std::string>& notes);

/// Runs of white space become one space; leading and trailing ones go.
std::string fold(std::string_view text);
std::string_view trim(std::string_view text);

/// Bytes that a terminal may be shown: control characters and invalid UTF-8 become
/// "\xNN", and text beyond `limit` bytes is replaced by "...".
std::string printable(std::string_view text, std::size_t limit = 400);

/// The last lines of `text`, `limit` bytes at most, each printable and with its end.
std::string last_lines(std::string_view text, std::size_t limit);

}  // namespace transcript
