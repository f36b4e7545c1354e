#include "markdown.h"

#include <algorithm>

#include "lines.h"

namespace snippet {

// A place in a line, in bytes and in columns (tab stops every four, as CommonMark has
// them). `base` is the column at which the text of the innermost container begins.
class MarkdownScanner::Cursor {
 public:
  explicit Cursor(std::string_view line) : line_(line) { skip_space(); }

  std::size_t position() const { return position_; }
  std::size_t indent() const { return column_ > base_ ? column_ - base_ : 0; }
  bool blank() const { return position_ == line_.size(); }
  std::string_view rest() const { return line_.substr(position_); }

  void take(std::size_t bytes) {
    position_ += bytes;
    column_ += bytes;
    skip_space();
  }
  void enter_quotation() {
    base_ = column_ + 1;
    const std::string_view after = line_.substr(position_ + 1);
    if (after.starts_with(' ') || after.starts_with('\t')) ++base_;
    take(1);
  }
  void enter_item(std::size_t width) { base_ += width; }

 private:
  void skip_space() {
    for (; !blank(); ++position_) {
      if (line_[position_] == ' ') {
        ++column_;
      } else if (line_[position_] == '\t') {
        column_ += 4 - column_ % 4;
      } else {
        return;
      }
    }
  }

  std::string_view line_;
  std::size_t position_ = 0;
  std::size_t column_ = 0;
  std::size_t base_ = 0;
};

namespace {

std::size_t run_length(std::string_view text) {
  return text.empty() ? 0 : std::min(text.find_first_not_of(text[0]), text.size());
}

// The run of backticks or tildes that opens a fence, or nothing.
std::string_view fence_run(std::string_view rest) {
  if (!rest.starts_with("```") && !rest.starts_with("~~~")) return {};
  const std::size_t length = run_length(rest);
  if (rest[0] == '`' && rest.find('`', length) != rest.npos) return {};
  return rest.substr(0, length);
}

bool is_heading(std::string_view rest) {
  if (!rest.starts_with('#')) return false;
  const std::size_t length = run_length(rest);
  return length <= 6 && (length == rest.size() || rest[length] == ' ');
}

// A thematic break such as `* * *`, which is no list item.
bool is_break(std::string_view rest) {
  const auto marks = std::count(rest.begin(), rest.end(), rest[0]);
  const auto spaces = std::count_if(rest.begin(), rest.end(),
                                    [](char c) { return c == ' ' || c == '\t'; });
  return marks >= 3 && marks + spaces == static_cast<std::ptrdiff_t>(rest.size());
}

// Bytes of the list marker at the start of `rest`, or 0. `bare` items (no text, or a
// number other than 1) do not interrupt a paragraph.
std::size_t list_marker(std::string_view rest, bool paragraph) {
  std::size_t length = 0;
  bool from_one = true;
  if (rest[0] == '-' || rest[0] == '+' || rest[0] == '*') {
    if (is_break(rest)) return 0;
    length = 1;
  } else {
    while (length < rest.size() && rest[length] >= '0' && rest[length] <= '9') ++length;
    if (length == 0 || length > 9 || length == rest.size()) return 0;
    from_one = rest.substr(0, length) == "1";
    if (rest[length] != '.' && rest[length] != ')') return 0;
    ++length;
  }
  const std::string_view after = rest.substr(length);
  if (!after.empty() && after[0] != ' ' && after[0] != '\t') return 0;
  if (paragraph && (is_blank(after) || !from_one)) return 0;
  return length;
}

}  // namespace

bool MarkdownScanner::enter(Cursor& cursor, const Container& container) const {
  if (container.quotation) {
    if (cursor.indent() >= 4 || !cursor.rest().starts_with('>')) return false;
    cursor.enter_quotation();
    return true;
  }
  if (cursor.blank()) return true;
  if (cursor.indent() < container.width) return false;
  cursor.enter_item(container.width);
  return true;
}

bool MarkdownScanner::open_container(Cursor& cursor) {
  if (cursor.blank() || cursor.indent() >= 4) return false;
  if (cursor.rest().starts_with('>')) {
    containers_.push_back({true, 0});
    cursor.enter_quotation();
    return true;
  }
  const std::size_t marker = list_marker(cursor.rest(), paragraph_);
  if (marker == 0) return false;
  const std::size_t start = cursor.indent();
  cursor.take(marker);
  std::size_t width = cursor.indent();
  // Text that stands five or more columns after its marker is indented code.
  if (cursor.blank() || width >= start + marker + 5) width = start + marker + 1;
  containers_.push_back({false, width});
  cursor.enter_item(width);
  return true;
}

MarkdownScanner::Result MarkdownScanner::next(std::string_view line) {
  Cursor cursor(line);
  std::size_t matched = 0;
  while (matched < containers_.size() && enter(cursor, containers_[matched])) ++matched;

  const bool left = matched < containers_.size();
  containers_.resize(matched);
  if (left) {
    fence_.clear();
    comment_ = false;
  }
  if (!fence_.empty()) {
    const std::string_view rest = cursor.rest();
    if (cursor.indent() < 4 && rest.starts_with(fence_) &&
        is_blank(
            rest.substr(std::min(rest.find_first_not_of(fence_[0]), rest.size())))) {
      fence_.clear();
    }
    return {Kind::code, cursor.position()};
  }
  if (comment_) {
    comment_ = cursor.rest().find("-->") == line.npos;
    return {Kind::code, cursor.position()};
  }

  while (open_container(cursor)) paragraph_ = false;
  const std::string_view rest = cursor.rest();
  const Result text{Kind::text, cursor.position()};
  if (cursor.blank()) {
    paragraph_ = false;
    return text;
  }
  if (cursor.indent() >= 4) {
    return {paragraph_ ? Kind::deep_text : Kind::code, cursor.position()};
  }
  paragraph_ = false;
  fence_ = fence_run(rest);
  if (!fence_.empty()) return {Kind::code, cursor.position()};
  if (rest.starts_with("<!--")) {
    comment_ = rest.find("-->") == rest.npos;
    return text;
  }
  paragraph_ = !is_heading(rest);
  return text;
}

std::string continuation_prefix(std::string_view prefix) {
  std::string continued(prefix);
  for (char& c : continued) {
    if (c != '>' && c != '\t') c = ' ';
  }
  return continued;
}

}  // namespace snippet
