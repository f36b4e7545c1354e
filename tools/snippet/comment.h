// Comments that fill their line: the only places where marks and directives count.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace snippet {

struct Comment {
  std::string_view indent;  // the white space before the comment
  std::string_view text;    // what it says, trimmed
  std::size_t column = 0;   // of `text`, counting bytes from 1
};

/// The comment that is alone on `line`, in any of the families
/// `//`, `#`, `--`, `;`, `/* ... */`, `<!-- ... -->`.
std::optional<Comment> whole_line_comment(std::string_view line);

/// Reads the lines of one file in order and gives the comments that fill a line. In
/// the C family (by the ending of `file`) a line that stands inside a raw string
/// literal or inside a comment of several lines is text, whatever it looks like.
class CommentScanner {
 public:
  explicit CommentScanner(std::string_view file);
  std::optional<Comment> next(std::string_view line);

 private:
  void follow(std::string_view line);

  bool c_family_;
  std::string closing_;  // what ends the literal or comment that is open, or empty
};

}  // namespace snippet
