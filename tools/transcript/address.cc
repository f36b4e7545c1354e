#include "address.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "diagnostic.h"
#include "suggest.h"
#include "text.h"
#include "token.h"

namespace transcript {
namespace {

/// Blocks longer than this get addresses that need no search for what is unique.
constexpr std::size_t kLongBlock = 2000;
/// Names tried for "did you mean"; and candidates that an error lists.
constexpr std::size_t kSuggestions = 1000;
constexpr std::size_t kCandidates = 5;

/// " / " separates parts, so a name loses the white space around its own slashes.
std::string normal(std::string_view name) {
  const std::string folded = fold(name);
  std::string text;
  for (std::size_t i = 0; i < folded.size(); ++i) {
    const bool slash = folded.compare(i, 3, " / ") == 0;
    text += slash ? '/' : folded[i];
    if (slash) i += 2;
  }
  return text;
}

/// Long names are not worth their edit distance.
std::string did_you_mean(const std::string& name, std::vector<std::string> known) {
  if (name.size() > 200) return "";
  std::erase_if(known, [](const std::string& one) { return one.size() > 200; });
  const std::string near = common::closest(name, known);
  return near.empty() ? "" : fmt::format("; did you mean '{}'?", near);
}

bool is_word_character(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/// Where whole words `words` end in `text`, or npos.
std::size_t end_of_words(std::string_view text, std::string_view words) {
  for (std::size_t at = text.find(words); at != std::string_view::npos;
       at = text.find(words, at + 1)) {
    const std::size_t end = at + words.size();
    const bool begins = at == 0 || !is_word_character(text[at - 1]) ||
                        !is_word_character(words.front());
    const bool ends = end == text.size() || !is_word_character(text[end]) ||
                      !is_word_character(words.back());
    if (begins && ends) return end;
  }
  return std::string_view::npos;
}

std::vector<Token> numbers_of(std::string_view line) {
  std::vector<Token> numbers;
  Tokens tokens(line);
  for (Token token; tokens.next(token);) {
    if (token.is_number()) numbers.push_back(token);
  }
  return numbers;
}

std::optional<long> to_ordinal(std::string_view text) {
  long value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value == 0) {
    return std::nullopt;
  }
  return value;
}

/// K of "line K", or 0.
std::size_t line_ordinal(std::string_view name) {
  if (name.substr(0, 5) != "line ") return 0;
  const auto value = to_ordinal(name.substr(5));
  return value && *value > 0 ? static_cast<std::size_t>(*value) : 0;
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kCandidates; ++i) {
    text += (i > 0 ? ", '" : "'") + printable(names[i], 100) + "'";
  }
  if (names.size() > kCandidates) text += ", ...";
  return text;
}

}  // namespace

struct Addresses::Query {
  std::string_view address;
  std::string_view name;
  std::vector<AddressPart> parts;

  [[noreturn]] void fail(std::size_t part, std::string message) const {
    throw common::DiagnosticError({{std::string(name), 0, parts[part].column,
                                    std::move(message), std::string(address)}});
  }
};

std::vector<AddressPart> parse_address(std::string_view address,
                                       std::string_view name) {
  const auto fail = [&](std::size_t column, const char* message) {
    throw common::DiagnosticError(
        {{std::string(name), 0, column, message, std::string(address)}});
  };
  std::vector<AddressPart> parts;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= address.size(); ++i) {
    const bool at_end = i == address.size();
    const bool separates = !at_end && address[i] == '/' &&
                           (i == 0 || is_space(address[i - 1])) &&
                           (i + 1 == address.size() || is_space(address[i + 1]));
    if (!at_end && !separates) continue;
    const std::string_view raw = address.substr(begin, i - begin);
    AddressPart part;
    part.column = begin + 1;
    while (part.column <= i && is_space(address[part.column - 1])) ++part.column;
    part.whole = part.name = fold(raw);
    if (part.name.empty()) {
      fail(part.column, parts.empty() && at_end ? "the address is empty"
                                                : "a part of the address is empty");
    }
    if (parts.size() == 3) {
      fail(part.column,
           "an address has at most three parts: BLOCK / ROW / COLUMN, or "
           "BLOCK / WORDS / N");
    }
    if (part.name.back() == ']') {
      const std::size_t open = part.name.rfind(" [");
      if (open != std::string::npos) {
        const auto value = to_ordinal(
            std::string_view(part.name).substr(open + 2, part.name.size() - open - 3));
        if (value && *value > 0) {
          part.ordinal = static_cast<std::size_t>(*value);
          part.name.resize(open);
        }
      }
    }
    parts.push_back(std::move(part));
    begin = i + 1;
  }
  return parts;
}

