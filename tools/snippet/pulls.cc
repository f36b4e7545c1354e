#include "pulls.h"

#include <optional>

#include "comment.h"
#include "lines.h"
#include "markdown.h"

namespace snippet {
namespace {

constexpr std::string_view kOpen = "pull:";
constexpr std::string_view kClose = "end pull";
constexpr char kUnclosed[] = "a directive's comment closes on its own line";

struct Parser {
  const std::string& file;
  std::vector<common::Diagnostic>& errors;
  std::vector<Pull> pulls = {};
  std::optional<Pull> open = {};  // a block whose end is still to come
  bool open_is_wrong = false;     // its directive is reported already

  void error(const Line& line, std::size_t column, std::string message) {
    errors.push_back(
        {file, line.number, column, std::move(message), std::string(line.text)});
  }

  static std::size_t column(const Line& line, std::string_view part) {
    return static_cast<std::size_t>(part.data() - line.text.data()) + 1;
  }

  // `words` is the directive's text after "pull:"; false if it names nothing.
  bool address(const Line& line, std::string_view words, Pull& pull) {
    const std::string_view address = trim(words);
    const std::size_t hash = address.find('#');
    pull.line = line.number;
    pull.source = std::string(line.text);
    pull.column = address.empty() ? column(line, words) : column(line, address);
    if (hash == address.npos || hash == 0 || hash + 1 == address.size()) {
      error(line, pull.column, "a directive reads 'pull: FILE#NAME'");
      return false;
    }
    pull.file = std::string(address.substr(0, hash));
    pull.name = std::string(address.substr(hash + 1));
    if (pull.file[0] == '/' || ("/" + pull.file + "/").find("/../") != pull.file.npos) {
      error(
          line, pull.column,
          "'" + pull.file + "' is not below the repository's root; name it from there");
      return false;
    }
    return true;
  }

  void opens(const Line& line, std::string_view words, std::string_view prefix) {
    if (open) {
      error(line, column(line, words),
            "the pull of line " + std::to_string(open->line) +
                " is not ended yet; end it before the next one");
      return;
    }
    Pull pull;
    open_is_wrong = !address(line, words, pull);
    pull.prefix = continuation_prefix(prefix);
    pull.ending = std::string(line.ending);
    pull.begin = line.end();
    open = std::move(pull);
  }

  void closes(const Line& line, std::size_t column) {
    if (!open) {
      error(line, column, "this ends nothing: no pull is open here");
      return;
    }
    open->end = line.begin;
    if (!open_is_wrong) pulls.push_back(std::move(*open));
    open.reset();
  }

  void finish() {
    if (!open) return;
    errors.push_back({file, open->line, open->column,
                      "this pull is never ended; add the 'end pull' line",
                      open->source});
  }
};

// A directive as it stands in a line of Markdown: `<!-- words -->`.
struct Tag {
  std::size_t begin, end;  // in the line, with the comment's brackets
  std::string_view words;
};

// The next directive at or after `from`, outside code spans; one whose comment is not
// closed on its line has `end` == npos.
std::optional<Tag> next_tag(std::string_view line, std::size_t from) {
  std::size_t i = from;
  while (i < line.size()) {
    if (line[i] == '\\') {
      i += 2;
    } else if (line[i] == '`') {
      std::size_t length = line.find_first_not_of('`', i);
      length = (length == line.npos ? line.size() : length) - i;
      // The span ends at the next run of the same length, if there is one.
      std::size_t close = i + length;
      std::size_t run = 0;
      while (run != length && (close = line.find('`', close + run)) != line.npos) {
        run = line.find_first_not_of('`', close);
        run = (run == line.npos ? line.size() : run) - close;
      }
      i = (close == line.npos ? i : close) + length;
    } else if (line.substr(i).starts_with("<!--")) {
      const std::size_t close = line.find("-->", i + 4);
      const std::string_view words =
          trim(line.substr(i + 4, close == line.npos ? close : close - i - 4));
      const std::size_t end = close == line.npos ? close : close + 3;
      if (words.starts_with(kOpen) || words == kClose) return Tag{i, end, words};
      if (end == line.npos) return std::nullopt;
      i = end;
    } else {
      ++i;
    }
  }
  return std::nullopt;
}

class MarkdownParser : Parser {
 public:
  MarkdownParser(const std::string& file, std::vector<common::Diagnostic>& errors)
      : Parser{file, errors} {}

