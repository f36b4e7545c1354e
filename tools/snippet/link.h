// Compiler Explorer links: a program, its compiler and its options in a URL.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace snippet {

/// The site's compilers that links may name, by the site's own ids. The site opens
/// another compiler, without a word, for an id that it does not know; so no other id
/// is ever put into a link. `checked` is the day on which the site answered to the id.
struct Compiler {
  std::string_view id;
  std::string_view checked;
};
// 13.0: the driver of the site's GPU machines is a CUDA 13.0 one, and runs no newer
// toolkit's code.
inline constexpr Compiler kCompilers[] = {{"nvcc130u2", "2026-11-29"}};

/// What every link compiles with. The site's GPU is of the T4 class, compute
/// capability 7.5.
inline constexpr std::string_view kOptions = "-std=c++17 -O3 -arch=sm_75";

/// The site's front refuses longer URLs; what follows a '#' never reaches it.
inline constexpr std::size_t kMaxUrl = 8000;

/// A link that opens `source` (CUDA C++) with its assembly and its output:
/// https://godbolt.org/clientstate/ and the state as deflated JSON, or, where that
/// would be longer than kMaxUrl, https://godbolt.org/#g: and the state in the form in
/// which the site's page keeps its own. Throws std::invalid_argument if `compiler` is
/// not in kCompilers, or `source` is not UTF-8.
std::string explorer_link(std::string_view source,
                          std::string_view compiler = kCompilers[0].id);

}  // namespace snippet
