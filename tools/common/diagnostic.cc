#include "diagnostic.h"

#include <algorithm>

namespace common {
namespace {

constexpr std::size_t kWindow = 160;  // bytes of a long line that are still readable

bool continues_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

std::string format_all(const std::vector<Diagnostic>& diagnostics) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics) text += format(diagnostic);
  return text;
}

}  // namespace

std::string format(const Diagnostic& diagnostic) {
  std::string text = diagnostic.file;
  if (diagnostic.line > 0) text += ":" + std::to_string(diagnostic.line);
  text += ": " + diagnostic.message + "\n";
  if (diagnostic.line == 0 || diagnostic.column == 0) return text;

  std::string source = diagnostic.source;
  std::size_t caret = std::min(diagnostic.column - 1, source.size());
  if (source.size() > kWindow) {
    std::size_t begin = caret > kWindow / 2 ? caret - kWindow / 2 : 0;
    while (begin > 0 && continues_character(source[begin])) --begin;
    std::size_t end = std::min(begin + kWindow, source.size());
    while (end < source.size() && continues_character(source[end])) ++end;
    const bool cut = end < source.size();
    source = source.substr(begin, end - begin);
    caret -= begin;
    if (begin > 0) {
      source = "..." + source;
      caret += 3;
    }
    if (cut) source += "...";
  }
  text += "  " + source + "\n  ";
  for (std::size_t i = 0; i < caret; ++i) {
    if (!continues_character(source[i])) text += source[i] == '\t' ? '\t' : ' ';
  }
  return text + "^\n";
}

DiagnosticError::DiagnosticError(std::vector<Diagnostic> diagnostics)
    : std::runtime_error(format_all(diagnostics)),
      diagnostics_(std::move(diagnostics)) {}

}  // namespace common
