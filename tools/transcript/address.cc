#include "address.h"

#include <fmt/format.h>

#include <algorithm>

#include "diagnostic.h"
#include "suggest.h"
#include "text.h"

namespace transcript {
namespace {

constexpr std::size_t kSearched = 10000;  // lines in which names are told apart

/// A part of an address: a name, which of that name (from 1, 0 if not said), its
/// column.
struct Part {
  std::string name;
  std::size_t nth = 0;
  std::size_t column = 1;
};

std::size_t to_count(std::string_view text) {
  std::size_t count = 0;
  for (const char c : text) {
    if (!is_digit(c) || count > 100'000'000) return 0;
    count = count * 10 + static_cast<std::size_t>(c - '0');
  }
  return count;
}

/// An address, taken apart, in a document.
class Search {
 public:
  Search(const Document& document, std::string_view address)
      : document_(document), address_(address) {
    for (std::size_t begin = 0;;) {
      std::size_t end = address.find('/', begin);
      while (end != std::string_view::npos &&
             (end == 0 || end + 1 == address.size() || !is_space(address[end - 1]) ||
              !is_space(address[end + 1]))) {
        end = address.find('/', end + 1);
      }
      std::string name = fold(address.substr(begin, end - begin));
      Part part{name, 0,
                std::min(address.find_first_not_of(" \t", begin), address.size()) + 1};
      const std::size_t open = name.rfind(" [");
      if (open != std::string::npos && name.back() == ']') {
        part.nth =
            to_count(std::string_view(name).substr(open + 2, name.size() - open - 3));
        if (part.nth > 0) part.name.resize(open);
      }
      parts_.push_back(std::move(part));
      if (end == std::string_view::npos) break;
      begin = end + 1;
    }
  }

  std::size_t size() const { return parts_.size(); }
  const Part& part(std::size_t i) const { return parts_[i]; }

  [[noreturn]] void fail(const Part& part, std::string message) const {
    throw common::DiagnosticError({{document_.name(), 0, part.column,
                                    std::move(message), std::string(address_)}});
  }

  [[noreturn]] void unknown(const Part& part, const std::string& what,
                            const std::vector<std::string>& known) const {
    const std::string near = common::closest(part.name, known);
    fail(part, "no " + what + " '" + part.name + "'" +
                   (near.empty() ? "" : "; did you mean '" + near + "'?"));
  }

  /// The one of `found` that a part means.
  std::size_t choose(const Part& part, const std::vector<std::size_t>& found) const {
    if (part.nth > found.size()) {
      fail(part, fmt::format("there are only {} of '{}'", found.size(), part.name));
    }
    if (part.nth > 0) return found[part.nth - 1];
    if (found.size() > 1) {
      fail(part, fmt::format("'{0}' is ambiguous: it may be '{0} [1]' to '{0} [{1}]'",
                             part.name, found.size()));
    }
    return found[0];
  }

  const Section& section() const {
    const auto& found = document_.find_sections(parts_[0].name);
    if (!found.empty()) return document_.sections()[choose(parts_[0], found)];
    std::vector<std::string> known;
    for (const Section& one : document_.sections()) {
      known.push_back(one.name);
      known.emplace_back(short_name(one.name));
    }
    unknown(parts_[0], "section", known);
  }

  Place figure() const {
    if (size() < 2 || size() > 3) {
      fail(parts_[0], "a figure is SECTION / ROW / COLUMN or SECTION / WORDS / N: " +
                          std::to_string(size()) + (size() == 1 ? " part" : " parts"));
    }
    const Section& in = section();
    std::vector<std::string> rows;
    bool is_row = false;
    std::vector<std::size_t> lines, columns;
    std::vector<std::string> known;
    for (const Table& table : in.tables) {
      const auto at = size() < 3 ? table.columns.end()
                                 : std::find(table.columns.begin() + 1,
                                             table.columns.end(), parts_[2].name);
      for (std::size_t i = table.header + 2; i < table.end; ++i) {
        rows.push_back(fold(cells(document_.line(i))[0]));
        if (rows.back() != parts_[1].name) continue;
        is_row = true;
        known.insert(known.end(), table.columns.begin() + 1, table.columns.end());
        if (at == table.columns.end()) continue;
        if (std::find(at + 1, table.columns.end(), *at) != table.columns.end()) {
          fail(parts_[2], "two columns are called '" + *at + "'");
        }
        lines.push_back(i);
        columns.push_back(static_cast<std::size_t>(at - table.columns.begin()));
      }
    }
    if (is_row && size() == 2) fail(parts_[1], "a row: name a column as well");
    if (is_row && lines.empty()) {
      unknown(parts_[2], "column", known);
    }
    if (is_row) {
      const std::size_t line = choose(parts_[1], lines);
      const std::size_t column = columns[static_cast<std::size_t>(
          std::find(lines.begin(), lines.end(), line) - lines.begin())];
      const auto all = cells(document_.line(line));
      if (column >= all.size()) fail(parts_[2], "that row has no such cell");
      const auto begin =
          static_cast<std::size_t>(all[column].data() - document_.line(line).data());
      return {line, begin, begin + all[column].size()};
    }
    if (size() == 3 && to_count(parts_[2].name) == 0) unknown(parts_[1], "row", rows);
    return number_after(in, rows);
  }

 private:
  /// Where words end in a line, whole ones only, or npos.
  static std::size_t end_of(std::string_view words, std::string_view line) {
    for (std::size_t at = 0; (at = line.find(words, at)) != std::string_view::npos;
         ++at) {
      const std::size_t end = at + words.size();
      const bool begins = at == 0 || !is_word(line[at]) || !is_word(line[at - 1]);
      if (begins &&
          (end == line.size() || !is_word(line[end]) || !is_word(line[end - 1])))
        return end;
    }
    return std::string_view::npos;
  }

