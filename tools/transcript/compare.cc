#include "compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "address.h"
#include "align.h"
#include "judge.h"
#include "ledger.h"
#include "text.h"

namespace transcript {
namespace {

class Comparer {
 public:
  Comparer(const Document& recorded, const Document& actual, const Rules& rules,
           std::size_t listed)
      : rules_(rules.rules),
        used_(rules_.size(), false),
        r_{recorded, rules_, used_, 0, nullptr, {}},
        a_{actual, rules_, used_, 0, nullptr, {}},
        ledger_{r_, listed, {}},
        result_(ledger_.result) {}

  Comparison run() {
    const auto compare_section = [&](std::size_t r, std::size_t a) {
      r_.enter(r);
      a_.enter(a);
      compare_tables();
      compare_prose();
    };
    if (!by_name(
            section_keys(r_), section_keys(a_), compare_section,
            [&](std::size_t r) { section_alone(r_, r); },
            [&](std::size_t a) { section_alone(a_, a); })) {
      result_.notes.push_back("sections stand in another order");
    }
    result_.used = used_;
    return std::move(result_);
  }

 private:
  /// Sections pair by name, or by the rule that says that the machine is in the name.
  Names section_keys(Side& side) {
    Names keys;
    for (std::size_t s = 0; s < side.document.sections().size(); ++s) {
      side.enter(s);
      const std::size_t line = side.section->heading;
      const Rule* rule = line == Section::kNone ? nullptr : side.line_rule(line);
      if (rule != nullptr && rule->kind == Class::machine && !rule->line.empty()) {
        keys.push_back(fmt::format("\x01{}", rule - rules_.data()));
        result_.excused += &side == &r_;
      } else {
        keys.push_back(side.section->name);
      }
    }
    return keys;
  }

  void section_alone(Side& side, std::size_t number) {
    side.enter(number);
    const std::size_t line = side.section->heading;
    const bool top = line == Section::kNone;
    const Rule* rule = top ? nullptr : side.line_rule(line, true);
    ledger_.alone(
        side, [&](std::size_t) { return side.name(); },
        top ? "(no heading)" : side.document.line(line),
        top ? side.section->begin : line, rule);
  }

  Names row_names(const Side& side, const Table& table) const {
    Names names;
    for (std::size_t i = table.header + 2; i < table.end; ++i) {
      names.push_back(fold(cells(side.document.line(i))[0]));
    }
    return names;
  }

  /// Each table with the first one left that has half of its columns.
  void compare_tables() {
    std::vector<bool> taken(a_.section->tables.size(), false);
    for (const Table& table : r_.section->tables) {
      std::size_t best = 0;
      for (; best < taken.size(); ++best) {
        std::size_t common = 0;
        const Names& columns = a_.section->tables[best].columns;
        by_name(
            table.columns, columns, [&](std::size_t, std::size_t) { ++common; },
            [](std::size_t) {}, [](std::size_t) {});
        if (!taken[best] && 2 * common >= table.columns.size()) break;
      }
      if (best < taken.size()) {
        taken[best] = true;
        compare_table(table, a_.section->tables[best]);
      } else {
        table_alone(r_, table);
      }
    }
    for (std::size_t i = 0; i < taken.size(); ++i) {
      if (!taken[i]) table_alone(a_, a_.section->tables[i]);
    }
  }

  void table_alone(const Side& side, const Table& table) {
    ledger_.alone(
        side, [&](std::size_t) { return side.name() + " / table"; },
        side.document.line(table.header), table.header, nullptr);
  }

  void compare_table(const Table& r, const Table& a) {
    std::vector<std::pair<std::size_t, std::size_t>> columns;
    bool ordered = by_name(
        r.columns, a.columns,
        [&](std::size_t i, std::size_t j) { columns.emplace_back(i, j); },
        [&](std::size_t i) { column_alone(r_, r, i); },
        [&](std::size_t j) { column_alone(a_, a, j); });
    const auto compare_row = [&](std::size_t i, std::size_t j) {
      const std::size_t r_line = r.header + 2 + i, a_line = a.header + 2 + j;
      const auto r_cells = cells(r_.document.line(r_line));
      const auto a_cells = cells(a_.document.line(a_line));
      const std::string row = fold(r_cells[0]);
      const auto cell = [](const auto& all, std::size_t at) {
        return at < all.size() ? all[at] : std::string_view();
      };
      for (const std::pair<std::size_t, std::size_t>& pair : columns) {
        const std::size_t c = pair.first, d = pair.second;
        if (c == 0 && d == 0) continue;  // the row's name
        ledger_.compare_text(cell(r_cells, c), cell(a_cells, d), r_line, a_line,
                             r_.cell_rule(row, r.columns[c]), [&](std::size_t) {
                               return cell_address(r_.document, r_.number, r, r_line,
                                                   c);
                             });
      }
      if (r_cells.size() - r.columns.size() != a_cells.size() - a.columns.size()) {
        const auto address = [&](std::size_t) { return r_.name() + " / " + row; };
        ledger_.alone(r_, address, r_.document.line(r_line), r_line, nullptr);
        ledger_.alone(a_, address, a_.document.line(a_line), a_line, nullptr);
      }
    };
    ordered &= by_name(
        row_names(r_, r), row_names(a_, a), compare_row,
        [&](std::size_t i) { row_alone(r_, r.header + 2 + i); },
        [&](std::size_t j) { row_alone(a_, a.header + 2 + j); });
    if (!ordered) {
      result_.notes.push_back(r_.name() + ": rows or columns stand in another order");
    }
  }

