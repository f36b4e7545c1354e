// Every figure and word of the evidence, changed one at a time: beyond its class the
// comparison must name that one place, within its class it must find nothing.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <map>

#include "address.h"
#include "compare.h"
#include "file.h"
#include "text.h"
#include "token.h"

namespace {

namespace fs = std::filesystem;
using namespace transcript;

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

std::string join(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

/// `number` with its digits moved by `units` of the last place, by school arithmetic.
std::string moved(std::string number, int units) {
  const std::size_t end = std::min(number.find_first_of("eE"), number.size());
  const std::size_t begin = number[0] == '-' || number[0] == '+';
  std::string digits;
  std::size_t point = std::string::npos;
  for (std::size_t i = begin; i < end; ++i) {
    if (number[i] == '.') {
      point = end - i - 1;  // digits after it
    } else {
      digits += number[i];
    }
  }
  long value = std::stol(digits);
  const bool negative = number[0] == '-';
  value = (negative ? -value : value) + units;
  std::string text = std::to_string(std::labs(value));
  if (text.size() < digits.size()) text.insert(0, digits.size() - text.size(), '0');
  if (point != std::string::npos) text.insert(text.size() - point, ".");
  return (value < 0 ? "-" : "") + text + number.substr(end);
}

class Changes {
 public:
  Changes(fs::path file, const Rules& rules)
      : text_(common::read_file(file)),
        rules_(rules),
        recorded_(text_, file.string()),
        addresses_(recorded_),
        lines_(split_lines(text_)) {}

  void run() {
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      change_tokens(i);
      change_line(i);
    }
    for (const Table& table : recorded_.tables()) change_columns(table);
    for (const auto& [kind, count] : beyond_) {
      std::printf("  %-28s %6zu changes, each named alone\n", kind.c_str(), count);
    }
    for (const auto& [kind, count] : within_) {
      std::printf("  %-28s %6zu changes, no difference\n", kind.c_str(), count);
    }
    CHECK(beyond_.size() >= 15);
    CHECK(within_.size() >= 1);
  }

 private:
  Comparison compare_with(const std::vector<std::string>& lines) {
    const Transcript actual(join(lines), "actual");
    return compare(recorded_, actual, rules_);
  }

  static std::string found(const Comparison& comparison) {
    std::string text = fmt::format("{} differences:\n", comparison.differing);
    for (const Entry& entry : comparison.differences) {
      text += fmt::format("  {} ({}, {}): '{}' -> '{}'\n", entry.address,
                          entry.recorded_line, entry.actual_line, entry.recorded,
                          entry.actual);
    }
    return text;
  }

  /// One difference, on recorded line `i`; a figure's address leads back to its place.
  void expect_one(const char* kind, std::size_t i,
                  const std::vector<std::string>& lines, const Token* token = nullptr) {
    const Comparison comparison = compare_with(lines);
    const std::string changed = i < lines.size() ? lines[i] : "";
    INFO(kind, " on line ", i + 1, ":\n", lines_[i], "\n", changed, "\n",
         found(comparison));
    REQUIRE(comparison.differing == 1);
    const Entry& entry = comparison.differences[0];
    REQUIRE(entry.recorded_line == i + 1);
    ++beyond_[kind];
    if (token == nullptr || !token->is_number() || entry.what != What::figure) return;
    const Place place = addresses_.figure(entry.address);
    CHECK(place.line == i);
    CHECK(place.begin <= token->begin);
    CHECK(place.end >= token->end);
    // Text glued to the figure may have changed with it: "2:4" to "2:words".
    CHECK(entry.recorded.find(fold(lines_[i].substr(
              place.begin, place.end - place.begin))) != std::string::npos);
  }

  void expect_none(const char* kind, std::size_t i,
                   const std::vector<std::string>& lines) {
    const Comparison comparison = compare_with(lines);
    INFO(kind, " on line ", i + 1, ":\n", lines_[i], "\n", lines[i], "\n",
         found(comparison));
    REQUIRE(comparison.match());
    ++within_[kind];
  }

  /// The rule that decides about a token, found without the comparison's help.
  const Rule* rule_of(std::size_t i, const Token& token) const {
    const Table* table = recorded_.table_at(i);
    const bool row = table != nullptr && i != table->header;
    const std::string block = recorded_.block_name(recorded_.block_at(i));
    for (const Rule& rule : rules_.rules) {
      if (!matches(rule.block, block) || rule.is_prose() == row) continue;
      if (row ? matches(rule.row, fold(table->cell(lines_[i], 0))) &&
                    matches(rule.column,
                            table->columns[table->column_at(token.begin)].name)
              : matches(rule.line, fold(lines_[i]))) {
        return &rule;
      }
    }
    return nullptr;
  }

  void change_tokens(std::size_t i) {
    const Table* table = recorded_.table_at(i);
    const bool row = table != nullptr && i != table->header;
    Tokens tokens(lines_[i]);
    for (Token token; tokens.next(token);) {
      const std::string old(token.in(lines_[i]));
      const auto with = [&](const std::string& text) {
        std::vector<std::string> lines = lines_;
        std::size_t begin = token.begin;
        // What a program prints flush right in place of a number stays so.
        for (std::size_t grown = text.size();
             text == "not timed" && grown > old.size() && begin > 1 &&
             lines[i][begin - 1] == ' ' && lines[i][begin - 2] == ' ';
             --grown) {
          --begin;
        }
        lines[i].replace(begin, token.end - begin, text);
        return lines;
      };
      const Rule* rule = rule_of(i, token);
      const Class kind = rule == nullptr ? Class::last_place : rule->kind;
      const bool timed = kind == Class::time || kind == Class::ratio;
      if (kind == Class::device && !row) {
        const auto lines = with("other");
        if (matches(rule->line, fold(lines[i]))) {
          expect_none("device text", i, lines);
        } else {
          expect_one("word beside device text", i, lines);
        }
        continue;
      }
      std::vector<std::pair<const char*, std::string>> beyond;
      std::vector<std::pair<const char*, std::string>> within;
      if (token.is_number()) {
        const bool real = token.kind == Kind::real;
        const bool zero = old.find_first_not_of("+-.0") == std::string::npos;
        beyond.push_back({"NaN", "nan"});
        beyond.push_back({"infinity", "inf"});
        beyond.push_back({"infinity, negative", "-inf"});
        beyond.push_back({"figure to word", "words"});
        if (timed) {
          within.push_back({"time or ratio", moved(old, 37)});
          within.push_back({"time or ratio", "12345.678"});
          const bool alone =
              row && table->cell(lines_[i], table->column_at(token.begin)) == old;
          if (alone) within.push_back({"time or ratio", "not timed"});
          if (alone && kind == Class::ratio) within.push_back({"time or ratio", "n/a"});
          beyond.push_back({"time negative", "-" + old});
          beyond.push_back({"time zero", "0.0000"});
        } else {
          if (!zero) {
            const std::string flipped = old[0] == '-' ? old.substr(1) : "-" + old;
            // 0.001 and -0.001 are two units apart, still beyond.
            beyond.push_back({"sign", flipped});
          }
          if (real) {
            beyond.push_back({"last place, two units up", moved(old, 2)});
            beyond.push_back({"last place, two units down", moved(old, -2)});
            beyond.push_back({"last place, ten units", moved(old, 10)});
            within.push_back({"last place, one unit up", moved(old, 1)});
            within.push_back({"last place, one unit down", moved(old, -1)});
          } else {
            beyond.push_back({"integer, one up", moved(old, 1)});
            beyond.push_back({"integer, one down", moved(old, -1)});
          }
        }
      } else {
        std::string other = old;
        other[0] = other[0] == 'q' ? 'k' : 'q';
        beyond.push_back({"word, as long", other});
        beyond.push_back({"word, longer", old + "longer"});
        beyond.push_back({"word to two", old + " more"});
        if (old.size() > 1) beyond.push_back({"word, shorter", old.substr(1)});
      }
      for (const auto& [kind, text] : beyond) expect_one(kind, i, with(text), &token);
      for (const auto& [kind, text] : within) expect_none(kind, i, with(text));

      std::vector<std::string> lines = lines_;
      const std::size_t length = token.end - token.begin;
      lines[i].replace(token.begin, length, length, ' ');
      if (trim(lines[i]).empty()) continue;
      expect_one(token.is_number() ? "figure deleted" : "word deleted", i, lines,
                 &token);
    }
  }

  void change_line(std::size_t i) {
    std::vector<std::string> lines = lines_;
    lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(i));
    {
      const Comparison comparison = compare_with(lines);
      INFO("deleted line ", i + 1, ": ", lines_[i], "\n", found(comparison));
      REQUIRE(comparison.differing == 1);
      const Entry& entry = comparison.differences[0];
      CHECK(entry.what == What::missing);
      CHECK(lines_[entry.recorded_line - 1] == lines_[i]);
      const Table* table = recorded_.table_at(i);
      ++beyond_[table != nullptr && table->header != i ? "row deleted"
                : lines_[i].empty()                    ? "blank line deleted"
                                                       : "line deleted"];
    }
    for (const std::string& inserted :
         {std::string("an inserted line"), std::string("  inserted  1.5   2"),
          std::string(), std::string("inserted: 1"), lines_[i]}) {
      lines = lines_;
      lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(i), inserted);
      const Comparison comparison = compare_with(lines);
      INFO("inserted '", inserted, "' before line ", i + 1, ": ", lines_[i], "\n",
           found(comparison));
      REQUIRE(comparison.differing == 1);
      const Entry& entry = comparison.differences[0];
      CHECK(entry.what == What::extra);
      CHECK(lines[entry.actual_line - 1] == inserted);
      ++beyond_["line inserted"];
    }
  }

  void change_columns(const Table& table) {
    for (std::size_t c = 1; c < table.columns.size(); ++c) {
      const std::string name = table.columns[c].name;
      std::vector<std::string> without = lines_, twice = lines_;
      for (std::size_t i = table.header; i < table.end; ++i) {
        const std::size_t begin = table.columns[c].begin;
        if (begin >= lines_[i].size()) continue;
        const std::size_t end = c + 1 < table.columns.size()
                                    ? table.columns[c + 1].begin
                                    : std::string::npos;
        const std::string cut = lines_[i].substr(begin, end - begin);
        without[i].erase(begin, cut.size());
        twice[i].insert(begin, (i == table.header ? " new" : " 1.5") +
                                   std::string(cut.size(), ' '));
      }
      const Comparison missing = compare_with(without);
      INFO("column ", name, " at line ", table.header + 1, "\n", found(missing));
      REQUIRE(missing.differing == 1);
      CHECK(missing.differences[0].what == What::missing);
      CHECK(missing.differences[0].recorded == name);
      ++beyond_["column deleted"];
      const Comparison extra = compare_with(twice);
      INFO("before it, a column inserted\n", join(twice), found(extra));
      REQUIRE(extra.differing == 1);
      CHECK(extra.differences[0].what == What::extra);
      CHECK(extra.differences[0].actual == "new");
      ++beyond_["column inserted"];
    }
  }

  std::string text_;
  const Rules& rules_;
  Transcript recorded_;
  Addresses addresses_;
  std::vector<std::string> lines_;
  std::map<std::string, std::size_t> beyond_, within_;
};

}  // namespace

TEST_CASE("every single change of the evidence is named, or excused by its class") {
  std::vector<fs::path> folders{fs::path(SOURCE_ROOT) / "tools/transcript/testdata"};
  for (const auto& entry : fs::directory_iterator(SOURCE_ROOT "/transcripts")) {
    folders.push_back(entry.path());
  }
  CHECK(folders.size() > 1);
  for (const fs::path& folder : folders) {
    const Rules rules =
        parse_rules(common::read_file(folder / "rules.toml"), "rules.toml");
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() != ".txt") continue;
      std::printf("%s\n", entry.path().lexically_relative(SOURCE_ROOT).c_str());
      Changes(entry.path(), rules).run();
    }
  }
}