const std::vector<std::uint32_t>* Addresses::find_block(const std::string& name) {
  if (blocks_.empty()) {
    for (std::size_t i = 0; i < transcript_.blocks(); ++i) {
      blocks_[normal(transcript_.block_name(i))].push_back(
          static_cast<std::uint32_t>(i));
    }
  }
  const auto found = blocks_.find(name);
  return found == blocks_.end() ? nullptr : &found->second;
}

std::size_t Addresses::resolve_block(const Query& query) {
  const AddressPart& part = query.parts[0];
  if (const auto* found = find_block(part.whole); found && found->size() == 1) {
    return found->front();
  }
  const auto* found = find_block(part.name);
  if (found == nullptr) {
    std::vector<std::string> known;
    for (std::size_t i = 0; i < transcript_.blocks() && i < kSuggestions; ++i) {
      known.push_back(normal(transcript_.block_name(i)));
    }
    query.fail(0, fmt::format("no block '{}'{}", printable(part.whole, 100),
                              did_you_mean(part.name, std::move(known))));
  }
  if (part.ordinal > found->size()) {
    query.fail(0, fmt::format("block '{}' occurs {} times only",
                              printable(part.name, 100), found->size()));
  }
  if (part.ordinal == 0 && found->size() > 1) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < found->size() && i <= kCandidates; ++i) {
      names.push_back(fmt::format("{} [{}]", part.name, i + 1));
    }
    query.fail(0, fmt::format("'{}' is ambiguous: it may be {}",
                              printable(part.name, 100), listed(names)));
  }
  return (*found)[part.ordinal > 0 ? part.ordinal - 1 : 0];
}

Place Addresses::resolve_cell(const Query& query,
                              const std::vector<std::size_t>& rows) {
  const AddressPart& row = query.parts[1];
  if (query.parts.size() < 3) {
    std::vector<std::string> names;
    for (const Column& column : transcript_.table_at(rows[0])->columns) {
      names.push_back(normal(column.name));
    }
    names.erase(names.begin());
    query.fail(1, fmt::format("'{}' is a row; add one of its columns: {}",
                              printable(row.whole, 100), listed(names)));
  }
  const AddressPart& column = query.parts[2];
  struct Hit {
    std::size_t row;  // index in rows
    std::size_t column;
    std::string address;
  };
  std::vector<Hit> hits;
  std::vector<std::string> known;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const Table& table = *transcript_.table_at(rows[r]);
    std::size_t same = 0;
    for (std::size_t c = 1; c < table.columns.size(); ++c) {
      const std::string name = normal(table.columns[c].name);
      if (r == 0 && known.size() < kSuggestions) known.push_back(name);
      if (name != column.whole && name != column.name) continue;
      ++same;
      if (name == column.name && column.ordinal > 0 && column.ordinal != same) continue;
      hits.push_back({r, c, ""});
      std::string& address = hits.back().address;
      address = query.parts[0].whole + " / " + row.name;
      if (rows.size() > 1) address += fmt::format(" [{}]", r + 1);
      address += " / " + column.name;
      if (same > 1) address += fmt::format(" [{}]", same);
    }
  }
  if (row.ordinal > rows.size()) {
    query.fail(1, fmt::format("row '{}' occurs {} times only", printable(row.name, 100),
                              rows.size()));
  }
  if (row.ordinal > 0) {
    std::erase_if(hits, [&](const Hit& hit) { return hit.row + 1 != row.ordinal; });
  }
  if (hits.empty()) {
    query.fail(
        2, fmt::format("row '{}' has no column '{}'{}", printable(row.whole, 100),
                       printable(column.whole, 100), did_you_mean(column.name, known)));
  }
  if (hits.size() > 1) {
    std::vector<std::string> names;
    for (const Hit& hit : hits) names.push_back(hit.address);
    query.fail(1, fmt::format("the address is ambiguous: it may be {}", listed(names)));
  }
  const std::size_t line = rows[hits[0].row];
  const std::string_view text = transcript_.line(line);
  const std::string_view cell = transcript_.table_at(line)->cell(text, hits[0].column);
  if (cell.empty()) {
    query.fail(2, fmt::format("row '{}' has nothing under '{}'",
                              printable(row.whole, 100), printable(column.whole, 100)));
  }
  const auto begin = static_cast<std::uint32_t>(cell.data() - text.data());
  return {line, begin, begin + static_cast<std::uint32_t>(cell.size())};
}

