// One error message, in the form compilers use, so that editors can jump to it.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

namespace common {

/// Where something is wrong and what to do about it. `line` and `column` count
/// from 1; a zero line means the whole file, a zero column draws no caret.
/// `source` is the text of that line, without its line ending.
struct Diagnostic {
  std::string file;
  std::size_t line = 0;
  std::size_t column = 0;
  std::string message;
  std::string source;
};

/// `file:line: message`, then the source line and a caret under the column (the
/// two lines indented by two spaces). Ends with a newline. Columns count bytes;
/// the caret's padding repeats the tabs of the source line and gives a multi-byte
/// UTF-8 character one place. A very long line is shown as a window around the caret.
std::string format(const Diagnostic& diagnostic);

/// Thrown by parsers once they have collected everything that is wrong.
class DiagnosticError : public std::runtime_error {
 public:
  explicit DiagnosticError(std::vector<Diagnostic> diagnostics);
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

 private:
  std::vector<Diagnostic> diagnostics_;
};

}  // namespace common
