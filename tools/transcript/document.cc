#include "document.h"

#include <stdexcept>

#include "text.h"

namespace transcript {
namespace {

/// How many "#" make a line a heading, or 0.
std::size_t heading_level(std::string_view line) {
  std::size_t level = 0;
  while (level < line.size() && line[level] == '#') ++level;
  return level <= 6 && level < line.size() && line[level] == ' ' ? level : 0;
}

bool has_pipe(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t");
  return first != std::string_view::npos && line[first] == '|';
}

bool is_delimiter(std::string_view line) {
  return has_pipe(line) && line.find('-') != std::string_view::npos &&
         line.find_first_not_of("|:- \t") == std::string_view::npos;
}

}  // namespace

std::string_view short_name(std::string_view name) {
  return trim(name.substr(0, name.find_first_of(",(:=")));
}

std::vector<std::string_view> cells(std::string_view line) {
  line = trim(line);
  if (!line.empty()) line.remove_prefix(1);
  if (!line.empty() && line.back() == '|') line.remove_suffix(1);
  std::vector<std::string_view> all;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= line.size(); ++i) {
    if (i < line.size() && (line[i] != '|' || (i > 0 && line[i - 1] == '\\'))) continue;
    all.push_back(trim(line.substr(begin, i - begin)));
    begin = i + 1;
  }
  return all;
}

Document::Document(std::string bytes, std::string name)
    : bytes_(std::move(bytes)), name_(std::move(name)) {
  if (bytes_.size() >= UINT32_MAX) throw std::runtime_error(name_ + ": 4 GB or more");
  std::size_t count = 2;
  for (std::size_t at = 0; (at = bytes_.find('\n', at)) != std::string::npos; ++at) {
    ++count;
  }
  starts_.reserve(count);
  for (std::size_t at = 0; at < bytes_.size();) {
    starts_.push_back(static_cast<std::uint32_t>(at));
    const std::size_t end = bytes_.find('\n', at);
    at = end == std::string::npos ? bytes_.size() : end + 1;
  }
  starts_.push_back(static_cast<std::uint32_t>(bytes_.size()));
  index();
  if (bytes_.find("\r\n") != std::string::npos) notes_.push_back("CRLF line endings");
  if (!bytes_.empty() && bytes_.back() != '\n') {
    notes_.push_back("no newline at the end");
  }
  if (bytes_.find('\0') != std::string::npos) notes_.push_back("NUL bytes");
  if (const std::size_t at = invalid_utf8(bytes_); at != std::string::npos) {
    notes_.push_back("invalid UTF-8 (first at byte " + std::to_string(at) + ")");
  }
}

std::string_view Document::line(std::size_t i) const {
  std::string_view line =
      std::string_view(bytes_).substr(starts_[i], starts_[i + 1] - starts_[i]);
  if (!line.empty() && line.back() == '\n') line.remove_suffix(1);
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

void Document::index() {
  sections_.emplace_back().name = "top";
  for (std::size_t i = 0; i < lines(); ++i) {
    const std::string_view text = line(i);
    if (const std::size_t level = heading_level(text); level > 0) {
      sections_.back().end = i;
      Section& section = sections_.emplace_back();
      section.name = fold(text.substr(level));
      section.heading = i;
      section.begin = i + 1;
    } else if (has_pipe(text) && i + 1 < lines() && is_delimiter(line(i + 1)) &&
               cells(text).size() == cells(line(i + 1)).size()) {
      Table table{i, i + 2, {}};
      for (const std::string_view cell : cells(text))
        table.columns.push_back(fold(cell));
      while (table.end < lines() && has_pipe(line(table.end))) ++table.end;
      i = table.end - 1;
      sections_.back().tables.push_back(std::move(table));
    } else if (!trim(text).empty()) {
      sections_.back().prose.push_back(static_cast<std::uint32_t>(i));
    }
  }
  sections_.back().end = lines();
  for (Section& section : sections_) {
    while (section.begin < section.end && trim(line(section.begin)).empty()) {
      ++section.begin;
    }
    while (section.begin < section.end && trim(line(section.end - 1)).empty()) {
      --section.end;
    }
  }
  if (sections_[0].begin == sections_[0].end) sections_.erase(sections_.begin());
  for (std::size_t s = 0; s < sections_.size(); ++s) {
    by_name_[sections_[s].name].push_back(s);
    by_short_name_[std::string(short_name(sections_[s].name))].push_back(s);
  }
}

const std::vector<std::size_t>& Document::find_sections(const std::string& name) const {
  static const std::vector<std::size_t> kNone;
  for (const auto* names : {&by_name_, &by_short_name_}) {
    const auto found = names->find(name);
    if (found != names->end()) return found->second;
  }
  return kNone;
}

std::string Document::section_name(std::size_t section) const {
  const std::string& name = sections_[section].name;
  const std::string brief(short_name(name));
  const std::vector<std::size_t>& alike = find_sections(brief);
  if (!brief.empty() && alike.size() == 1 && alike[0] == section) return brief;
  const std::vector<std::size_t>& same = find_sections(name);
  if (same.size() == 1) return name;
  std::size_t nth = 1;
  while (same[nth - 1] != section) ++nth;
  return name + " [" + std::to_string(nth) + "]";
}

}  // namespace transcript