Place Addresses::resolve_number(const Query& query, LineRange range) {
  const AddressPart& words = query.parts[1];
  std::optional<long> wanted;
  if (query.parts.size() == 3) {
    wanted = to_ordinal(query.parts[2].whole);
    if (!wanted) {
      std::vector<std::string> known;
      for (std::size_t i = range.begin; i < range.end && known.size() < kSuggestions;
           ++i) {
        const Table* table = transcript_.table_at(i);
        if (table == nullptr || i == table->header) continue;
        known.push_back(normal(table->cell(transcript_.line(i), 0)));
      }
      query.fail(1,
                 fmt::format("no row '{}' in block '{}'{}", printable(words.whole, 100),
                             printable(query.parts[0].whole, 100),
                             did_you_mean(words.name, std::move(known))));
    }
  }

  std::vector<std::size_t> found;
  std::size_t words_end = 0;
  for (std::size_t i = range.begin; i < range.end; ++i) {
    const Table* table = transcript_.table_at(i);
    if (table != nullptr && i != table->header) continue;
    const std::string text = normal(transcript_.line(i));
    const std::size_t end = end_of_words(text, words.whole);
    if (end == std::string::npos || numbers_of(text).empty()) continue;
    if (found.empty()) words_end = end;
    found.push_back(i);
  }
  if (const std::size_t k = line_ordinal(words.whole);
      found.empty() && k > 0 && k <= range.end - range.begin) {
    found.push_back(range.begin + k - 1);
  }
  if (found.empty()) {
    query.fail(1, fmt::format("no line of block '{}' has the words '{}' and a figure",
                              printable(query.parts[0].whole, 100),
                              printable(words.whole, 100)));
  }
  if (found.size() > 1) {
    std::vector<std::string> names;
    for (const std::size_t i : found) {
      names.push_back(fold(transcript_.line(i)));
      if (names.size() > kCandidates) break;
    }
    query.fail(1,
               fmt::format("'{}' stands in {} lines: {}", printable(words.whole, 100),
                           found.size(), listed(names)));
  }

  const std::string_view line = transcript_.line(found[0]);
  const std::vector<Token> numbers = numbers_of(line);
  // Folding keeps the order of the numbers, so those after the words are the last ones.
  std::size_t before = numbers.size();
  for (const Token& number : numbers_of(normal(line))) {
    if (before > 0 && number.begin >= words_end) --before;
  }
  const std::size_t after = numbers.size() - before;
  if (!wanted && after != 1) {
    if (after == 0) query.fail(1, "no figure follows these words");
    std::vector<std::string> names;
    for (std::size_t i = before; i < numbers.size(); ++i) {
      names.push_back(fmt::format("{} / {}", words.whole, i - before + 1));
    }
    query.fail(1, fmt::format("{} figures follow these words: say which, {}", after,
                              listed(names)));
  }
  const long n = wanted.value_or(1);
  const std::size_t count = n > 0 ? after : before;
  if (static_cast<std::size_t>(std::abs(n)) > count) {
    query.fail(2,
               fmt::format("{} figure{} {} these words", count, count == 1 ? "" : "s",
                           n > 0 ? (count == 1 ? "follows" : "follow")
                                 : (count == 1 ? "precedes" : "precede")));
  }
  const std::size_t index = n > 0 ? before + static_cast<std::size_t>(n) - 1
                                  : before - static_cast<std::size_t>(-n);
  return {found[0], numbers[index].begin, numbers[index].end};
}

Place Addresses::figure(std::string_view address) {
  const Query query{address, transcript_.name(),
                    parse_address(address, transcript_.name())};
  const std::size_t block = resolve_block(query);
  const LineRange range{transcript_.block_begin(block), transcript_.block_end(block)};
  if (query.parts.size() == 1) {
    query.fail(0,
               "this names a block; a figure needs BLOCK / ROW / COLUMN, or "
               "BLOCK / WORDS / N");
  }
  const AddressPart& part = query.parts[1];
  for (const std::string* name : {&part.whole, &part.name}) {
    std::vector<std::size_t> rows;
    for (std::size_t i = range.begin; i < range.end; ++i) {
      const Table* table = transcript_.table_at(i);
      if (table == nullptr || i == table->header) continue;
      if (normal(table->cell(transcript_.line(i), 0)) == *name) rows.push_back(i);
    }
    if (!rows.empty()) return resolve_cell(query, rows);
  }
  if (const std::size_t k = line_ordinal(part.whole);
      k > 0 && k <= range.end - range.begin) {
    const std::size_t line = range.begin + k - 1;
    const Table* table = transcript_.table_at(line);
    if (table != nullptr && line != table->header) return resolve_cell(query, {line});
  }
  return resolve_number(query, range);
}

