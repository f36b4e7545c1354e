#include "model.h"

#include <algorithm>
#include <limits>

#include "diagnostic.h"
#include "text.h"
#include "token.h"

namespace transcript {
namespace {

std::size_t indentation(std::string_view line) {
  std::size_t i = 0;
  while (i < line.size() && is_space(line[i])) ++i;
  return i;
}

/// The first byte after the first run of two or more spaces inside the line, or npos.
std::size_t after_gap(std::string_view line) {
  std::size_t i = line.find("  ", indentation(line));
  while (i < line.size() && line[i] == ' ') ++i;
  return i >= line.size() ? std::string_view::npos : i;
}

bool has_number(std::string_view text) {
  Tokens tokens(text);
  for (Token token; tokens.next(token);) {
    if (token.is_number()) return true;
  }
  return false;
}

bool has_value(std::string_view text) {
  if (has_number(text)) return true;
  while (!text.empty()) {
    std::size_t end = std::min(text.find("  "), text.size());
    if (is_stand_in(text.substr(0, end))) return true;
    while (end < text.size() && text[end] == ' ') ++end;
    text.remove_prefix(end);
  }
  return false;
}

bool starts_table(std::string_view header, std::string_view row) {
  if (indentation(header) != indentation(row) || has_number(header)) return false;
  if (after_gap(header) == std::string_view::npos) return false;
  const std::size_t values = after_gap(row);
  return values != std::string_view::npos && has_value(row.substr(values));
}

constexpr std::size_t kLongestName = 100;  // of a block, in bytes

struct Segment {
  std::size_t begin, end;  // bytes that some line occupies, without a blank between
  bool named = false;      // the header has text there
  bool valued = false;     // a row has
};

/// The columns of lines [begin, end) of a transcript.
std::vector<Column> find_columns(const Transcript& transcript, std::size_t begin,
                                 std::size_t end) {
  const std::string_view header = transcript.line(begin);
  std::string rows;  // a position is non-zero where some row is not blank
  for (std::size_t i = begin + 1; i < end; ++i) {
    const std::string_view line = transcript.line(i);
    if (rows.size() < line.size()) rows.resize(line.size(), '\0');
    for (std::size_t at = 0; at < line.size(); ++at) {
      rows[at] = static_cast<char>(rows[at] | (line[at] ^ ' '));
    }
  }
  const std::size_t width = std::max(header.size(), rows.size());
  const auto in_header = [&](std::size_t i) {
    return i < header.size() && header[i] != ' ';
  };
  const auto in_rows = [&](std::size_t i) { return i < rows.size() && rows[i] != 0; };

  std::vector<Segment> segments;
  for (std::size_t i = 0; i < width; ++i) {
    if (!in_header(i) && !in_rows(i)) continue;
    if (i == 0 || segments.empty() || segments.back().end != i) {
      segments.push_back({i, i});
    }
    segments.back().end = i + 1;
    segments.back().named |= in_header(i);
    segments.back().valued |= in_rows(i);
  }

  // Text under no name belongs to the column on its left, a blank that all row names
  // happen to share, for example.
  std::vector<Segment> columns;
  for (const Segment& segment : segments) {
    if (!segment.named && !columns.empty()) {
      columns.back().end = segment.end;
      columns.back().valued = true;
    } else {
      columns.push_back(segment);
    }
  }
  // A word of a name under which no row has anything belongs to the name's other words,
  // a single space away: to those on its right, unless the column on its left is flush
  // left.
  std::vector<Segment> joined;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const Segment& column = columns[i];
    const bool joins_left = !joined.empty() && column.begin == joined.back().end + 1;
    const bool joins_right =
        i + 1 < columns.size() && columns[i + 1].begin == column.end + 1;
    const bool left_is_flush = joins_left && joined.back().valued &&
                               in_rows(joined.back().begin) &&
                               !in_rows(joined.back().end - 1);
    if (column.valued || (!joins_left && !joins_right)) {
      joined.push_back(column);
    } else if (joins_right && !left_is_flush) {
      columns[i + 1].begin = column.begin;
    } else {
      joined.back().end = column.end;
    }
  }

  // Two words that every line sets one space apart in the same place are two columns
  // only if there are values under the second.
  Table table{begin, end, {}};
  for (const Segment& column : joined) {
    table.columns.push_back({"", static_cast<std::uint32_t>(column.begin)});
  }
  std::vector<Segment> kept;
  for (std::size_t c = 0; c < joined.size(); ++c) {
    bool apart = c == 0 || joined[c].begin > joined[c - 1].end + 1;
    for (std::size_t i = begin + 1; i < end && !apart; ++i) {
      apart = has_value(table.cell(transcript.line(i), c));
    }
    if (apart) {
      kept.push_back(joined[c]);
    } else {
      kept.back().end = joined[c].end;
    }
  }

