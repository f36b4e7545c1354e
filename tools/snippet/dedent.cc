#include "dedent.h"

#include <algorithm>
#include <optional>

#include "lines.h"

namespace snippet {

std::vector<std::string> dedent(std::vector<std::string> lines) {
  std::optional<std::string> shared;
  for (const std::string& line : lines) {
    if (is_blank(line)) continue;
    if (!shared) {
      shared = line.substr(0, line.find_first_not_of(" \t"));
    } else {
      const auto differ =
          std::mismatch(shared->begin(), shared->end(), line.begin(), line.end());
      shared->erase(differ.first, shared->end());
    }
  }
  if (!shared || shared->empty()) return lines;
  for (std::string& line : lines) {
    if (line.starts_with(*shared)) {
      line.erase(0, shared->size());
    } else {
      line.clear();
    }
  }
  return lines;
}

}  // namespace snippet
