// For tests: what the site would open for a link. Shares nothing with link.cc.
#pragma once

#include <string>

namespace snippet {

struct Opened {
  std::string source;
  std::string language;
  std::string compiler, options;  // of the assembly pane
  std::string executor, executor_options;
};

/// Throws std::exception if `url` is none that the site understands.
Opened decode_link(const std::string& url);

}  // namespace snippet
