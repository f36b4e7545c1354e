#include "text.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace transcript {
namespace {

/// The length of the valid UTF-8 character at `p`, or 0.
std::size_t utf8_length(const unsigned char* p, std::size_t left) {
  const auto follows = [&](std::size_t i, unsigned lowest = 0x80, unsigned top = 0xBF) {
    return i < left && p[i] >= lowest && p[i] <= top;
  };
  if (p[0] < 0x80) return 1;
  if (p[0] >= 0xC2 && p[0] <= 0xDF) return follows(1) ? 2 : 0;
  if (p[0] >= 0xE0 && p[0] <= 0xEF) {
    const unsigned lowest = p[0] == 0xE0 ? 0xA0 : 0x80;
    const unsigned top = p[0] == 0xED ? 0x9F : 0xBF;
    return follows(1, lowest, top) && follows(2) ? 3 : 0;
  }
  if (p[0] >= 0xF0 && p[0] <= 0xF4) {
    const unsigned lowest = p[0] == 0xF0 ? 0x90 : 0x80;
    const unsigned top = p[0] == 0xF4 ? 0x8F : 0xBF;
    return follows(1, lowest, top) && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

const unsigned char* unsigned_bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

/// Where the first byte that is not UTF-8 stands, or npos.
std::size_t invalid_utf8(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size()) {
    // Eight ASCII bytes at a time: transcripts are nearly nothing else.
    if (text.size() - i >= 8) {
      std::uint64_t word;
      std::memcpy(&word, text.data() + i, 8);
      if ((word & 0x8080808080808080u) == 0) {
        i += 8;
        continue;
      }
    }
    const std::size_t length = utf8_length(unsigned_bytes(text) + i, text.size() - i);
    if (length == 0) return i;
    i += length;
  }
  return std::string_view::npos;
}

/// The end of the escape sequence (ECMA-48) that starts at `begin`; never past its
/// line.
std::size_t escape_end(const std::string& bytes, std::size_t begin) {
  std::size_t i = begin + 1;
  if (i == bytes.size() || bytes[i] == '\n') return i;
  const char kind = bytes[i++];
  if (kind == '[') {
    while (i < bytes.size() && bytes[i] >= 0x20 && bytes[i] <= 0x3F) ++i;
    if (i < bytes.size() && bytes[i] >= 0x40 && bytes[i] <= 0x7E) ++i;
  } else if (kind == ']' || kind == 'P' || kind == '^' || kind == '_') {
    while (i < bytes.size() && bytes[i] != '\a' && bytes[i] != '\x1B' &&
           bytes[i] != '\n') {
      ++i;
    }
    if (i < bytes.size() && bytes[i] == '\a') ++i;
    if (i + 1 < bytes.size() && bytes[i] == '\x1B' && bytes[i + 1] == '\\') i += 2;
  } else if (kind >= 0x20 && kind <= 0x2F) {
    if (i < bytes.size() && bytes[i] != '\n') ++i;
  }
  return i;
}

}  // namespace

std::string clean(std::string bytes, std::vector<std::string>& notes) {
  if (bytes.find('\x1B') != std::string::npos) {
    notes.push_back("ANSI escapes stripped");
    std::size_t out = 0;
    for (std::size_t i = 0; i < bytes.size();) {
      if (bytes[i] == '\x1B') {
        i = escape_end(bytes, i);
      } else {
        bytes[out++] = bytes[i++];
      }
    }
    bytes.resize(out);
  }
  if (bytes.find("\r\n") != std::string::npos) {
    notes.push_back("CRLF line endings");
    std::size_t out = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      if (bytes[i] == '\r' && i + 1 < bytes.size() && bytes[i + 1] == '\n') continue;
      bytes[out++] = bytes[i];
    }
    bytes.resize(out);
  }
  if (!bytes.empty() && bytes.back() != '\n') notes.push_back("no newline at the end");
  if (bytes.find('\0') != std::string::npos) notes.push_back("NUL bytes");
  if (const std::size_t at = invalid_utf8(bytes); at != std::string::npos) {
    notes.push_back("invalid UTF-8 (first at byte " + std::to_string(at) + ")");
  }
  return bytes;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::string fold(std::string_view text) {
  text = trim(text);
  std::string folded;
  folded.reserve(text.size());
  for (const char c : text) {
    if (!is_space(c)) {
      folded += c;
    } else if (folded.back() != ' ') {
      folded += ' ';
    }
  }
  return folded;
}

std::string printable(std::string_view text, std::size_t limit) {
  std::string shown;
  for (std::size_t i = 0; i < text.size();) {
    if (i >= limit) return shown + "...";
    const std::size_t length = utf8_length(unsigned_bytes(text) + i, text.size() - i);
    const auto byte = static_cast<unsigned char>(text[i]);
    if (length == 0 || byte < 0x20 || byte == 0x7F) {
      char hex[5];
      std::snprintf(hex, sizeof hex, "\\x%02X", byte);
      shown += byte == '\t' ? " " : hex;
      ++i;
    } else {
      shown += text.substr(i, length);
      i += length;
    }
  }
  return shown;
}

std::string last_lines(std::string_view text, std::size_t limit) {
  text = trim(text);
  std::string shown;
  if (text.size() > limit) {
    text.remove_prefix(text.size() - limit);
    const std::size_t end = text.find('\n');
    if (end != std::string_view::npos) text.remove_prefix(end + 1);
    shown = "...\n";
  }
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    shown += printable(text.substr(0, end), limit) + "\n";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return shown;
}

}  // namespace transcript
