// What a program printed: sections under headings, with pipe tables and prose.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace transcript {

/// A table: its header's line, a line of dashes, and a line for each row.
struct Table {
  std::size_t header = 0, end = 0;   // lines; rows are [header + 2, end)
  std::vector<std::string> columns;  // names; the first one's cells name the rows
};

/// A heading, and everything up to the next heading.
struct Section {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::string name;             // the heading's text; "top" before the first one
  std::size_t heading = kNone;  // its line
  std::vector<Table> tables;
  std::vector<std::uint32_t> prose;  // lines that are neither blank nor a table's
  std::size_t begin = 0, end = 0;    // all lines below the heading
};

/// Owns the bytes; all views point into them.
class Document {
 public:
  /// `name` is for messages. Throws std::runtime_error from 4 GB on.
  Document(std::string bytes, std::string name);
  Document(const Document&) = delete;

  const std::string& name() const { return name_; }
  std::size_t lines() const { return starts_.size() - 1; }
  std::string_view line(std::size_t i) const;  // without its end
  const std::vector<Section>& sections() const { return sections_; }
  /// Oddities that are set aside: "CRLF line endings", "no newline at the end", ...
  const std::vector<std::string>& notes() const { return notes_; }
  /// What an address calls a section: its name, or what stands before the first of
  /// ",(:=" where no other section could be meant, or "NAME [2]".
  std::string section_name(std::size_t section) const;
  /// The sections of that name, or that an address may call so.
  const std::vector<std::size_t>& find_sections(const std::string& name) const;

 private:
  void index();

  std::string bytes_, name_;
  std::vector<std::uint32_t> starts_;  // of each line, and the end
  std::vector<Section> sections_;
  std::unordered_map<std::string, std::vector<std::size_t>> by_name_, by_short_name_;
  std::vector<std::string> notes_;
};

/// A heading's text up to the first of ",(:=".
std::string_view short_name(std::string_view name);

/// The cells of a table's line, without the spaces around them.
std::vector<std::string_view> cells(std::string_view line);

}  // namespace transcript