  Place number_after(const Section& in, const std::vector<std::string>& rows) const {
    const Part& words = parts_[1];
    std::vector<std::size_t> found, ends;
    const auto look = [&](std::size_t line) {
      const std::string_view text = document_.line(line);
      std::size_t end = end_of(words.name, text);
      if (end == std::string_view::npos && text.find("  ") != std::string_view::npos) {
        // White space may be folded: look in the line's words.
        const std::string folded = fold(text);
        std::size_t left = end_of(words.name, folded);
        if (left == std::string::npos) return;
        for (end = text.find_first_not_of(" \t"); left > 0; --left, ++end) {
          if (is_space(text[end])) {
            while (is_space(text[end + 1])) ++end;
          }
        }
      }
      if (end == std::string_view::npos) return;
      found.push_back(line);
      ends.push_back(end);
    };
    // "line 3" is the third line, even where another one says so; "heading" likewise.
    const std::size_t nth_line =
        words.name.substr(0, 5) == "line " ? to_count(words.name.substr(5)) : 0;
    const bool heading = words.name == "heading" && in.heading != Section::kNone;
    if (heading || (nth_line > 0 && nth_line <= in.prose.size())) {
      found = {heading ? in.heading : in.prose[nth_line - 1]};
      ends = {0};
    } else {
      for (const std::uint32_t line : in.prose) look(line);
      if (found.empty() && in.heading != Section::kNone) look(in.heading);
    }
    if (found.empty())
      unknown(words, "row, and no line of prose with the words,", rows);
    const std::size_t line = choose(words, found);
    const std::size_t after = ends[static_cast<std::size_t>(
        std::find(found.begin(), found.end(), line) - found.begin())];
    const std::size_t wanted = size() == 3 ? to_count(parts_[2].name) : 1;
    Place place;
    std::size_t count = 0;
    Numbers numbers(document_.line(line));
    for (Number number; numbers.next(number);) {
      if (number.begin < after) continue;
      if (++count == wanted) place = {line, number.begin, number.end};
    }
    if (count < wanted) {
      fail(parts_.back(), fmt::format("{} figures follow '{}'", count, words.name));
    }
    if (size() == 2 && count > 1) {
      fail(words, fmt::format("{0} figures follow '{1}': say which, '{1} / 1', ...",
                              count, words.name));
    }
    return place;
  }

  const Document& document_;
  std::string_view address_;
  std::vector<Part> parts_;
};

}  // namespace

Place find_figure(const Document& document, std::string_view address) {
  return Search(document, address).figure();
}

std::string cell_address(const Document& document, std::size_t section,
                         const Table& table, std::size_t line, std::size_t column) {
  const std::string row = fold(cells(document.line(line))[0]);
  std::size_t same = 0, nth = 0;
  for (const Table& other : document.sections()[section].tables) {
    if (other.end - other.header > kSearched ||
        std::find(other.columns.begin() + 1, other.columns.end(),
                  table.columns[column]) == other.columns.end()) {
      continue;
    }
    for (std::size_t i = other.header + 2; i < other.end; ++i) {
      if (cells(document.line(i))[0] != row && i != line) continue;
      ++same;
      if (i == line) nth = same;
    }
  }
  return document.section_name(section) + " / " + row +
         (same > 1 ? fmt::format(" [{}]", nth) : "") + " / " + table.columns[column];
}

std::string number_address(const Document& document, std::size_t section,
                           std::size_t line, std::size_t nth) {
  const Section& in = document.sections()[section];
  const std::string_view text = document.line(line);
  const auto place = std::lower_bound(in.prose.begin(), in.prose.end(), line);
  const std::string end = nth > 0 ? fmt::format(" / {}", nth) : "";
  Number first;
  Numbers numbers(text);
  std::string words =
      fold(text.substr(0, numbers.next(first) ? first.begin : std::string_view::npos));
  if (in.heading == line)
    words = fold(text.substr(text.find(' '), first.begin - text.find(' ')));
  const std::string name = document.section_name(section);
  if (!words.empty() && words.size() < 100 && words.find(" / ") == std::string::npos &&
      in.prose.size() <= kSearched && nth > 0) {
    const std::string address = name + " / " + words + end;
    try {
      const Place found = find_figure(document, address);
      std::size_t count = 0;
      Numbers again(text);
      for (Number one; found.line == line && again.next(one);) {
        if (++count == nth && one.begin == found.begin) return address;
      }
    } catch (const common::DiagnosticError&) {
      // Not the only line with these words: by its number, then.
    }
  }
  if (in.heading == line) return name + " / heading" + end;
  return fmt::format("{} / line {}{}", name, place - in.prose.begin() + 1, end);
}

std::pair<std::size_t, std::size_t> find_lines(const Document& document,
                                               std::string_view address) {
  const Search search(document, address);
  const Section& in = search.section();
  std::size_t begin = in.begin, end = in.end;
  if (search.size() > 1) {
    const Part& part = search.part(1);
    if (search.size() > 2 || part.name != "table") {
      search.fail(part, "lines are named by SECTION or SECTION / table");
    }
    if (in.tables.empty()) search.fail(part, "the section has no table");
    std::vector<std::size_t> all(in.tables.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    const Table& table = in.tables[search.choose(part, all)];
    begin = table.header;
    end = table.end;
  }
  return {begin, end};
}

}  // namespace transcript
