#include "compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "address.h"
#include "align.h"
#include "judge.h"
#include "scope.h"
#include "text.h"

namespace transcript {
namespace {

class Comparer {
 public:
  Comparer(const Document& recorded, const Document& actual, const Rules& rules,
           std::size_t listed)
      : rules_(rules.rules),
        r_{recorded, rules_, result_.used, 0, nullptr, {}},
        a_{actual, rules_, result_.used, 0, nullptr, {}},
        listed_(listed) {
    result_.used.assign(rules_.size(), false);
  }

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
    alone(
        side, [&] { return side.name(); },
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
    alone(
        side, [&] { return side.name() + " / table"; },
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
      for (const auto& [c, d] : columns) {
        if (c == 0 && d == 0) continue;  // the row's name
        compare_text(cell(r_cells, c), cell(a_cells, d), r_line, a_line,
                     r_.cell_rule(row, r.columns[c]), [&](std::size_t) {
                       return cell_address(r_.document, r_.number, r, r_line, c);
                     });
      }
      if (r_cells.size() - r.columns.size() != a_cells.size() - a.columns.size()) {
        const auto address = [&] { return r_.name() + " / " + row; };
        alone(r_, address, r_.document.line(r_line), r_line, nullptr);
        alone(a_, address, a_.document.line(a_line), a_line, nullptr);
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
    alone(
        side, [&] { return side.name() + " / column " + name; }, name, table.header,
        side.cell_rule("", name, true));
  }

  void row_alone(const Side& side, std::size_t line) {
    const std::string name = fold(cells(side.document.line(line))[0]);
    alone(
        side, [&] { return side.name() + " / " + name; }, side.document.line(line),
        line, side.cell_rule(name, "", true));
  }

  void compare_prose() {
    const auto& r = r_.section->prose;
    const auto& a = a_.section->prose;
    const auto same = [&](std::uint32_t i, std::uint32_t j) {
      return r_.document.line(r[i]) == a_.document.line(a[j]);
    };
    const auto key = [&](bool actual, std::uint32_t i) {
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
    const Pairs pairs = align(static_cast<std::uint32_t>(r.size()),
                              static_cast<std::uint32_t>(a.size()), same, key);
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
    compare_text(r_.document.line(r), a_.document.line(a), r, a, rule,
                 [&](std::size_t nth) {
                   return number_address(r_.document, r_.number, r, nth);
                 });
  }

  void line_alone(const Side& side, std::size_t line) {
    side.line_rule(line);
    alone(
        side, [&] { return number_address(side.document, side.number, line, 0); },
        side.document.line(line), line, side.line_rule(line, true));
  }

  /// `address(n)` names the n-th number of the text, or the text itself.
  template <class Address>
  void compare_text(std::string_view r, std::string_view a, std::size_t r_line,
                    std::size_t a_line, const Rule* rule, Address address) {
    const Class kind = rule == nullptr ? Class::judged : rule->kind;
    const auto differs = [&](What what, std::string_view recorded,
                             std::string_view actual, std::size_t nth,
                             std::string_view tolerance) {
      ++result_.differing;
      if (result_.differences.size() >= listed_) return;
      result_.differences.push_back(entry(what, address(nth), recorded, actual, r_line,
                                          a_line,
                                          !tolerance.empty() ? std::string(tolerance)
                                          : rule == nullptr  ? last_place(recorded)
                                                             : describe(*rule)));
    };
    r = trim(r);
    a = trim(a);
    if (kind == Class::machine) {
      ++result_.excused;
      if (r.empty() != a.empty()) differs(What::text, r, a, 0, "machine: not empty");
    } else if (kind == Class::reported) {
      result_.reported += std::max<std::size_t>(count_numbers(r), 1);
      if (!is_reportable(a) && (is_reportable(r) || r != a)) {
        return differs(What::figure, r, a, 0, "reported: a number or 'not timed'");
      }
      if (same_folded(r, a)) return;
      if (++result_.reported_changed > listed_) return;
      result_.reports.push_back(
          entry(What::figure, address(0), r, a, r_line, a_line, "reported"));
    } else if (r == a) {
      result_.judged += std::max<std::size_t>(count_numbers(r), 1);
    } else {
      const Judgement found =
          judge(r, a, rule == nullptr ? Tolerance() : rule->tolerance);
      result_.judged += std::max<std::size_t>(found.numbers, 1);
      if (found.zero_changed_sign && result_.notes.size() < listed_) {
        result_.notes.push_back("zero changed its sign: " + address(0));
      }
      if (!found.same_text) differs(What::text, r, a, 0, "text, equal");
      for (const Disagreement& one : found.disagreements) {
        const std::string_view number = one.recorded.in(r);
        differs(What::figure, number, one.actual.in(a), one.nth, "");
      }
    }
  }

  template <class Address>
  void alone(const Side& side, Address address, std::string_view text, std::size_t line,
             const Rule* optional) {
    const bool recorded = &side == &r_;
    if (optional != nullptr) {
      ++result_.excused;
      if (result_.notes.size() >= listed_) return;
      result_.notes.push_back((recorded ? "optional, missing: " : "optional, extra: ") +
                              printable(address()));
      return;
    }
    ++result_.differing;
    if (result_.differences.size() >= listed_) return;
    Entry one = recorded ? entry(What::missing, address(), text, "", line, kNowhere, "")
                         : entry(What::extra, address(), "", text, kNowhere, line, "");
    one.section = side.name();
    result_.differences.push_back(std::move(one));
  }

  static constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

  Entry entry(What what, std::string address, std::string_view recorded,
              std::string_view actual, std::size_t r_line, std::size_t a_line,
              const std::string& tolerance) const {
    Number r, a;
    const bool numbers = Numbers(recorded).next(r) && Numbers(actual).next(a);
    return {what,
            r_.name(),
            std::move(address),
            fold(recorded),
            fold(actual),
            numbers ? change_between(r.in(recorded), a.in(actual)) : "",
            tolerance,
            r_line + 1,
            a_line + 1};
  }

  Comparison result_;
  const std::vector<Rule>& rules_;
  Side r_, a_;
  std::size_t listed_;
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
