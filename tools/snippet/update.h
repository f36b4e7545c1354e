// A document with every pull brought up to date, in memory.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "diagnostic.h"
#include "pulls.h"
#include "resolve.h"

namespace snippet {

struct Update {
  std::string before;
  std::string after;
  std::vector<Pull> pulls;  // all of them, in order
  std::vector<Pull> stale;  // those where `before` differs from the source
};

/// Resolves every directive of a document called `file`. What is wrong is added to
/// `errors`; the result then means nothing.
Update update(const std::string& file, std::string text, Resolver& resolver,
              std::vector<common::Diagnostic>& errors);

/// The bytes that stand in a block or an inline place for `lines` pulled from
/// `pull.file`: in Markdown a fenced block, elsewhere the lines as they are.
std::string render(const Pull& pull, bool markdown,
                   const std::vector<std::string>& lines);

}  // namespace snippet
