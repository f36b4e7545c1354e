// The map from regions to programs and links that the page is built with.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "marks.h"
#include "pulls.h"

namespace snippet {

struct Program {
  std::string file;
  std::string text;
  std::vector<Pull> pulls;
};

/// JSON: under "regions", for each "FILE#NAME", its file, name, first and last line,
/// and, where a program shows it, that program and its link; under "programs", the
/// link of each program and of each source whose name ends in ".cu".
///
/// The program of region NAME is `snippets/NAME.cu` if it pulls the region or one
/// around it, else the first that does.
std::string index(const std::map<std::string, std::string>& sources,
                  const std::map<std::string, std::vector<Region>>& regions,
                  const std::vector<Program>& programs);

}  // namespace snippet
