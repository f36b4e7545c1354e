#include "marks.h"

#include <algorithm>

#include "comment.h"
#include "lines.h"

namespace snippet {
namespace {

constexpr std::string_view kOpen = "snippet:";
constexpr std::string_view kClose = "end snippet";
constexpr std::string_view kCloseNamed = "end snippet:";

bool is_mark(std::string_view comment) {
  return comment.starts_with(kOpen) || comment == kClose ||
         comment.starts_with(kCloseNamed);
}

struct Parser {
  struct Open {
    Region region;
    std::size_t line = 0;
    std::size_t column = 0;
    std::string source;
    bool keep = false;  // false: its mark was wrong and is already reported
  };

  const std::string& file;
  std::vector<common::Diagnostic>& errors;
  std::vector<Region> regions = {};
  std::vector<Open> open = {};

  void error(const Line& line, std::size_t column, std::string message) {
    errors.push_back(
        {file, line.number, column, std::move(message), std::string(line.text)});
  }

  const Region* known(std::string_view name) const {
    for (const Open& o : open) {
      if (o.keep && o.region.name == name) return &o.region;
    }
    for (const Region& r : regions) {
      if (r.name == name) return &r;
    }
    return nullptr;
  }

  void opens(const Line& line, std::size_t column, std::string_view name) {
    bool keep = false;
    if (!is_region_name(name)) {
      error(line, column,
            "'" + std::string(name) +
                "' names no region: use lower-case letters and digits, with single "
                "dashes between words");
    } else if (const Region* first = known(name)) {
      error(line, column,
            "region '" + std::string(name) +
                "' is marked twice: the first is at line " +
                std::to_string(first->first_line - 1) + "; rename one");
    } else {
      keep = true;
    }
    Open& opened = open.emplace_back();
    opened.region.name = name;
    opened.region.first_line = line.number + 1;
    opened.region.begin = line.end();
    opened.line = line.number;
    opened.column = column;
    opened.source = line.text;
    opened.keep = keep;
  }

  void closes(const Line& line, std::size_t line_begin) {
    Open& inner = open.back();
    inner.region.last_line = line.number - 1;
    inner.region.end = line_begin;
    if (inner.keep) regions.push_back(std::move(inner.region));
    open.pop_back();
  }

  void closes_named(const Line& line, std::size_t column, std::string_view name) {
    const auto named = std::find_if(open.rbegin(), open.rend(), [&](const Open& o) {
      return o.region.name == name;
    });
    const std::string quoted = "'" + std::string(name) + "'";
    const Open& inner = open.back();
    const std::string innermost =
        "'" + inner.region.name + "' (line " + std::to_string(inner.line) + ")";
    if (named == open.rend()) {
      error(line, column,
            "no open region is called " + quoted + "; the innermost is " + innermost);
    } else if (named != open.rbegin()) {
      error(
          line, column,
          "region " + quoted + " cannot end inside " + innermost + "; end that first");
      open.resize(open.size() - static_cast<std::size_t>(named - open.rbegin()));
    }
    closes(line, line.begin);
  }
};

}  // namespace

bool is_region_name(std::string_view name) {
  bool dash_allowed = false;
  for (const char c : name) {
    if (c == '-') {
      if (!dash_allowed) return false;
      dash_allowed = false;
    } else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
      dash_allowed = true;
    } else {
      return false;
    }
  }
  return dash_allowed;
}

std::vector<Region> parse_marks(const std::string& file, std::string_view text,
                                std::vector<common::Diagnostic>& errors) {
  Parser parser{file, errors};
  CommentScanner comments(file);
  LineReader reader(text);
  for (Line line; reader.next(line);) {
    const auto comment = comments.next(line.text);
    if (!comment || !is_mark(comment->text)) continue;
    const std::size_t colon = comment->text.find(':');
    const std::string_view name =
        colon == comment->text.npos ? "" : trim(comment->text.substr(colon + 1));
    const std::size_t column =
        name.empty() ? comment->column
                     : static_cast<std::size_t>(name.data() - line.text.data()) + 1;
    if (comment->text.starts_with(kOpen)) {
      parser.opens(line, column, name);
    } else if (parser.open.empty()) {
      parser.error(line, comment->column,
                   "this closes nothing: no region is open here");
    } else if (colon == comment->text.npos) {
      parser.closes(line, line.begin);
    } else {
      parser.closes_named(line, column, name);
    }
  }
  for (const Parser::Open& open : parser.open) {
    errors.push_back({file, open.line, open.column,
                      "region '" + open.region.name +
                          "' is opened here and never closed; add 'end snippet'",
                      open.source});
  }
  std::sort(
      parser.regions.begin(), parser.regions.end(),
      [](const Region& a, const Region& b) { return a.first_line < b.first_line; });
  return std::move(parser.regions);
}

std::vector<std::string> region_lines(const std::string& file, std::string_view text,
                                      const Region& region) {
  std::vector<std::string> lines;
  CommentScanner comments(file);
  LineReader reader(text.substr(0, region.end), region.begin, region.first_line);
  for (Line line; reader.next(line);) {
    const auto comment = comments.next(line.text);
    if (!comment || !is_mark(comment->text)) lines.emplace_back(line.text);
  }
  return lines;
}

}  // namespace snippet
