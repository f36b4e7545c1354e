#include "update.h"

#include <algorithm>
#include <array>

#include "lines.h"

namespace snippet {
namespace {

std::string_view language(std::string_view file) {
  struct Ending {
    std::string_view ending, language;
  };
  constexpr std::array<Ending, 22> kLanguages = {{
      {".cu", "cuda"},
      {".cuh", "cuda"},
      {".cc", "cpp"},
      {".cpp", "cpp"},
      {".h", "cpp"},
      {".hpp", "cpp"},
      {".c", "c"},
      {".py", "python"},
      {".sh", "bash"},
      {".lua", "lua"},
      {".js", "js"},
      {".css", "css"},
      {".html", "html"},
      {".toml", "toml"},
      {".json", "json"},
      {".yml", "yaml"},
      {".md", "markdown"},
      {".gp", "gnuplot"},
      {".txt", "text"},
      {".xml", "xml"},
      {"CMakeLists.txt", "cmake"},
      {"meson.build", "meson"},
  }};
  if (is_evidence(std::string(file))) return "text";
  // The longest ending that fits: CMakeLists.txt is no text file.
  const Ending* best = nullptr;
  for (const Ending& e : kLanguages) {
    if (file.ends_with(e.ending) &&
        (best == nullptr || e.ending.size() > best->ending.size())) {
      best = &e;
    }
  }
  return best == nullptr ? "" : best->language;
}

std::size_t longest_run(const std::vector<std::string>& lines, char c) {
  std::size_t longest = 0;
  for (const std::string& line : lines) {
    std::size_t run = 0;
    for (const char d : line) {
      run = d == c ? run + 1 : 0;
      longest = std::max(longest, run);
    }
  }
  return longest;
}

}  // namespace

std::string render(const Pull& pull, bool markdown,
                   const std::vector<std::string>& lines) {
  if (pull.inline_) return lines[0];
  const std::string blank = pull.prefix.substr(
      0, pull.prefix.find_last_not_of(" \t") + 1);  // no white space at a line's end
  std::string text;
  const auto add = [&](std::string_view line) {
    text += line.empty() ? blank : pull.prefix;
    text += line;
    text += pull.ending;
  };
  const std::string fence(std::max<std::size_t>(longest_run(lines, '`') + 1, 3), '`');
  if (markdown) add(fence + std::string(language(pull.file)));
  for (const std::string& line : lines) add(line);
  if (markdown) add(fence);
  return text;
}

Update update(const std::string& file, std::string text, Resolver& resolver,
              std::vector<common::Diagnostic>& errors) {
  Update result;
  result.before = std::move(text);
  result.pulls = parse_pulls(file, result.before, errors);
  std::vector<std::string> fresh;
  for (const Pull& pull : result.pulls) {
    const auto lines = resolver.lines(file, pull, errors);
    if (!lines) {
      fresh.emplace_back();
      continue;
    }
    fresh.push_back(render(pull, is_markdown(file), *lines));
    const std::string_view stands =
        std::string_view(result.before).substr(pull.begin, pull.end - pull.begin);
    if (stands != fresh.back()) result.stale.push_back(pull);
  }
  result.after = replace_pulls(result.before, result.pulls, fresh);
  return result;
}

}  // namespace snippet
