#include "rewrite.h"

#include <algorithm>
#include <vector>

#include "diagnostic.h"
#include "lexer.h"

namespace cpu_cuda {
namespace {

class Rewriter {
 public:
  Rewriter(std::string_view source, const std::string& name)
      : source_(source), name_(name), tokens_(lex(source)) {}

  std::string run() {
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (is(i, "__global__") || is(i, "__device__")) function_ = i;
      if (is_boundary(i)) in_define_ = !in_define_;
      if (is(i, "__syncthreads") && !in_define_) check_barrier(i);
      if (is(i, "__shared__")) shared(i);
      if (run_of('<', i) >= 3) {
        launch(i);
        i += 2;
      }
    }
    if (!errors_.empty()) throw common::DiagnosticError(std::move(errors_));
    return apply();
  }

 private:
  struct Edit {
    std::size_t begin, end;
    std::string text;
  };

  void launch(std::size_t open) {
    int depth = 0;
    for (std::size_t i = open + 3; i < tokens_.size() && !is_boundary(i); ++i) {
      if (is(i, "(") || is(i, "[") || is(i, "{")) ++depth;
      if (is(i, ")") || is(i, "]") || is(i, "}")) --depth;
      if (depth < 0 || (depth == 0 && is(i, ";"))) break;
      const std::size_t run = run_of('>', i);
      if (depth == 0 && run >= 3) {
        // f<int>>>> closes a template argument list first.
        replace(open, open + 2, " ->* ::cpu_cuda::launch(");
        return replace(i + run - 3, i + run - 1, ")");
      }
      if (run > 1) i += run - 1;
    }
    error(open, "launch `<<<` without its `>>>`");
  }

  // Shared memory that nobody wrote yet holds garbage on a GPU; here it is poisoned.
  void shared(std::size_t at) {
    if (at > 0 && is(at - 1, "extern")) return dynamic_shared(at);
    int depth = 0, angle = 0;
    std::string names;
    for (std::size_t i = at + 1; i < tokens_.size() && !is_boundary(i); ++i) {
      if (depth == 0) angle += is(i, "<") - is(i, ">");
      const bool outside = depth == 0 && angle == 0;
      // A name is the word before its first bracket, its comma or the semicolon.
      if (outside && (is(i, "[") || is(i, ",") || is(i, ";")) &&
          tokens_[i - 1].kind == Token::Kind::word) {
        names += (names.empty() ? "" : ", ") + std::string(tokens_[i - 1].text);
      }
      if (outside && is(i, ";") && !names.empty()) {
        const std::size_t end = begin(i) + 1;
        edits_.push_back({end, end, " ::cpu_cuda::poison(" + names + ");"});
        return;
      }
      if (is(i, "(") || is(i, "[") || is(i, "{")) ++depth;
      if (is(i, ")") || is(i, "]") || is(i, "}")) --depth;
      if (depth < 0 || (outside && (is(i, ";") || is(i, "=")))) break;
    }
    error(at, "cannot read this declaration; write `__shared__ T name[N];`");
  }

  void dynamic_shared(std::size_t at) {
    std::size_t end = at;
    while (end < tokens_.size() && !is(end, ";") && !is_boundary(end)) ++end;
    if (end < at + 5 || end == tokens_.size() || !is(end, ";") || !is(end - 1, "]") ||
        !is(end - 2, "[") || tokens_[end - 3].kind != Token::Kind::word) {
      return error(at, "write `extern __shared__ T name[];`, inside the kernel");
    }
    replace(at - 1, at, "");
    replace(
        end - 3, end - 1,
        "*" + std::string(tokens_[end - 3].text) + " = ::cpu_cuda::dynamic_shared()");
  }

  void check_barrier(std::size_t at) {
    if (function_ < at && is(function_, "__device__")) {
      error(
          at,
          "__syncthreads() in a __device__ function: on a CPU a barrier must stand in "
          "the __global__ function itself");
    }
  }

  std::string apply() {
    std::sort(edits_.begin(), edits_.end(),
              [](const Edit& a, const Edit& b) { return a.begin < b.begin; });
    std::string quoted;
    for (char c : name_)
      quoted += (c == '"' || c == '\\' ? "\\" : "") + std::string(1, c);
    std::string out = "#include <cuda_runtime.h>\n#line 1 \"" + quoted + "\"\n";
    std::size_t done = 0;
    for (const Edit& edit : edits_) {
      out.append(source_, done, edit.begin - done).append(edit.text);
      done = edit.end;
    }
    return out.append(source_, done, std::string::npos);
  }

  void replace(std::size_t first, std::size_t last, std::string text) {
    edits_.push_back(
        {begin(first), begin(last) + tokens_[last].text.size(), std::move(text)});
  }

  void error(std::size_t token, std::string message) {
    const std::size_t at = begin(token);
    const std::size_t line_begin = source_.rfind('\n', at) + 1;
    std::string_view line = source_.substr(line_begin);
    line = line.substr(0, line.find_first_of("\r\n"));
    const auto number =
        1 + std::count(source_.begin(), source_.begin() + line_begin, '\n');
    errors_.push_back({name_, static_cast<std::size_t>(number), at - line_begin + 1,
                       std::move(message), std::string(line)});
  }

  // How many of the same character follow each other, unspaced, from token i.
  std::size_t run_of(char c, std::size_t i) const {
    std::size_t n = 0;
    while (i + n < tokens_.size() && tokens_[i + n].text == std::string_view(&c, 1) &&
           begin(i + n) == begin(i) + n) {
      ++n;
    }
    return n;
  }

  bool is(std::size_t i, std::string_view text) const {
    return tokens_[i].kind != Token::Kind::literal && tokens_[i].text == text;
  }
  bool is_boundary(std::size_t i) const {
    return tokens_[i].kind == Token::Kind::boundary;
  }
  std::size_t begin(std::size_t i) const {
    return tokens_[i].text.data() - source_.data();
  }

  std::string_view source_;
  const std::string& name_;
  std::vector<Token> tokens_;
  std::vector<Edit> edits_;
  std::vector<common::Diagnostic> errors_;
  std::size_t function_ = std::string::npos;  // the last __global__ or __device__
  bool in_define_ = false;
};

}  // namespace

std::string rewrite(std::string_view source, const std::string& name) {
  if (source.substr(0, 3) == "\xEF\xBB\xBF") source.remove_prefix(3);
  return Rewriter(source, name).run();
}

}  // namespace cpu_cuda