  std::vector<Column> found;
  for (const Segment& column : kept) {
    const std::size_t from = std::min(column.begin, header.size());
    found.push_back({fold(header.substr(from, column.end - from)),
                     static_cast<std::uint32_t>(column.begin)});
  }
  return found;
}

}  // namespace

bool is_blank(std::string_view line) {
  return indentation(line) == line.size();
}

bool is_stand_in(std::string_view cell) {
  const std::string text = fold(cell);
  return text == "n/a" || text == "not timed" || text == "-" || text == "--";
}

std::size_t Table::column_at(std::size_t offset) const {
  const auto after = std::upper_bound(
      columns.begin(), columns.end(), offset,
      [](std::size_t at, const Column& column) { return at < column.begin; });
  return after == columns.begin()
             ? 0
             : static_cast<std::size_t>(after - columns.begin()) - 1;
}

std::string_view Table::cell(std::string_view line, std::size_t column) const {
  const std::size_t begin = columns[column].begin;
  if (begin >= line.size()) return {};
  const std::size_t end =
      column + 1 < columns.size() ? columns[column + 1].begin : line.size();
  return trim(line.substr(begin, end - begin));
}

bool Table::fits(std::string_view line) const {
  for (const Column& column : columns) {
    if (column.begin > 0 && column.begin < line.size() &&
        !is_space(line[column.begin]) && !is_space(line[column.begin - 1])) {
      return false;
    }
  }
  return true;
}

Transcript::Transcript(std::string bytes, std::string name)
    : name_(std::move(name)), bytes_(clean(std::move(bytes), notes_)) {
  if (bytes_.size() >= std::numeric_limits<std::uint32_t>::max()) {
    throw common::DiagnosticError({{name_, 0, 0, "is 4 GiB or larger", ""}});
  }
  if (!bytes_.empty() && bytes_.back() != '\n') bytes_ += '\n';
  starts_.reserve(
      static_cast<std::size_t>(std::count(bytes_.begin(), bytes_.end(), '\n')) + 1);
  for (std::size_t at = 0; at < bytes_.size(); at = bytes_.find('\n', at) + 1) {
    starts_.push_back(static_cast<std::uint32_t>(at));
  }
  starts_.push_back(static_cast<std::uint32_t>(bytes_.size()));

  bool after_blank = true;
  for (std::size_t i = 0; i < lines(); ++i) {
    const std::string_view text = line(i);
    const std::size_t indent = indentation(text);
    if (indent == text.size()) {
      after_blank = true;
      continue;
    }
    if (after_blank && (indent == 0 || blocks_.empty())) {
      blocks_.push_back(static_cast<std::uint32_t>(i));
    }
    after_blank = false;
  }
  find_tables();
}

void Transcript::find_tables() {
  for (std::size_t i = 0; i + 1 < lines(); ++i) {
    if (!starts_table(line(i), line(i + 1))) continue;
    const std::size_t indent = indentation(line(i));
    std::size_t end = i + 2;
    while (end < lines() && indentation(line(end)) == indent &&
           after_gap(line(end)) != std::string_view::npos) {
      ++end;
    }
    std::vector<Column> columns = find_columns(*this, i, end);
    if (columns.size() > 1) tables_.push_back({i, end, std::move(columns)});
    i = end - 1;
  }
}

const Table* Transcript::table_at(std::size_t i) const {
  const auto after = std::upper_bound(
      tables_.begin(), tables_.end(), i,
      [](std::size_t line, const Table& table) { return line < table.header; });
  if (after == tables_.begin()) return nullptr;
  const Table& table = *std::prev(after);
  return i < table.end ? &table : nullptr;
}

std::size_t Transcript::block_at(std::size_t line) const {
  const auto after = std::upper_bound(blocks_.begin(), blocks_.end(), line);
  return after == blocks_.begin()
             ? 0
             : static_cast<std::size_t>(after - blocks_.begin()) - 1;
}

std::size_t Transcript::block_end(std::size_t block) const {
  std::size_t end = block_begin(block + 1);
  while (end > 0 && is_blank(line(end - 1))) --end;
  return end;
}

std::string Transcript::block_name(std::size_t block) const {
  if (block >= blocks_.size()) return "";
  const std::string_view first = trim(line(blocks_[block])).substr(0, 1000);
  std::string name = fold(first.substr(0, first.find_first_of(",(:=")));
  if (name.empty()) name = fold(first);
  if (name.size() > kLongestName) {
    const std::size_t space = name.rfind(' ', kLongestName);
    name.resize(space == std::string::npos ? kLongestName : space);
  }
  return name;
}

}  // namespace transcript
