// A transcript: lines, gathered into named blocks, some of them rows of tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace transcript {

struct Column {
  std::string name;         // folded
  std::uint32_t begin = 0;  // bytes of a line; it ends where the next one begins
};

/// Lines [header, end) of which the first names the columns. The first column names the
/// row. Columns are found by their edges, the positions that are blank in every line:
/// names may contain single spaces and cells may be aligned either way.
struct Table {
  std::size_t header = 0;
  std::size_t end = 0;
  std::vector<Column> columns;

  /// The cell of a row, trimmed; empty when the row has none there.
  std::string_view cell(std::string_view line, std::size_t column) const;
  /// Whether no column begins inside one of the line's words.
  bool fits(std::string_view line) const;
  /// Which column the byte at `offset` of a line belongs to.
  std::size_t column_at(std::size_t offset) const;
};

/// A table starts at a line without numbers whose cells stand two or more spaces apart,
/// followed by a line of the same indentation in which a number or a stand-in for one
/// ("n/a", "not timed", "-") stands beyond its first cell; it goes on while lines have
/// that indentation and two or more spaces somewhere.
class Transcript {
 public:
  /// `name` is what errors and reports call it. Throws common::DiagnosticError when
  /// there are 4 GiB or more, since a line's place is kept in 32 bits.
  Transcript(std::string bytes, std::string name);

  const std::string& name() const { return name_; }
  const std::vector<std::string>& notes() const { return notes_; }
  const std::vector<Table>& tables() const { return tables_; }

  std::size_t lines() const { return starts_.size() - 1; }
  /// Without its line ending.
  std::string_view line(std::size_t i) const {
    return std::string_view(bytes_).substr(starts_[i], starts_[i + 1] - starts_[i] - 1);
  }
  /// The table that line `i` belongs to, its header included, or null.
  const Table* table_at(std::size_t i) const;

  std::size_t blocks() const { return blocks_.size(); }
  /// First line of a block; one past the last for `block == blocks()`.
  std::size_t block_begin(std::size_t block) const {
    return block == blocks_.size() ? lines() : blocks_[block];
  }
  /// One past the block's last line that is not blank.
  std::size_t block_end(std::size_t block) const;
  /// Blank lines belong to the block before them; those before the first, to the first.
  std::size_t block_at(std::size_t line) const;
  /// The first line up to ",", "(", ":" or "=", folded, and at most 100 bytes of whole
  /// words.
  std::string block_name(std::size_t block) const;

 private:
  void find_tables();

  std::string name_;
  std::vector<std::string> notes_;
  std::string bytes_;
  std::vector<std::uint32_t> starts_;  // of each line, and one past the last
  std::vector<std::uint32_t> blocks_;
  std::vector<Table> tables_;
};

bool is_blank(std::string_view line);
/// Text that a program prints where a number would stand: "n/a", "not timed", "-",
/// "--".
bool is_stand_in(std::string_view cell);

}  // namespace transcript
