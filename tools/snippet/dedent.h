// Taking the common indentation off a region.
#pragma once

#include <string>
#include <vector>

namespace snippet {

/// Removes from every line the longest leading white space that all non-blank lines
/// share, compared byte by byte, so a tab never stands for spaces. A blank line that
/// is shorter becomes empty.
std::vector<std::string> dedent(std::vector<std::string> lines);

}  // namespace snippet
