#include "text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace transcript {
namespace {

/// The length of the UTF-8 character that starts a text, or 0 if it is none.
std::size_t decode(std::string_view text, std::uint32_t& code) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  const std::size_t length = first < 0x80                    ? 1
                             : first >= 0xC2 && first < 0xE0 ? 2
                             : first >= 0xE0 && first < 0xF0 ? 3
                             : first >= 0xF0 && first < 0xF5 ? 4
                                                             : 0;
  if (length == 0 || length > text.size()) return 0;
  code = length == 1 ? first : first & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3F);
  }
  const bool too_long =
      (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  return too_long || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000) ? 0 : length;
}

/// Characters that look like a space or like nothing, or that turn the text around.
bool leaves_no_mark(std::uint32_t code) {
  return (code >= 0x80 && code <= 0xA0) || code == 0xAD || code == 0x34F ||
         code == 0x61C || code == 0x1680 || code == 0x180E ||
         (code >= 0x2000 && code <= 0x200F) || (code >= 0x2028 && code <= 0x202F) ||
         (code >= 0x205F && code <= 0x206F) || code == 0x3000 || code == 0xFEFF ||
         (code >= 0xFE00 && code <= 0xFE0F) || code >= 0xE0000;
}

}  // namespace

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

bool same_folded(std::string_view a, std::string_view b) {
  if (a == b) return true;
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (is_space(a[i]) && is_space(b[j])) {
      while (i < a.size() && is_space(a[i])) ++i;
      while (j < b.size() && is_space(b[j])) ++j;
    } else if (a[i++] != b[j++]) {
      return false;
    }
  }
  return i == a.size() && j == b.size();
}

std::size_t invalid_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    std::uint64_t word = ~std::uint64_t{0};  // eight ASCII bytes at a time
    if (text.size() - i >= 8) std::memcpy(&word, text.data() + i, 8);
    if ((word & 0x8080808080808080u) == 0) {
      i += 8;
      continue;
    }
    std::uint32_t code;
    const std::size_t length = decode(text.substr(i), code);
    if (length == 0) return i;
    i += length;
  }
  return std::string_view::npos;
}

std::string printable(std::string_view text, std::size_t limit) {
  std::string shown;
  for (std::size_t i = 0; i < text.size();) {
    if (i >= limit) return shown + "...";
    std::uint32_t code = 0;
    const std::size_t length = decode(text.substr(i), code);
    if (length == 0 || code < 0x20 || code == 0x7F) {
      const auto byte = static_cast<unsigned char>(text[i]);
      shown += text[i] == '\t' ? " " : fmt::format("\\x{:02X}", byte);
    } else if (leaves_no_mark(code)) {
      shown += fmt::format("<U+{:04X}>", code);
    } else {
      shown += text.substr(i, length);
    }
    i += std::max<std::size_t>(length, 1);
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
