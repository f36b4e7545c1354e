#include "index.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "link.h"

namespace snippet {
namespace {

bool shows(const Program& program, const std::string& file,
           const std::vector<Region>& regions, const Region& region) {
  return std::any_of(program.pulls.begin(), program.pulls.end(), [&](const Pull& pull) {
    if (pull.file != file) return false;
    return std::any_of(regions.begin(), regions.end(), [&](const Region& outer) {
      return outer.name == pull.name && outer.first_line <= region.first_line &&
             region.last_line <= outer.last_line;
    });
  });
}

const Program* program_of(const std::vector<Program>& programs, const std::string& file,
                          const std::vector<Region>& regions, const Region& region) {
  const Program* first = nullptr;
  for (const Program& program : programs) {
    if (!shows(program, file, regions, region)) continue;
    if (std::filesystem::path(program.file).stem() == region.name) return &program;
    if (first == nullptr) first = &program;
  }
  return first;
}

}  // namespace

std::string index(const std::map<std::string, std::string>& sources,
                  const std::map<std::string, std::vector<Region>>& regions,
                  const std::vector<Program>& programs) {
  using Json = nlohmann::ordered_json;
  Json by_region = Json::object(), by_program = Json::object();
  for (const auto& [file, text] : sources) {
    if (file.ends_with(".cu")) by_program[file] = {{"link", explorer_link(text)}};
  }
  for (const Program& program : programs) {
    by_program[program.file] = {{"link", explorer_link(program.text)}};
  }
  for (const auto& [file, marked] : regions) {
    for (const Region& region : marked) {
      Json entry = {{"file", file},
                    {"name", region.name},
                    {"first", region.first_line},
                    {"last", region.last_line}};
      if (const Program* program = program_of(programs, file, marked, region)) {
        entry["program"] = program->file;
        entry["link"] = by_program[program->file]["link"];
      }
      by_region[file + "#" + region.name] = std::move(entry);
    }
  }
  const Json all = {{"regions", std::move(by_region)},
                    {"programs", std::move(by_program)}};
  return all.dump(2) + "\n";
}

}  // namespace snippet
