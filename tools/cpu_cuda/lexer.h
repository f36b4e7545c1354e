// Splits C++ text into tokens, well enough to tell code from everything else.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cpu_cuda {

/// A word (identifier or keyword), a literal (number, string, character), one
/// punctuation character, or the empty `boundary` that stands before and after a
/// #define, whose tokens belong to no statement around it.
struct Token {
  enum class Kind { word, literal, punct, boundary };
  Kind kind;
  std::string_view text;  // points into the source
};

/// The tokens of `source`, without comments and without directives other than #define.
/// Never fails: an unterminated literal ends at its line, a comment at the end of text.
std::vector<Token> lex(std::string_view source);

}  // namespace cpu_cuda