LineRange Addresses::lines(std::string_view address) {
  const Query query{address, transcript_.name(),
                    parse_address(address, transcript_.name())};
  const std::size_t block = resolve_block(query);
  const LineRange range{transcript_.block_begin(block), transcript_.block_end(block)};
  if (query.parts.size() == 1) return range;
  if (query.parts.size() > 2 || query.parts[1].name != "table") {
    query.fail(1, "lines are named by BLOCK or BLOCK / table");
  }
  std::vector<LineRange> tables;
  for (std::size_t i = range.begin; i < range.end; ++i) {
    const Table* table = transcript_.table_at(i);
    if (table != nullptr && table->header == i) tables.push_back({i, table->end});
  }
  const std::size_t ordinal = query.parts[1].ordinal;
  if (tables.empty()) query.fail(1, "the block has no table");
  if (ordinal > tables.size() || (ordinal == 0 && tables.size() > 1)) {
    query.fail(1, fmt::format("the block has {} table{}: say which, 'table [1]'{}",
                              tables.size(), tables.size() == 1 ? "" : "s",
                              tables.size() == 1 ? "" : ", ..."));
  }
  return tables[ordinal > 0 ? ordinal - 1 : 0];
}

std::string Addresses::block(std::size_t block) {
  const std::string name = normal(transcript_.block_name(block));
  if (name.empty()) return "(nothing)";
  const auto* found = find_block(name);
  if (found->size() == 1) return name;
  const auto at = std::lower_bound(found->begin(), found->end(), block);
  return fmt::format("{} [{}]", name, at - found->begin() + 1);
}

bool Addresses::resolves(const std::string& address, const Place& place) {
  try {
    return figure(address) == place;
  } catch (const common::DiagnosticError&) {
    return false;
  }
}

std::string Addresses::row(std::size_t line) {
  const std::size_t block = transcript_.block_at(line);
  const std::size_t begin = transcript_.block_begin(block);
  const std::string prefix = this->block(block) + " / ";
  const Table* table = transcript_.table_at(line);
  const std::string by_line =
      prefix + fmt::format("line {}", line >= begin ? line - begin + 1 : 0);
  if (table == nullptr || line == table->header) return by_line;
  if (transcript_.block_begin(block + 1) - begin > kLongBlock) return by_line;
  const std::string name = normal(table->cell(transcript_.line(line), 0));
  std::size_t count = 0, own = 0;
  for (std::size_t i = begin; i < transcript_.block_begin(block + 1); ++i) {
    const Table* other = transcript_.table_at(i);
    if (other == nullptr || i == other->header) continue;
    if (normal(other->cell(transcript_.line(i), 0)) != name) continue;
    ++count;
    if (i == line) own = count;
  }
  return prefix + (count == 1 ? name : fmt::format("{} [{}]", name, own));
}

std::string Addresses::cell(std::size_t line, std::size_t column) {
  const Table& table = *transcript_.table_at(line);
  const std::string name = normal(table.columns[column].name);
  std::size_t count = 0, own = 0;
  for (std::size_t c = 1; c < table.columns.size(); ++c) {
    if (normal(table.columns[c].name) != name) continue;
    ++count;
    if (c == column) own = count;
  }
  return row(line) + " / " + (count > 1 ? fmt::format("{} [{}]", name, own) : name);
}

std::string Addresses::number(std::size_t line, std::uint32_t begin) {
  const std::string_view text = transcript_.line(line);
  const std::size_t block = transcript_.block_at(line);
  const std::size_t block_begin = transcript_.block_begin(block);
  const std::string prefix = this->block(block) + " / ";
  std::size_t index = 0;
  Tokens tokens(text);
  for (Token token; tokens.next(token) && token.begin < begin;)
    index += token.is_number();
  const std::string by_line =
      prefix + fmt::format("line {} / {}", line - block_begin + 1, index + 1);
  if (transcript_.block_begin(block + 1) - block_begin > kLongBlock ||
      text.size() > 1000) {
    return by_line;
  }

  const std::vector<Token> numbers = numbers_of(text);
  const Place place{line, begin, numbers[index].end};

  // The words between the figure before and this one, or those before the first, or
  // those after the last.
  const std::size_t from = index > 0 ? numbers[index - 1].end : 0;
  std::string_view between = text.substr(from, begin - from);
  if (index > 0) between = between.substr(std::min(between.find(' '), between.size()));
  const std::string near = normal(between);
  const std::string head = normal(text.substr(0, numbers[0].begin));
  const std::string tail = normal(text.substr(numbers.back().end));
  for (const auto& [words, ordinal] :
       {std::pair{near, 1L}, std::pair{head, static_cast<long>(index) + 1},
        std::pair{tail,
                  static_cast<long>(index) - static_cast<long>(numbers.size())}}) {
    if (std::none_of(words.begin(), words.end(), is_word_character)) continue;
    const std::string address = prefix + words + fmt::format(" / {}", ordinal);
    if (resolves(address, place)) return address;
  }
  return by_line;
}

}  // namespace transcript
