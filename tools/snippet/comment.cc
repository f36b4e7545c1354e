#include "comment.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "lines.h"

namespace snippet {
namespace {

struct Family {
  std::string_view open, close;
};

constexpr std::array<Family, 6> kFamilies = {
    {{"//", ""}, {"#", ""}, {"--", ""}, {";", ""}, {"/*", "*/"}, {"<!--", "-->"}}};

bool is_identifier(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

}  // namespace

std::optional<Comment> whole_line_comment(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(" \t");
  if (begin == line.npos) return std::nullopt;
  for (const Family& family : kFamilies) {
    std::string_view body = line.substr(begin);
    if (!body.starts_with(family.open)) continue;
    body = trim(body.substr(family.open.size()));
    if (!family.close.empty()) {
      // The comment's first end must be the end of the line.
      const std::size_t close = body.find(family.close);
      if (close == body.npos || close + family.close.size() != body.size()) continue;
      body = trim(body.substr(0, close));
    }
    const auto column = static_cast<std::size_t>(body.data() - line.data()) + 1;
    return Comment{line.substr(0, begin), body, body.empty() ? begin + 1 : column};
  }
  return std::nullopt;
}

CommentScanner::CommentScanner(std::string_view file) {
  constexpr std::array<std::string_view, 10> kEndings = {
      ".c", ".cc", ".cpp", ".cxx", ".cu", ".cuh", ".h", ".hh", ".hpp", ".inl"};
  c_family_ = std::any_of(kEndings.begin(), kEndings.end(),
                          [&](std::string_view e) { return file.ends_with(e); });
}

std::optional<Comment> CommentScanner::next(std::string_view line) {
  const bool inside = !closing_.empty();
  // Only these two open what the end of a line does not close.
  if (c_family_ &&
      (inside || line.find("R\"") != line.npos || line.find("/*") != line.npos)) {
    follow(line);
  }
  return inside ? std::nullopt : whole_line_comment(line);
}

void CommentScanner::follow(std::string_view line) {
  std::size_t i = 0;
  while (i < line.size()) {
    if (!closing_.empty()) {
      const std::size_t end = line.find(closing_, i);
      if (end == line.npos) return;
      i = end + closing_.size();
      closing_.clear();
      continue;
    }
    const std::string_view rest = line.substr(i);
    if (rest.starts_with("//")) return;
    if (rest.starts_with("/*")) {
      closing_ = "*/";
      i += 2;
    } else if (rest[0] == '"' ||
               (rest[0] == '\'' && !(i > 0 && is_identifier(line[i - 1])))) {
      // An ordinary literal ends on its line; a quote in a number (1'000) opens none.
      std::size_t end = i + 1;
      while (end < line.size() && line[end] != rest[0]) {
        end += line[end] == '\\' ? 2 : 1;
      }
      i = end + 1;
    } else if (is_identifier(rest[0])) {
      std::size_t end = i;
      while (end < line.size() && is_identifier(line[end])) ++end;
      const std::string_view word = line.substr(i, end - i);
      const bool raw =
          word == "R" || word == "LR" || word == "uR" || word == "UR" || word == "u8R";
      i = end;
      if (!raw || i >= line.size() || line[i] != '"') continue;
      const std::size_t paren = line.find('(', i);
      if (paren == line.npos) return;
      closing_ = ")";
      closing_ += line.substr(i + 1, paren - i - 1);
      closing_ += '"';
      i = paren + 1;
    } else {
      ++i;
    }
  }
}

}  // namespace snippet
