#include "lexer.h"

#include <algorithm>

namespace cpu_cuda {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         c == '$' || static_cast<unsigned char>(c) >= 0x80;
}

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(source) {}

  std::vector<Token> run() {
    while (at_ < source_.size()) step();
    return std::move(tokens_);
  }

 private:
  void step() {
    const char c = source_[at_];
    if (splice() > 0) {
      at_ += splice();
    } else if (c == '\n') {
      end_line();
    } else if (c == ' ' || (c >= '\t' && c <= '\r')) {
      ++at_;
    } else if (starts("//") || starts("/*")) {
      skip_comment();
    } else if (c == '#' && line_is_blank_) {
      directive();
    } else {
      line_is_blank_ = false;
      token();
    }
  }

  void token() {
    const char c = source_[at_];
    const char next = at_ + 1 < source_.size() ? source_[at_ + 1] : '\0';
    const std::size_t begin = at_;
    if (is_digit(c) || (c == '.' && is_digit(next))) {
      skip_number();
      add(Token::Kind::literal, begin);
    } else if (is_word(c)) {
      while (at_ < source_.size() && is_word(source_[at_])) ++at_;
      const std::string_view word = source_.substr(begin, at_ - begin);
      static constexpr std::string_view raw[] = {"R", "u8R", "uR", "UR", "LR"};
      if (starts("\"") &&
          std::find(std::begin(raw), std::end(raw), word) != std::end(raw)) {
        skip_raw_string();
        add(Token::Kind::literal, begin);
      } else {
        add(Token::Kind::word, begin);
      }
    } else if (c == '"' || c == '\'') {
      skip_quoted(c);
      add(Token::Kind::literal, begin);
    } else {
      ++at_;
      add(Token::Kind::punct, begin);
    }
  }

  void end_line() {
    ++at_;
    line_is_blank_ = true;
    if (in_define_) add(Token::Kind::boundary, at_);
    in_define_ = false;
  }

  // Only a #define can hold code; "don't" in an #error is no character literal.
  void directive() {
    const std::size_t name = source_.find_first_not_of(" \t", at_ + 1);
    line_is_blank_ = false;
    if (name != std::string_view::npos && source_.substr(name, 6) == "define") {
      at_ = name + 6;
      in_define_ = true;
      add(Token::Kind::boundary, at_);
      return;
    }
    while (at_ < source_.size() && source_[at_] != '\n') {
      if (splice() > 0) {
        at_ += splice();
      } else if (starts("//") || starts("/*")) {
        skip_comment();
      } else {
        ++at_;
      }
    }
  }

  void skip_comment() {
    if (starts("/*")) {
      const std::size_t end = source_.find("*/", at_ + 2);
      at_ = end == std::string_view::npos ? source_.size() : end + 2;
      return;
    }
    while (at_ < source_.size() && source_[at_] != '\n')
      at_ += std::max<std::size_t>(1, splice());
  }

  // 1'000'000, 0x1p-3, 1.5e+7f: the signs and quotes belong to the number.
  void skip_number() {
    for (++at_; at_ < source_.size(); ++at_) {
      const char c = source_[at_];
      const char before = source_[at_ - 1] | 0x20;
      const bool sign = (c == '+' || c == '-') && (before == 'e' || before == 'p');
      const bool quote =
          c == '\'' && at_ + 1 < source_.size() && is_word(source_[at_ + 1]);
      if (!is_word(c) && c != '.' && !sign && !quote) return;
    }
  }

  void skip_quoted(char quote) {
    for (++at_; at_ < source_.size() && source_[at_] != '\n'; ++at_) {
      if (source_[at_] == quote) {
        ++at_;
        return;
      }
      if (source_[at_] == '\\') at_ += std::max<std::size_t>(2, splice()) - 1;
    }
    at_ = std::min(at_, source_.size());
  }

  void skip_raw_string() {
    const std::size_t open = source_.find('(', at_);
    if (open == std::string_view::npos) return skip_quoted('"');
    const std::string close =
        ")" + std::string(source_.substr(at_ + 1, open - at_ - 1)) + "\"";
    const std::size_t end = source_.find(close, open);
    at_ = end == std::string_view::npos ? source_.size() : end + close.size();
  }

  // The length of a backslash and line ending here, which join two lines; else 0.
  std::size_t splice() const { return starts("\\\n") ? 2 : starts("\\\r\n") ? 3 : 0; }

  bool starts(std::string_view text) const {
    return source_.substr(at_, text.size()) == text;
  }

  void add(Token::Kind kind, std::size_t begin) {
    tokens_.push_back({kind, source_.substr(begin, at_ - begin)});
  }

  std::string_view source_;
  std::size_t at_ = 0;
  bool line_is_blank_ = true;
  bool in_define_ = false;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> lex(std::string_view source) {
  return Lexer(source).run();
}

}  // namespace cpu_cuda
