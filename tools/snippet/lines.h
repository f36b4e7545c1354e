// The lines of a text, with their places and their endings.
#pragma once

#include <cstddef>
#include <string_view>

namespace snippet {

struct Line {
  std::size_t number = 0;   // counts from 1
  std::size_t begin = 0;    // offset of `text`, after a byte-order mark
  std::string_view text;    // without its ending
  std::string_view ending;  // "\n", "\r\n", or empty on a last line without one
  std::size_t end() const { return begin + text.size() + ending.size(); }
};

/// Walks a text line by line. A line ends with LF or CRLF; a lone CR is text. A UTF-8
/// byte-order mark at the very start belongs to no line.
class LineReader {
 public:
  explicit LineReader(std::string_view text, std::size_t begin = 0,
                      std::size_t number = 1);
  bool next(Line& line);

 private:
  std::string_view text_;
  std::size_t position_;
  std::size_t number_;
};

/// `text` without the spaces and tabs around it.
std::string_view trim(std::string_view text);

/// True if `text` holds nothing but spaces and tabs.
bool is_blank(std::string_view text);

}  // namespace snippet