  std::vector<Pull> parse(std::string_view text) {
    LineReader reader(text);
    MarkdownScanner scanner;
    for (Line line; reader.next(line);) {
      const MarkdownScanner::Result result = scanner.next(line.text);
      if (result.kind == MarkdownScanner::Kind::code) continue;
      // What the tool owns may be anything; only an end counts there.
      if (open) {
        inside(line, result.content);
      } else {
        text_line(line, result);
      }
    }
    finish();
    return std::move(pulls);
  }

 private:
  void inside(const Line& line, std::size_t content) {
    const auto tag = next_tag(line.text, content);
    if (!tag || tag->begin != content) return;
    if (tag->end == line.text.npos) {
      error(line, tag->begin + 1, kUnclosed);
    } else if (tag->words.starts_with(kOpen)) {
      opens(line, tag->words.substr(kOpen.size()), "");
    } else if (is_blank(line.text.substr(tag->end))) {
      closes(line, tag->begin + 1);
    }
  }

  void text_line(const Line& line, const MarkdownScanner::Result& result) {
    auto tag = next_tag(line.text, result.content);
    while (tag) {
      if (tag->end == line.text.npos) {
        error(line, tag->begin + 1, kUnclosed);
        return;
      }
      if (tag->words == kClose) {
        closes(line, tag->begin + 1);
        tag = next_tag(line.text, tag->end);
        continue;
      }
      const std::string_view words = tag->words.substr(kOpen.size());
      const auto after = next_tag(line.text, tag->end);
      const bool first = tag->begin == result.content;
      if (!after && first && is_blank(line.text.substr(tag->end))) {
        if (result.kind == MarkdownScanner::Kind::deep_text) {
          error(line, tag->begin + 1,
                "a block cannot stand so deep in a paragraph; put a blank line before "
                "it, or indent it less");
          return;
        }
        opens(line, words, line.text.substr(0, result.content));
        return;
      }
      if (!after || after->words != kClose || after->end == line.text.npos) {
        error(
            line, tag->begin + 1,
            "a pull inside a sentence needs its '<!-- end pull -->' on the same line");
        return;
      }
      if (first) {
        error(
            line, tag->begin + 1,
            "a line of Markdown that begins with a comment is no sentence; put a word "
            "before the pull");
      }
      Pull pull;
      pull.inline_ = true;
      pull.begin = line.begin + tag->end;
      pull.end = line.begin + after->begin;
      if (address(line, words, pull) && !first) pulls.push_back(std::move(pull));
      tag = next_tag(line.text, after->end);
    }
  }
};

std::vector<Pull> parse_plain(const std::string& file, std::string_view text,
                              std::vector<common::Diagnostic>& errors) {
  Parser parser{file, errors};
  CommentScanner comments(file);
  LineReader reader(text);
  for (Line line; reader.next(line);) {
    const auto comment = comments.next(line.text);
    if (!comment) continue;
    if (comment->text.starts_with(kOpen)) {
      parser.opens(line, comment->text.substr(kOpen.size()), comment->indent);
    } else if (comment->text == kClose) {
      parser.closes(line, comment->column);
    }
  }
  parser.finish();
  return std::move(parser.pulls);
}

}  // namespace

bool is_markdown(std::string_view file) {
  return file.ends_with(".md");
}

std::vector<Pull> parse_pulls(const std::string& file, std::string_view text,
                              std::vector<common::Diagnostic>& errors) {
  if (is_markdown(file)) return MarkdownParser(file, errors).parse(text);
  return parse_plain(file, text, errors);
}

std::size_t find_directive(const std::string& file,
                           const std::vector<std::string>& lines) {
  CommentScanner comments(file);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto comment = comments.next(lines[i]);
    if (comment && (comment->text.starts_with(kOpen) || comment->text == kClose)) {
      return i + 1;
    }
  }
  return 0;
}

std::string replace_pulls(std::string_view text, const std::vector<Pull>& pulls,
                          const std::vector<std::string>& replacements) {
  std::string out;
  std::size_t done = 0;
  for (std::size_t i = 0; i < pulls.size(); ++i) {
    out += text.substr(done, pulls[i].begin - done);
    out += replacements[i];
    done = pulls[i].end;
  }
  out += text.substr(done);
  return out;
}

}  // namespace snippet
