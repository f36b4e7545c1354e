// Bytes for people: white space folded, and nothing that a terminal would obey or hide.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace transcript {

inline bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}
inline bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
inline bool is_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

std::string_view trim(std::string_view text);
/// Runs of white space become one space; leading and trailing ones go.
std::string fold(std::string_view text);
/// Whether two texts are equal but for the length of their runs of white space.
bool same_folded(std::string_view a, std::string_view b);

/// Where the first byte that is not UTF-8 stands, or npos.
std::size_t invalid_utf8(std::string_view text);

/// What a terminal may be shown: control characters and invalid UTF-8 become "\xNN",
/// characters that leave no mark "<U+00A0>", and what is beyond `limit` bytes "...".
std::string printable(std::string_view text, std::size_t limit = 400);

/// The last lines of `text`, `limit` bytes at most, each printable and with its end.
std::string last_lines(std::string_view text, std::size_t limit);

}  // namespace transcript
