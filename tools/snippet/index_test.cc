#include "index.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "link.h"

using namespace snippet;

namespace {

Program program(const std::string& file, std::vector<std::string> names) {
  Program p{file, "// " + file + "\n", {}};
  for (const std::string& name : names) {
    Pull pull;
    pull.file = "src/a.cu";
    pull.name = name;
    p.pulls.push_back(pull);
  }
  return p;
}

}  // namespace

TEST_CASE("a region has its place, and the program that shows it") {
  const std::map<std::string, std::vector<Region>> regions = {
      {"src/a.cu",
       {{"outer", 2, 9, 0, 0}, {"inner", 4, 6, 0, 0}, {"alone", 12, 13, 0, 0}}}};
  const auto json = nlohmann::json::parse(
      index({{"src/a.cu", "int a;\n"}, {"src/CMakeLists.txt", "x"}}, regions,
            {program("snippets/first.cu", {"outer"}),
             program("snippets/inner.cu", {"outer"})}));
  const std::string inner = explorer_link("// snippets/inner.cu\n");
  CHECK(json["regions"].size() == 3);
  CHECK(json["regions"]["src/a.cu#inner"] ==
        nlohmann::json{{"file", "src/a.cu"},
                       {"name", "inner"},
                       {"first", 4},
                       {"last", 6},
                       {"program", "snippets/inner.cu"},
                       {"link", inner}});
  CHECK(json["regions"]["src/a.cu#outer"]["program"] == "snippets/first.cu");
  CHECK(json["regions"]["src/a.cu#alone"] ==
        nlohmann::json{
            {"file", "src/a.cu"}, {"name", "alone"}, {"first", 12}, {"last", 13}});
  CHECK(json["programs"] ==
        nlohmann::json{
            {"src/a.cu", {{"link", explorer_link("int a;\n")}}},
            {"snippets/first.cu", {{"link", explorer_link("// snippets/first.cu\n")}}},
            {"snippets/inner.cu", {{"link", inner}}}});
}

TEST_CASE("a program that pulls a part of a region does not show the region") {
  const std::map<std::string, std::vector<Region>> regions = {
      {"src/a.cu", {{"outer", 2, 9, 0, 0}, {"inner", 4, 6, 0, 0}}}};
  const auto json = nlohmann::json::parse(
      index({}, regions, {program("snippets/outer.cu", {"inner"})}));
  CHECK_FALSE(json["regions"]["src/a.cu#outer"].contains("program"));
  CHECK(json["regions"]["src/a.cu#inner"]["program"] == "snippets/outer.cu");
}
