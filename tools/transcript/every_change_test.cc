// Every figure and word of the evidence, changed one at a time: beyond its rule the
// comparison must name that one place, within its rule it must find nothing.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>

#include "address.h"
#include "compare.h"
#include "file.h"
#include "text.h"

namespace {

namespace fs = std::filesystem;
using namespace transcript;
using Lines = std::vector<std::string>;

std::string join(const Lines& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

/// `number` with its digits moved by `units` of the last place, by school arithmetic.
std::string moved(std::string number, int units) {
  const std::size_t end = std::min(number.find_first_of("eE"), number.size());
  std::string digits;
  std::size_t point = std::string::npos;
  for (std::size_t i = number[0] == '-' || number[0] == '+'; i < end; ++i) {
    if (number[i] == '.') {
      point = end - i - 1;  // digits after it
    } else {
      digits += number[i];
    }
  }
  long value = std::stol(digits);
  value = (number[0] == '-' ? -value : value) + units;
  std::string text = std::to_string(std::labs(value));
  if (text.size() < digits.size()) text.insert(0, digits.size() - text.size(), '0');
  if (point != std::string::npos) text.insert(text.size() - point, ".");
  return (value < 0 ? "-" : "") + text + number.substr(end);
}

/// Where a piece of the evidence stands, and the rule for it, found without the
/// comparison's help.
enum class Where { prose, heading, cell, name, header, delimiter };

class Changes {
 public:
  Changes(const fs::path& file, const Rules& rules)
      : text_(common::read_file(file)), rules_(rules), recorded_(text_, file.string()) {
    for (std::size_t i = 0; i < recorded_.lines(); ++i) {
      lines_.emplace_back(recorded_.line(i));
    }
    for (std::size_t s = 0; s < recorded_.sections().size(); ++s) {
      const Section& section = recorded_.sections()[s];
      if (section.heading != Section::kNone) pieces(s, section.heading, Where::heading);
      for (const std::uint32_t line : section.prose) pieces(s, line, Where::prose);
      for (const Table& table : section.tables) rows(s, table);
    }
  }

  void print() const {
    for (const auto& [kind, count] : beyond_) {
      std::printf("  %-28s %6zu changes, each named\n", kind.c_str(), count);
    }
    for (const auto& [kind, count] : within_) {
      std::printf("  %-28s %6zu changes, no difference\n", kind.c_str(), count);
    }
    CHECK(beyond_.size() >= 15);
    CHECK(within_.size() >= 1);
  }

 private:
  Comparison compare_with(const Lines& lines) {
    const Document actual(join(lines), "actual");
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

  /// `most` differences or fewer, one of them on line `i` (or, if that is kExtra, an
  /// extra one). The address of a figure leads back to its line.
  void expect(const char* kind, std::size_t i, const Lines& lines,
              std::size_t most = 1) {
    const Comparison comparison = compare_with(lines);
    INFO(kind, " on line ", i + 1, ": ", i < lines.size() ? lines[i] : "", "\n",
         found(comparison));
    REQUIRE(comparison.differing >= 1);
    REQUIRE(comparison.differing <= most);
    const Entry& entry = comparison.differences[0];
    bool named = false;  // a changed line may leave others without their section
    for (const Entry& one : comparison.differences) {
      named =
          named || (i == kExtra ? one.what == What::extra : one.recorded_line == i + 1);
    }
    REQUIRE(named);
    ++beyond_[kind];
    if (i == kExtra || entry.what != What::figure) return;
    CHECK(find_figure(recorded_, entry.address).line == i);
  }

  void expect_none(const char* kind, std::size_t i, const Lines& lines) {
    const Comparison comparison = compare_with(lines);
    INFO(kind, " on line ", i + 1, ":\n", lines_[i], "\n", lines[i], "\n",
         found(comparison));
    REQUIRE(comparison.match());
    ++within_[kind];
  }

  const Rule* rule_of(std::size_t section, std::size_t line, const std::string& row,
                      const std::string& column) const {
    const std::string& name = recorded_.sections()[section].name;
    for (const Rule& rule : rules_.rules) {
      if (!matches(rule.section, name) && !matches(rule.section, short_name(name)))
        continue;
      if (column.empty() ? rule.row.empty() && rule.column.empty() &&
                               matches(rule.line, fold(lines_[line]))
                         : rule.line.empty() && matches(rule.row, row) &&
                               matches(rule.column, column)) {
        return &rule;
      }
    }
    return nullptr;
  }

  /// Whether a row, or else a line, or all of its section may be missing.
  bool is_optional(std::size_t section, const std::string& row,
                   const std::string& line) const {
    const std::string& name = recorded_.sections()[section].name;
    return std::any_of(rules_.rules.begin(), rules_.rules.end(), [&](const Rule& rule) {
      if (rule.kind != Class::optional) return false;
      if (!matches(rule.section, name) && !matches(rule.section, short_name(name)))
        return false;
      if (!rule.line.empty()) return !line.empty() && matches(rule.line, line);
      return rule.row.empty() || (!row.empty() && matches(rule.row, row));
    });
  }

  /// A line that is not a table's: each figure and word of it, and the line itself.
  void pieces(std::size_t s, std::size_t i, Where where) {
    const Rule* rule = rule_of(s, i, "", "");
    if (is_optional(s, "", fold(lines_[i]))) return;  // may be missing
    change_text(i, 0, lines_[i].size(), where, rule);
    Lines lines = lines_;
    lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(i));
    // Without its heading a section's lines belong to the one before.
    expect(where == Where::heading ? "heading deleted" : "line deleted", i, lines,
           where == Where::heading ? 1000 : 1);
    for (const std::string& inserted :
         {std::string("an inserted line"), std::string("  inserted  1.5   2"),
          lines_[i]}) {
      if (where == Where::heading) continue;
      lines = lines_;
      lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(i), inserted);
      expect("line inserted", kExtra, lines);
    }
  }

  void rows(std::size_t s, const Table& table) {
    if (is_optional(s, "", "")) return;
    for (std::size_t i = table.header; i < table.end; ++i) {
      const auto all = cells(lines_[i]);
      if (i >= table.header + 2 && is_optional(s, fold(all[0]), "")) continue;
      for (std::size_t c = 0; c < all.size() && i != table.header + 1; ++c) {
        const auto begin = static_cast<std::size_t>(all[c].data() - lines_[i].data());
        const Where where = i == table.header ? Where::header
                            : c == 0          ? Where::name
                                              : Where::cell;
        const Rule* rule = where == Where::cell
                               ? rule_of(s, i, fold(all[0]), table.columns[c])
                               : nullptr;
        change_text(i, begin, begin + all[c].size(), where, rule);
      }
      Lines lines = lines_;
      lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(i));
      if (i >= table.header + 2) {
        expect("row deleted", i, lines);
        lines = lines_;
        lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(i), lines_[i]);
        expect("row inserted", kExtra, lines);
      } else {  // no table is left
        expect("table's head deleted", table.header, lines, 1000);
      }
    }
    for (std::size_t c = 1; c < table.columns.size(); ++c) {
      Lines without = lines_, twice = lines_;
      for (std::size_t i = table.header; i < table.end; ++i) {
        const auto all = cells(lines_[i]);
        if (c >= all.size()) continue;
        const auto begin = static_cast<std::size_t>(all[c].data() - lines_[i].data());
        const std::size_t end = lines_[i].find('|', begin) + 1;
        without[i].erase(begin, end - begin);
        twice[i].insert(begin, i == table.header       ? "new | "
                               : i == table.header + 1 ? "--- | "
                                                       : "1.5 | ");
      }
      expect("column deleted", table.header, without);
      expect("column inserted", kExtra, twice);
    }
  }

  /// Each figure and each word of part of a line.
  void change_text(std::size_t i, std::size_t begin, std::size_t end, Where where,
                   const Rule* rule) {
    const std::string text = lines_[i].substr(begin, end - begin);
    Numbers numbers(text);
    std::size_t at = 0;
    for (Number number;;) {
      const bool more = numbers.next(number);
      const std::size_t stop = more ? number.begin : text.size();
      while (at < stop) {  // words before it
        std::size_t word_end = at + 1;
        if (!is_space(text[at])) {
          while (word_end < stop && !is_space(text[word_end])) ++word_end;
          change_word(i, begin + at, begin + word_end, where, rule);
        }
        at = word_end;
      }
      if (!more) break;
      change_figure(i, begin + number.begin, begin + number.end, number.kind, where,
                    rule, number.end - number.begin == text.size());
      at = number.end;
    }
  }

  Lines with(std::size_t i, std::size_t begin, std::size_t end,
             const std::string& text) {
    Lines lines = lines_;
    lines[i].replace(begin, end - begin, text);
    return lines;
  }

  /// Names of rows, columns and sections pair: a changed one is missing, and extra.
  static std::size_t most(Where where) {
    return where == Where::prose || where == Where::cell ? 1
           : where == Where::heading                     ? 1000
                                                         : 3;
  }

  void change_word(std::size_t i, std::size_t begin, std::size_t end, Where where,
                   const Rule* rule) {
    const std::string old = lines_[i].substr(begin, end - begin);
    if (where == Where::heading && begin == 0) return;  // its #
    if (rule != nullptr && rule->kind != Class::judged) {
      const Lines lines = with(i, begin, end, "other");
      const bool still =
          where == Where::cell ? false : matches(rule->line, fold(lines[i]));
      if (where == Where::cell) {
        if (old == "not" || old == "timed" || old == "n/a") {
          expect("stand-in of a time", i, lines);
        } else {
          expect_none("unit of a time", i, lines);
        }
      } else if (where == Where::heading ? still : true) {
        expect_none("word of a machine's line", i, lines);
      } else {
        expect("word beside a machine's", i, lines, 1000);
      }
      return;
    }
    std::string other = old;
    other[0] = other[0] == 'q' ? 'k' : 'q';
    const auto try_one = [&](const char* kind, const std::string& text) {
      expect(kind, i, with(i, begin, end, text), most(where));
    };
    try_one("word, as long", other);
    try_one("word, longer", old + "longer");
    try_one("word to two", old + " more");
    if (old.size() > 1) try_one("word, shorter", old.substr(1));
    if (old.size() < lines_[i].size()) try_one("word deleted", "");
  }

  void change_figure(std::size_t i, std::size_t begin, std::size_t end,
                     Number::Kind kind, Where where, const Rule* rule, bool alone) {
    const std::string old = lines_[i].substr(begin, end - begin);
    const auto beyond = [&](const char* what, const std::string& text) {
      expect(what, i, with(i, begin, end, text), most(where));
    };
    const auto within = [&](const char* what, const std::string& text) {
      expect_none(what, i, with(i, begin, end, text));
    };
    const Class what = rule == nullptr ? Class::judged : rule->kind;
    if (what == Class::machine) return within("figure of the machine", "7");
    beyond("NaN", "nan");
    beyond("infinity", "inf");
    beyond("infinity, negative", "-inf");
    if (what == Class::reported) {
      within("time or ratio", moved(old, 37));
      within("time or ratio", "0.0000");
      if (alone) within("time or ratio", "not timed");
      if (alone) beyond("time to word", "words");
      if (alone) beyond("time deleted", "");
      return;
    }
    beyond("figure to word", "words");
    beyond("figure deleted", "");
    if (old.find_first_not_of("+-.0") != std::string::npos) {
      // 0.001 and -0.001 are two units apart, still beyond.
      beyond("sign", old[0] == '-' ? old.substr(1) : "-" + old);
    }
    if (kind == Number::Kind::real) {
      beyond("last place, two units up", moved(old, 2));
      beyond("last place, two units down", moved(old, -2));
      beyond("last place, ten units", moved(old, 10));
      if (where == Where::prose || where == Where::cell) {
        within("last place, one unit up", moved(old, 1));
        within("last place, one unit down", moved(old, -1));
      }
    } else {
      beyond("integer, one up", moved(old, 1));
      beyond("integer, one down", moved(old, -1));
    }
  }

  static constexpr std::size_t kExtra = static_cast<std::size_t>(-2);

  std::string text_;
  const Rules& rules_;
  Document recorded_;
  Lines lines_;
  std::map<std::string, std::size_t> beyond_, within_;
};

}  // namespace

TEST_CASE("every single change of the evidence is named, or excused by its rule") {
  const fs::path root = SOURCE_ROOT;
  std::vector<std::pair<fs::path, fs::path>> files{
      {root / "tools/transcript/testdata/nvidia-h200.md",
       root / "tools/transcript/testdata/rules.toml"}};
  for (const auto& folder : fs::directory_iterator(root / "transcripts")) {
    if (!fs::exists(folder.path() / "rules.toml")) continue;
    for (const auto& entry : fs::directory_iterator(folder.path())) {
      if (entry.path().extension() != ".md") continue;
      files.emplace_back(entry.path(), folder.path() / "rules.toml");
    }
  }
  for (const auto& [file, rules_file] : files) {
    const Rules rules = parse_rules(common::read_file(rules_file), "rules.toml");
    std::printf("%s\n", file.lexically_relative(root).c_str());
    Changes(file, rules).print();
  }
}
