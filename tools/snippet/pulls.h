// Directives in a document: what it pulls, and where the pulled text stands.
//
//   <!-- pull: FILE#NAME -->         or, in a source,   // pull: FILE#NAME
//   ... owned by the tool ...                           ... owned by the tool ...
//   <!-- end pull -->                                   // end pull
//
// and, for one figure in a sentence of Markdown,
//   a share of <!-- pull: FILE#ADDRESS -->0.016<!-- end pull --> of the gate
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "diagnostic.h"

namespace snippet {

struct Pull {
  std::string file;        // relative to the repository's root, with '/'
  std::string name;        // a region, or an address inside a transcript
  bool inline_ = false;    // one value in a sentence, else a block of lines
  std::size_t line = 0;    // of the directive
  std::size_t column = 0;  // of `file` in it
  std::string source;      // the directive's line
  std::string prefix;      // begins every line of a block
  std::string ending;      // ends every line of a block
  std::size_t begin = 0;   // what the tool owns, as offsets: [begin, end)
  std::size_t end = 0;

  std::string address() const { return file + "#" + name; }
};

/// True if `file` is a Markdown document, where code stands in fences; in any other
/// document it stands plain.
bool is_markdown(std::string_view file);

/// The directives of a document in order. In Markdown, one inside code is text. What
/// is wrong with them is added to `errors`; `file` is the name that they show.
std::vector<Pull> parse_pulls(const std::string& file, std::string_view text,
                              std::vector<common::Diagnostic>& errors);

/// The first of `lines` (of a file called `file`) that is a directive, counting from
/// 1, or 0.
std::size_t find_directive(const std::string& file,
                           const std::vector<std::string>& lines);

/// `text` with what each directive owns replaced.
std::string replace_pulls(std::string_view text, const std::vector<Pull>& pulls,
                          const std::vector<std::string>& replacements);

}  // namespace snippet
