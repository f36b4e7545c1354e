#include "lines.h"

namespace snippet {

LineReader::LineReader(std::string_view text, std::size_t begin, std::size_t number)
    : text_(text), position_(begin), number_(number) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (begin == 0 && text.starts_with(kByteOrderMark)) {
    position_ = kByteOrderMark.size();
  }
}

bool LineReader::next(Line& line) {
  if (position_ >= text_.size()) return false;
  const std::size_t feed = text_.find('\n', position_);
  const std::size_t next = feed == text_.npos ? text_.size() : feed + 1;
  std::size_t end = feed == text_.npos ? next : feed;
  if (end < next && end > position_ && text_[end - 1] == '\r') --end;
  line = {number_++, position_, text_.substr(position_, end - position_),
          text_.substr(end, next - end)};
  position_ = next;
  return true;
}

std::string_view trim(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

bool is_blank(std::string_view text) {
  return trim(text).empty();
}

}  // namespace snippet