  void column_alone(const Side& side, const Table& table, std::size_t c) {
    const std::string& name = table.columns[c];
    ledger_.alone(
        side, [&](std::size_t) { return side.name() + " / column " + name; }, name,
        table.header, side.cell_rule("", name, true));
  }

  void row_alone(const Side& side, std::size_t line) {
    const std::string name = fold(cells(side.document.line(line))[0]);
    ledger_.alone(
        side, [&](std::size_t) { return side.name() + " / " + name; },
        side.document.line(line), line, side.cell_rule(name, "", true));
  }

  void compare_prose() {
    const auto& r = r_.section->prose;
    const auto& a = a_.section->prose;
    const auto same = [&](std::size_t i, std::size_t j) {
      return r_.document.line(r[i]) == a_.document.line(a[j]);
    };
    const auto key = [&](bool actual, std::size_t i) {
      const Side& side = actual ? a_ : r_;
      const std::size_t line = actual ? a[i] : r[i];
      const std::string_view text = side.document.line(line);
      const Rule* rule = side.line_rule(line);
      const bool free = rule != nullptr && rule->kind != Class::judged;
      return LineKey{hash_of(text),
                     free && !rule->line.empty()
                         ? static_cast<std::uint64_t>(rule - rules_.data())
                         : shape_of(text)};
    };
    const Pairs pairs = Aligner(r.size(), a.size(), same, key).run();
    // As many missing lines as extra ones in one place are changed lines.
    for (std::size_t begin = 0; begin < pairs.size();) {
      std::vector<std::uint32_t> missing, extra;
      std::size_t end = begin;
      for (; end < pairs.size(); ++end) {
        const auto [i, j] = pairs[end];
        if (i != kAlone && j != kAlone) break;
        if (j == kAlone) missing.push_back(r[i]);
        if (i == kAlone) extra.push_back(a[j]);
      }
      if (end == begin) {
        compare_line(r[pairs[end].first], a[pairs[end].second]);
        ++end;
      } else if (missing.size() == extra.size()) {
        for (std::size_t k = 0; k < missing.size(); ++k)
          compare_line(missing[k], extra[k]);
      } else {
        for (const std::uint32_t line : missing) line_alone(r_, line);
        for (const std::uint32_t line : extra) line_alone(a_, line);
      }
      begin = end;
    }
  }

  void compare_line(std::size_t r, std::size_t a) {
    const Rule* rule = r_.line_rule(r);
    if (const Rule* other = a_.line_rule(a); rule == nullptr) rule = other;
    ledger_.compare_text(r_.document.line(r), a_.document.line(a), r, a, rule,
                         [&](std::size_t nth) {
                           return number_address(r_.document, r_.number, r, nth);
                         });
  }

  void line_alone(const Side& side, std::size_t line) {
    side.line_rule(line);
    ledger_.alone(
        side,
        [&](std::size_t) {
          return number_address(side.document, side.number, line, 0);
        },
        side.document.line(line), line, side.line_rule(line, true));
  }

  const std::vector<Rule>& rules_;
  std::vector<bool> used_;
  Side r_, a_;
  Ledger ledger_;
  Comparison& result_;
};

}  // namespace

Comparison compare(const Document& recorded, const Document& actual, const Rules& rules,
                   std::size_t listed) {
  for (const Document* side : {&recorded, &actual}) {
    if (side->sections().empty()) {
      throw std::runtime_error(side->name() +
                               ": has no text: there is nothing to compare");
    }
  }
  Comparison result = Comparer(recorded, actual, rules, listed).run();
  for (const Document* side : {&recorded, &actual}) {
    for (const std::string& note : side->notes()) {
      result.notes.push_back(side->name() + ": " + note);
    }
  }
  if (result.match() && result.judged == 0) {
    throw std::runtime_error(recorded.name() +
                             ": nothing was judged: the rules excuse every line");
  }
  return result;
}

std::vector<bool> rules_used(const Document& document, const Rules& rules) {
  return Comparer(document, document, rules, 0).run().used;
}

}  // namespace transcript
