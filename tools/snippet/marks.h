// Marks in a source: where each region begins and ends.
//
//   // snippet: NAME        opens a region
//   // end snippet          closes the innermost open one
//   // end snippet: NAME    closes it, and says which one that is
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "diagnostic.h"

namespace snippet {

struct Region {
  std::string name;
  std::size_t first_line = 0;  // the lines between the marks; an empty region has
  std::size_t last_line = 0;   // last_line + 1 == first_line
  std::size_t begin = 0;       // the same as offsets: [begin, end)
  std::size_t end = 0;
};

/// True for `[a-z0-9]+(-[a-z0-9]+)*`.
bool is_region_name(std::string_view name);

/// The regions of `text` in the order in which they open. What is wrong with the marks
/// is added to `errors`; `file` is the name that they show.
std::vector<Region> parse_marks(const std::string& file, std::string_view text,
                                std::vector<common::Diagnostic>& errors);

/// The lines of a region without their endings and without the marks of the regions
/// inside it.
std::vector<std::string> region_lines(const std::string& file, std::string_view text,
                                      const Region& region);

}  // namespace snippet
