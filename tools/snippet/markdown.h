// As much of CommonMark's block structure as it takes to tell code from text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace snippet {

/// Reads the lines of a Markdown document in order. Follows quotations and list items,
/// because they decide where a fence ends and how deep an indentation is code.
class MarkdownScanner {
 public:
  enum class Kind {
    text,
    deep_text,  // goes on with a paragraph, but indented so that a fence could not open
    code        // a fence, what is inside it, indented code, a comment's second line on
  };
  struct Result {
    Kind kind;
    std::size_t
        content;  // where the line's own text begins, after `> `, `- ` and so on
  };
  Result next(std::string_view line);

 private:
  struct Container {
    bool quotation;
    std::size_t width;  // of a list item: columns from its parent's text to its own
  };
  class Cursor;

  bool enter(Cursor& cursor, const Container& container) const;
  bool open_container(Cursor& cursor);

  std::vector<Container> containers_;
  std::string fence_;       // the run that opened the fence that is open, or empty
  bool comment_ = false;    // an HTML comment of several lines is open
  bool paragraph_ = false;  // the last line was one that a paragraph can go on from
};

/// What the lines after the first begin with, so that they stand in the same
/// quotations and list items: list markers become spaces.
std::string continuation_prefix(std::string_view prefix);

}  // namespace snippet
