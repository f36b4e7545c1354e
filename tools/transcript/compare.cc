#include "compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "address.h"
#include "align.h"
#include "columns.h"
#include "text.h"
#include "token.h"
#include "verdict.h"

namespace transcript {
namespace {

std::size_t count_tokens(std::string_view line) {
  std::size_t count = 0;
  Tokens reader(line);
  for (Token token; reader.next(token);) ++count;
  return count;
}

std::vector<Token> tokens_of(std::string_view line) {
  std::vector<Token> tokens;
  // Room for the most that there can be: pages that stay untouched cost nothing, while
  // growing would cost a line of megabytes its tokens twice over.
  tokens.reserve(line.size() / 2 + 1);
  Tokens reader(line);
  for (Token token; reader.next(token);) tokens.push_back(token);
  return tokens;
}

class Comparer {
 public:
  Comparer(const Transcript& recorded, const Transcript& actual, const Rules& rules,
           std::size_t listed = Comparison::kListed)
      : recorded_(recorded),
        actual_(actual),
        rules_(rules),
        listed_(listed),
        names_(recorded),
        actual_names_(actual),
        used_(rules.rules.size(), false) {}

  Comparison run() {
    result_.lines = recorded_.lines();
    for (const auto* side : {&recorded_, &actual_}) {
      if (side->blocks() == 0) {
        throw common::DiagnosticError(
            {{side->name(), 0, 0, "has no text: there is nothing to compare", ""}});
      }
      for (const std::string& note : side->notes()) {
        result_.notes.push_back(side->name() + ": " + note);
      }
    }
    align(recorded_.lines(), actual_.lines(), *this);
    std::vector<common::Diagnostic> idle;
    for (std::size_t r = 0; r < used_.size(); ++r) {
      const Rule& rule = rules_.rules[r];
      if (used_[r] || rule.kind == Class::absent_ok) continue;
      idle.push_back(rules_.at(
          rule, "this rule matches nothing in " + recorded_.name() +
                    " that an earlier rule does not; correct it or remove it"));
    }
    if (!idle.empty()) throw common::DiagnosticError(std::move(idle));
    if (negative_zeros_ > 0) {
      result_.notes.push_back(fmt::format("{} zero{} changed sign", negative_zeros_,
                                          negative_zeros_ == 1 ? "" : "s"));
    }
    if (absent_ > 0) {
      result_.notes.push_back(
          fmt::format("{} line{} or column{} absent, as the rules allow", absent_,
                      absent_ == 1 ? "" : "s", absent_ == 1 ? "" : "s"));
    }
    return std::move(result_);
  }

  /// Walks the recording alone, to see which rules match.
  std::vector<bool> matched() {
    for (std::size_t i = 0; i < recorded_.lines(); ++i) {
      enter(i);
      Tokens reader(recorded_.line(i));
      std::size_t number = 0;
      for (Token token; reader.next(token);) {
        if (token.is_number()) prose_rule(++number);
      }
      absence_allowed(recorded_, i, "");
    }
    return used_;
  }

  // What align() asks and tells.
  bool same(std::size_t i, std::size_t j) {
    if (pending_.i == i && pending_.j == j) return pending_.same;
    enter(i);
    pending_ = {i, j, 0, 0, {}, true, false};
    if (device_ != nullptr) {
      const bool both = matches(device_->line, fold(actual_.line(j)));
      if (both) pending_.reports.push_back({0, "", "", device_});
      pending_.same = both;
      return both;
    }
    pending_.same = in_step(i, j);
    if (!pending_.same && is_row_ && ruled_) {
      pending_ = {i, j, 0, 0, {}, true, false};
      const Table* table = actual_.table_at(j);
      const bool named = table == nullptr || j == table->header ||
                         fold(table->cell(actual_.line(j), 0)) == row_name_;
      const bool same =
          named && !is_blank(actual_.line(j)) && cost([&] { compare_row(i, j); }) == 0;
      pending_ = {i, j, 0, 0, {}, same, same};
    }
    return pending_.same;
  }

  /// Up to 1 for the text, 2 if nothing differs, and half more inside blocks of one
  /// name. Unlike lines of one block may still be one changed line.
  double likeness(std::size_t i, std::size_t j) {
    const bool blank = is_blank(recorded_.line(i));
    if (blank != is_blank(actual_.line(j))) return -1;
    double like = 0.5;
    if (!blank) {
      like = same(i, j) ? 2
                        : std::max(likeness_of_text(recorded_.line(i), actual_.line(j)),
                                   likeness_of_rows(j));
      if (like < 0.5) return first_of_block(i, j) || same_block(i, j) ? 0.01 : -1;
    }
    return like + (same_block(i, j) ? 0.5 : 0);
  }

  void pair(std::size_t i, std::size_t j) {
    if (same(i, j) && !pending_.by_cell) return commit();
    enter(i);
    result_.figures += numbers_in(recorded_.line(i));
    if (pending_.by_cell) {
      compare_row(i, j);
    } else if (likeness(i, j) < 0.5) {
      Entry entry = entry_at(What::line, i, j);
      entry.address = names_.row(i);
      entry.recorded = shown(recorded_.line(i));
      entry.actual = shown(actual_.line(j));
      differ(std::move(entry));
    } else if (is_row_) {
      compare_row(i, j);
    } else {
      compare_prose(i, j);
    }
  }

  void missing(std::size_t i) {
    enter(i);
    result_.figures += numbers_in(recorded_.line(i));
    if (absence_allowed(recorded_, i, "")) {
      ++absent_;
      return;
    }
    Entry entry = entry_at(What::missing, i, kNone);
    entry.address = names_.row(i);
    entry.recorded = shown(recorded_.line(i));
    differ(std::move(entry));
  }

  void extra(std::size_t j) {
    if (absence_allowed(actual_, j, "")) {
      ++absent_;
      return;
    }
    Entry entry = entry_at(What::extra, kNone, j);
    entry.address = actual_names_.row(j);
    entry.actual = shown(actual_.line(j));
    differ(std::move(entry));
  }

 private:
  struct Report {
    std::size_t place;  // a column of a row, or the first byte of a number in prose
    std::string recorded, actual;
    const Rule* rule;
  };
  /// What same() found about a pair, for pair() to keep.
  struct Pending {
    std::size_t i = kNone, j = kNone;
    std::size_t figures = 0;
    std::size_t negative_zeros = 0;
    std::vector<Report> reports;
    bool same = false;
    bool by_cell = false;  // cell by cell only: pair() compares again
  };

  static std::string shown(std::string_view line) {
    const std::string_view text = trim(line);
    return text.empty() ? "(blank line)" : printable(fold(text.substr(0, 1000)));
  }

  static std::size_t numbers_in(std::string_view line) {
    std::size_t count = 0;
    Tokens reader(line);
    for (Token token; reader.next(token);) count += token.is_number();
    return count;
  }

  /// Learns what the rules say about recorded line `i`.
  void enter(std::size_t i) {
    if (line_ == i) return;
    line_ = i;
    table_ = recorded_.table_at(i);
    is_row_ = table_ != nullptr && i != table_->header;
    row_name_.clear();
    ruled_ = false;
    device_ = nullptr;
    column_rules_.clear();
    prose_rules_.clear();
    if (rules_.rules.empty()) return;
    load_block(recorded_, recorded_.block_at(i));
    if (block_rules_.empty()) return;
    if (is_row_) {
      row_name_ = fold(table_->cell(recorded_.line(i), 0));
      column_rules_.assign(table_->columns.size(), nullptr);
      for (std::size_t c = 0; c < column_rules_.size(); ++c) {
        for (const Rule* rule : block_rules_) {
          if (rule->is_prose() || rule->kind == Class::absent_ok) continue;
          if (!matches(rule->row, row_name_)) continue;
          if (!matches(rule->column, table_->columns[c].name)) continue;
          if (!table_->cell(recorded_.line(i), c).empty()) use(rule);
          column_rules_[c] = rule;
          ruled_ = true;
          break;
        }
      }
      for (const Rule* rule : block_rules_) ruled_ |= rule->kind == Class::absent_ok;
    } else if (!is_blank(recorded_.line(i))) {
      std::string text;
      for (const Rule* rule : block_rules_) {
        if (!rule->is_prose() || rule->kind == Class::absent_ok) continue;
        if (text.empty()) text = fold(recorded_.line(i));
        if (!matches(rule->line, text)) continue;
        ruled_ = true;
        if (rule->kind == Class::device && prose_rules_.empty()) {
          use(rule);
          device_ = rule;
          break;
        }
        prose_rules_.push_back(rule);
      }
    }
  }

  void load_block(const Transcript& side, std::size_t block) {
    if (block_side_ == &side && block_ == block) return;
    block_side_ = &side;
    block_ = block;
    block_rules_.clear();
    const std::string name = side.block_name(block);
    for (const Rule& rule : rules_.rules) {
      if (matches(rule.block, name)) block_rules_.push_back(&rule);
    }
  }

  void use(const Rule* rule) {
    used_[static_cast<std::size_t>(rule - rules_.rules.data())] = true;
  }

  const Rule* prose_rule(std::size_t number) {
    for (const Rule* rule : prose_rules_) {
      if (rule->figure == 0 || rule->figure == number) {
        use(rule);
        return rule;
      }
    }
    return nullptr;
  }

  /// Whether the rules let line `i` of a side, or column `column` of it, be absent.
  bool absence_allowed(const Transcript& side, std::size_t i, std::string_view column) {
    if (rules_.rules.empty() || is_blank(side.line(i))) return false;
    load_block(side, side.block_at(i));
    const Table* table = side.table_at(i);
    const bool row = table != nullptr && i != table->header;
    bool allowed = false;
    for (const Rule* rule : block_rules_) {
      if (rule->kind != Class::absent_ok) continue;
      const bool one =
          !column.empty()
              ? !rule->column.empty() && matches(rule->column, column) &&
                    (rule->row.empty() ||
                     (row && matches(rule->row, fold(table->cell(side.line(i), 0)))))
          : row ? !rule->row.empty() && rule->column.empty() &&
                      matches(rule->row, fold(table->cell(side.line(i), 0)))
                : rule->is_prose() && matches(rule->line, fold(side.line(i)));
      if (one) use(rule);
      allowed |= one;
    }
    return allowed;
  }

  /// Both lines' tokens, one by one; true when all agree.
  bool in_step(std::size_t i, std::size_t j) {
    const std::string_view recorded = recorded_.line(i), actual = actual_.line(j);
    const bool alike = recorded == actual;
    if (alike && !ruled_) {
      pending_.figures = numbers_in(recorded);
      return true;
    }
    const Table* table = is_row_ ? actual_.table_at(j) : nullptr;
    if (table != nullptr && j == table->header) return false;
    const bool by_column = table != nullptr && columns(*table).identical;
    std::size_t column = 0, actual_column = 0, number = 0;
    Tokens left(recorded), right(actual);
    for (Token r, a;;) {
      const bool more = left.next(r);
      if (more != right.next(a)) return false;
      if (!more) return true;
      if (r.spaced != a.spaced) return false;
      const Rule* rule = nullptr;
      if (is_row_) {
        column = advance(*table_, column, r.begin);
        if (by_column) {
          actual_column = advance(*table, actual_column, a.begin);
          if (column != actual_column) return false;
        }
        if (ruled_ && !column_rules_.empty()) rule = column_rules_[column];
      }
      if (r.is_number()) {
        ++pending_.figures;
        ++number;
        if (!is_row_ && ruled_) rule = prose_rule(number);
      }
      if (!token_agrees(r, recorded, a, actual, rule, is_row_ ? column : r.begin)) {
        return false;
      }
    }
  }

  static std::size_t advance(const Table& table, std::size_t column,
                             std::size_t offset) {
    while (column + 1 < table.columns.size() &&
           offset >= table.columns[column + 1].begin) {
      ++column;
    }
    return column;
  }

  bool token_agrees(const Token& r, std::string_view recorded, const Token& a,
                    std::string_view actual, const Rule* rule, std::size_t place) {
    const std::string_view from = r.in(recorded), to = a.in(actual);
    const bool device = rule != nullptr && rule->kind == Class::device;
    if (r.is_number() && rule != nullptr && is_report(rule->kind)) {
      const bool fine =
          device || (a.is_number() && agrees(from, r.kind, to, a.kind, rule));
      if (fine)
        pending_.reports.push_back({place, std::string(from), std::string(to), rule});
      return fine;
    }
    if (!r.is_number()) return device || (!a.is_number() && from == to);
    if (!a.is_number() || !agrees(from, r.kind, to, a.kind, rule)) return false;
    if (from != to && changed_sign_of_zero(from, to)) ++pending_.negative_zeros;
    return true;
  }

  const ColumnMap& columns(const Table& actual) {
    if (map_.recorded != table_ || map_.actual != &actual) {
      map_ = map_columns(*table_, actual);
    }
    return map_;
  }

  /// Tokens that both sides share from the front and the back, numbers for half when
  /// they differ, as a fraction of the longer side.
  static double likeness_of_text(std::string_view recorded, std::string_view actual) {
    if (is_long(recorded) || is_long(actual)) return 0.5;
    const std::vector<Token> from = tokens_of(recorded), to = tokens_of(actual);
    const std::size_t shorter = std::min(from.size(), to.size());
    const auto like = [&](std::size_t i, std::size_t j) {
      if (from[i].in(recorded) == to[j].in(actual)) return 1.0;
      return from[i].is_number() && to[j].is_number() ? 0.5 : 0.0;
    };
    double sum = 0;
    std::size_t front = 0;
    if (from.size() == to.size()) {
      for (; front < shorter; ++front) sum += like(front, front);
    } else {
      for (; front < shorter; ++front) {
        const double one = like(front, front);
        if (one == 0) break;
        sum += one;
      }
      for (std::size_t back = 1; front + back <= shorter; ++back) {
        const double one = like(from.size() - back, to.size() - back);
        if (one == 0) break;
        sum += one;
      }
    }
    return sum /
           static_cast<double>(std::max({from.size(), to.size(), std::size_t{1}}));
  }

  /// Rows of one name are alike when their tables are.
  double likeness_of_rows(std::size_t j) {
    const Table* table = actual_.table_at(j);
    if (!is_row_ || table == nullptr || j == table->header) return 0;
    if (fold(table->cell(actual_.line(j), 0)) !=
        fold(table_->cell(recorded_.line(line_), 0))) {
      return 0;
    }
    const ColumnMap& map = columns(*table);
    std::size_t common = 0;
    for (std::size_t c = 1; c < table_->columns.size(); ++c) {
      const std::size_t to = map.to_actual[c];
      common += to != kNone && table->columns[to].name == table_->columns[c].name;
    }
    return 2 * common >= table_->columns.size() ? 0.75 : 0;
  }

  bool first_of_block(std::size_t i, std::size_t j) const {
    return recorded_.block_begin(recorded_.block_at(i)) == i &&
           actual_.block_begin(actual_.block_at(j)) == j;
  }

  bool same_block(std::size_t i, std::size_t j) {
    const auto hashes = [](const Transcript& side) {
      std::vector<std::size_t> all(side.blocks());
      for (std::size_t b = 0; b < all.size(); ++b) {
        all[b] = std::hash<std::string>()(side.block_name(b));
      }
      return all;
    };
    if (block_hashes_.empty()) {
      block_hashes_ = hashes(recorded_);
      actual_block_hashes_ = hashes(actual_);
    }
    return block_hashes_[recorded_.block_at(i)] ==
           actual_block_hashes_[actual_.block_at(j)];
  }

  void commit() {
    result_.figures += pending_.figures;
    negative_zeros_ += pending_.negative_zeros;
    for (Report& report : pending_.reports) keep_report(std::move(report));
    pending_.i = kNone;
  }

  void keep_report(Report report) {
    const std::size_t i = pending_.i, j = pending_.j;
    ++result_.reported;
    if (report.rule->kind == Class::device && report.rule->is_prose()) {
      report.recorded = shown(recorded_.line(i));
      report.actual = shown(actual_.line(j));
      result_.figures += numbers_in(recorded_.line(i));
    }
    if (report.recorded == report.actual) return;
    ++result_.reported_changed;
    if (result_.reports.size() == Comparison::kListed) return;
    Entry entry = entry_at(What::figure, i, j);
    entry.address =
        is_row_ ? (report.place == 0 ? names_.row(i) : names_.cell(i, report.place))
        : report.rule->kind == Class::device
            ? names_.row(i)
            : names_.number(i, static_cast<std::uint32_t>(report.place));
    entry.change = change_between(report.recorded, report.actual);
    entry.tolerance = describe(*report.rule);
    entry.recorded = std::move(report.recorded);
    entry.actual = std::move(report.actual);
    result_.reports.push_back(std::move(entry));
  }

  Entry entry_at(What what, std::size_t i, std::size_t j) {
    Entry entry;
    entry.what = what;
    if (wanted()) {
      entry.block = i == kNone ? actual_names_.block(actual_.block_at(j))
                               : names_.block(recorded_.block_at(i));
    }
    entry.recorded_line = i == kNone ? 0 : i + 1;
    entry.actual_line = j == kNone ? 0 : j + 1;
    return entry;
  }

  bool wanted() const { return !dry_ && result_.differences.size() < listed_; }

  void differ(Entry entry) {
    if (dry_) {
      ++dry_differences_;
      return;
    }
    ++result_.differing;
    if (wanted()) result_.differences.push_back(std::move(entry));
  }

  /// One cell, as a whole; differ() at most once.
  void compare_cell(std::size_t i, std::size_t j, std::size_t column,
                    std::string_view recorded, std::string_view actual) {
    const Rule* rule = column_rules_.empty() ? nullptr : column_rules_[column];
    if (cell_agrees(recorded, actual, column, rule)) return;
    if (actual.empty() && absence_allowed(recorded_, i, table_->columns[column].name)) {
      absent_ += !dry_;
      return;
    }
    if (dry_) return differ({});
    Entry entry = entry_at(What::figure, i, j);
    if (wanted()) {
      entry.address = column == 0 ? names_.row(i) : names_.cell(i, column);
      entry.recorded = printable(fold(recorded));
      entry.actual = printable(fold(actual));
      entry.change = change_between(recorded, actual);
      entry.tolerance = tolerance_of(rule, recorded);
    }
    if (actual.empty()) entry.what = What::missing;
    if (recorded.empty()) entry.what = What::extra;
    if (column == 0) entry.what = What::text;
    differ(std::move(entry));
  }

  bool cell_agrees(std::string_view recorded, std::string_view actual,
                   std::size_t column, const Rule* rule) {
    if (recorded.empty() || actual.empty()) return recorded.empty() && actual.empty();
    const bool report = rule != nullptr && is_report(rule->kind);
    if (report) {
      const bool device = rule->kind == Class::device;
      const bool stands_in = excused(recorded, rule->kind) || is_stand_in(recorded);
      const std::string from = fold(recorded), to = fold(actual);
      const std::vector<Token> tokens = tokens_of(to);
      if (device || from == to || excused(actual, rule->kind) ||
          (stands_in && tokens.size() == 1 && tokens[0].is_number() &&
           is_positive(to))) {
        if (device || from != to || excused(actual, rule->kind) || stands_in) {
          pending_.reports.push_back({column, from, to, rule});
          return true;
        }
      }
    }
    Tokens left(recorded), right(actual);
    for (Token r, a;;) {
      const bool more = left.next(r);
      if (more != right.next(a)) return false;
      if (!more) return true;
      if (r.spaced != a.spaced) return false;
      if (r.is_number()) ++pending_.figures;
      if (!token_agrees(r, recorded, a, actual, rule, column)) return false;
    }
  }

  /// A row cell by cell: by the names of the columns where both tables have the same,
  /// or in whichever way leaves the fewest differences. A changed word can move what
  /// follows it, and so hide the columns of the other side.
  void compare_row(std::size_t i, std::size_t j) {
    const std::string_view recorded = recorded_.line(i), actual = actual_.line(j);
    const Table* table = actual_.table_at(j);
    if (table != nullptr && j == table->header) table = nullptr;
    const bool by_name =
        table != nullptr && (columns(*table).identical || columns(*table).permuted);
    enum class Way { order, own_columns, recorded_columns, tokens };
    const auto go = [&](Way way) {
      switch (way) {
        case Way::order:
          return compare_by_order(i, j);
        case Way::own_columns:
          return compare_by_column(i, j, *table);
        case Way::recorded_columns:
          return compare_by_column(i, j, *table_);
        case Way::tokens:
          return compare_tokens(i, j);
      }
    };
    std::vector<Way> ways;
    if (by_name) ways.push_back(Way::own_columns);
    if (count_tokens(recorded) == count_tokens(actual)) ways.push_back(Way::order);
    if (table != nullptr && !by_name && columns(*table).subset()) {
      ways.push_back(Way::own_columns);
    }
    if (table_->fits(actual)) ways.push_back(Way::recorded_columns);
    ways.push_back(Way::tokens);
    const bool outer_dry = dry_;
    Way best = ways[0];
    std::size_t least = kNone;
    for (const Way way : ways) {
      const std::size_t differences = cost([&] { go(way); });
      if (least == 0 || differences >= least) continue;
      // The same figures under other columns are not the same row.
      if (by_name && way != Way::own_columns && differences == 0) continue;
      least = differences;
      best = way;
    }
    dry_ = outer_dry;
    if (dry_) {
      dry_differences_ = least;
    } else {
      go(best);
    }
  }

  /// `table` says where the actual line's cells are.
  void compare_by_column(std::size_t i, std::size_t j, const Table& table) {
    pending_.reports.clear();
    pending_.negative_zeros = 0;
    for (std::size_t c = 0; c < table_->columns.size(); ++c) {
      const std::size_t to = &table == table_ ? c : columns(table).to_actual[c];
      if (to == kNone) continue;  // the header reports it
      compare_cell(i, j, c, table_->cell(recorded_.line(i), c),
                   table.cell(actual_.line(j), to));
    }
    commit_row(i, j);
  }

  void commit_row(std::size_t i, std::size_t j) {
    if (dry_) return;
    pending_.i = i;
    pending_.j = j;
    pending_.figures = 0;  // counted by pair()
    commit();
  }

  /// As many words on both sides: the n-th stands for the n-th, whatever the columns of
  /// the other side look like.
  void compare_by_order(std::size_t i, std::size_t j) {
    const std::string_view recorded = recorded_.line(i), actual = actual_.line(j);
    const std::vector<Token> from = tokens_of(recorded), to = tokens_of(actual);
    pending_.reports.clear();
    pending_.negative_zeros = 0;
    for (std::size_t begin = 0; begin < from.size();) {
      const std::size_t column = table_->column_at(from[begin].begin);
      std::size_t end = begin;
      while (end < from.size() && table_->column_at(from[end].begin) == column) ++end;
      compare_cell(
          i, j, column,
          recorded.substr(from[begin].begin, from[end - 1].end - from[begin].begin),
          actual.substr(to[begin].begin, to[end - 1].end - to[begin].begin));
      begin = end;
    }
    commit_row(i, j);
  }

  /// Lines outside of tables, and headers.
  void compare_prose(std::size_t i, std::size_t j) {
    const Table* other = actual_.table_at(j);
    const bool headers = table_ != nullptr && i == table_->header && other != nullptr &&
                         j == other->header;
    if (headers) {
      const ColumnMap& map = columns(*other);
      if (map.permuted) {
        Entry entry = entry_at(What::text, i, j);
        entry.address = entry.block + " / order of columns";
        entry.recorded = shown(recorded_.line(i));
        entry.actual = shown(actual_.line(j));
        return differ(std::move(entry));
      }
      // A header whose words moved no longer stands over its columns: then its words
      // tell more than its columns do.
      if (cost([&] { compare_headers(i, j, map); }) <=
          cost([&] { compare_tokens(i, j); })) {
        return compare_headers(i, j, map);
      }
    }
    compare_tokens(i, j);
  }

  /// How many differences a comparison would report.
  template <class Compare>
  std::size_t cost(Compare compare) {
    dry_ = true;
    dry_differences_ = 0;
    compare();
    dry_ = false;
    return dry_differences_;
  }

  void compare_headers(std::size_t i, std::size_t j, const ColumnMap& map) {
    for (std::size_t c = 0; c < table_->columns.size(); ++c) {
      const std::string& name = table_->columns[c].name;
      const std::size_t to = map.to_actual[c];
      if (to != kNone && map.actual->columns[to].name == name) continue;
      if (to == kNone && absence_allowed(recorded_, i, name)) {
        absent_ += !dry_;
        continue;
      }
      Entry entry = entry_at(to == kNone ? What::missing : What::text, i, j);
      entry.address = entry.block + " / column " + name;
      entry.recorded = name;
      if (to != kNone) entry.actual = map.actual->columns[to].name;
      differ(std::move(entry));
    }
    for (const std::size_t c : map.extra) {
      const std::string& name = map.actual->columns[c].name;
      if (absence_allowed(actual_, j, name)) {
        absent_ += !dry_;
        continue;
      }
      Entry entry = entry_at(What::extra, i, j);
      entry.address = entry.block + " / column " + name;
      entry.actual = name;
      differ(std::move(entry));
    }
  }

  struct TokenSide {
    Comparer& comparer;
    std::string_view recorded, actual;
    std::size_t i, j;
    std::vector<Token> from, to;
    std::vector<std::uint32_t> number;  // where rules count: numbers up to each token
    std::vector<std::size_t> run_from, run_to;

    bool same(std::size_t a, std::size_t b) {
      const Token& r = from[a];
      if (r.spaced != to[b].spaced) return false;
      return comparer.token_agrees(r, recorded, to[b], actual, rule(a), place(a));
    }
    std::size_t place(std::size_t a) const {
      return comparer.is_row_ ? comparer.table_->column_at(from[a].begin)
                              : from[a].begin;
    }
    const Rule* rule(std::size_t a) const {
      if (comparer.is_row_) {
        return comparer.column_rules_.empty() ? nullptr
                                              : comparer.column_rules_[place(a)];
      }
      return !number.empty() && from[a].is_number() ? comparer.prose_rule(number[a])
                                                    : nullptr;
    }
    double likeness(std::size_t a, std::size_t b) {
      if (same(a, b)) return 2;
      return from[a].is_number() && to[b].is_number() ? 0.6 : -1;
    }
    void pair(std::size_t a, std::size_t b) {
      comparer.pending_.reports.clear();
      comparer.pending_.negative_zeros = 0;
      if (same(a, b)) {
        flush();
        if (comparer.dry_) return;
        comparer.negative_zeros_ += comparer.pending_.negative_zeros;
        for (Report& report : comparer.pending_.reports) {
          comparer.keep_report(std::move(report));
        }
      } else {
        run_from.push_back(a);
        run_to.push_back(b);
      }
    }
    void missing(std::size_t a) { run_from.push_back(a); }
    void extra(std::size_t b) { run_to.push_back(b); }

    /// A run of unequal tokens: word by word where both sides have as many tokens.
    void flush() {
      if (run_from.empty() && run_to.empty()) return;
      const std::size_t a = run_from.empty() ? 0 : run_from.front();
      const std::size_t b = run_to.empty() ? 0 : run_to.front();
      const std::size_t size = run_from.size();
      if (size != run_to.size()) {
        report(a, a + size, b, b + run_to.size());
      } else {
        for (std::size_t begin = 0; begin < size;) {
          std::size_t end = begin + 1;
          while (end < size && !from[a + end].spaced && !to[b + end].spaced) ++end;
          report(a + begin, a + end, b + begin, b + end);
          begin = end;
        }
      }
      run_from.clear();
      run_to.clear();
    }

    static std::string_view span(std::string_view line,
                                 const std::vector<Token>& tokens, std::size_t begin,
                                 std::size_t end) {
      if (begin == end) return {};
      return line.substr(tokens[begin].begin,
                         tokens[end - 1].end - tokens[begin].begin);
    }

    /// Whether the tokens are a whole cell that the rules only report: "0.0100" may
    /// have become "not timed".
    bool reported(std::size_t a0, std::size_t a1, std::string_view now) {
      if (!comparer.is_row_ || a0 == a1 || now.empty()) return false;
      const std::string_view was = span(recorded, from, a0, a1);
      if (was != comparer.table_->cell(recorded, place(a0))) return false;
      comparer.pending_.reports.clear();
      if (rule(a0) == nullptr || !is_report(rule(a0)->kind) ||
          !comparer.cell_agrees(was, now, place(a0), rule(a0))) {
        return false;
      }
      for (Report& one : comparer.pending_.reports) {
        if (!comparer.dry_) comparer.keep_report(std::move(one));
      }
      return true;
    }

    void report(std::size_t a0, std::size_t a1, std::size_t b0, std::size_t b1) {
      if (reported(a0, a1, span(actual, to, b0, b1))) return;
      std::size_t number_at = a0;
      while (number_at < a1 && !from[number_at].is_number()) ++number_at;
      const bool figure = number_at < a1;
      const bool in_name = figure && comparer.is_row_ && place(number_at) == 0;
      Entry entry = comparer.entry_at(a0 == a1             ? What::extra
                                      : b0 == b1           ? What::missing
                                      : figure && !in_name ? What::figure
                                                           : What::text,
                                      i, j);
      if (comparer.wanted()) {
        entry.recorded = printable(fold(span(recorded, from, a0, a1)));
        entry.actual = printable(fold(span(actual, to, b0, b1)));
        entry.address = !figure ? comparer.names_.row(i)
                        : !comparer.is_row_
                            ? comparer.names_.number(i, from[number_at].begin)
                        : in_name ? comparer.names_.row(i)
                                  : comparer.names_.cell(i, place(number_at));
        if (figure) {
          entry.change = change_between(entry.recorded, entry.actual);
          entry.tolerance = tolerance_of(rule(number_at), from[number_at].in(recorded));
        }
      }
      comparer.differ(std::move(entry));
    }
  };

  /// Whether a line is too long to keep its tokens, and so aligned only if it must be.
  static bool is_long(std::string_view line) { return line.size() > 100'000; }

  /// The tokens of two long lines that differ, where both have as many tokens and few
  /// of them do. What the rules report is left pending.
  bool differences_in_step(TokenSide& side) {
    constexpr std::size_t kFew = 1000;
    Tokens left(side.recorded), right(side.actual);
    std::uint32_t numbers = 0;
    bool apart = true;
    for (Token r, a;;) {
      const bool more = left.next(r);
      if (more != right.next(a)) return false;
      if (!more) return true;
      numbers += r.is_number();
      const Rule* rule = r.is_number() ? prose_rule(numbers) : nullptr;
      if (r.spaced == a.spaced &&
          token_agrees(r, side.recorded, a, side.actual, rule, r.begin)) {
        apart = true;
        continue;
      }
      if (side.from.size() == kFew) return false;
      side.from.push_back(r);
      side.to.push_back(a);
      side.from.back().spaced |= apart;  // a run of its own
      side.number.push_back(numbers);
      side.run_from.push_back(side.run_from.size());
      side.run_to.push_back(side.run_to.size());
      apart = false;
    }
  }

  void compare_tokens(std::size_t i, std::size_t j) {
    pending_ = {i, j, 0, 0, {}, false, false};
    if (!is_row_ && is_long(recorded_.line(i)) && is_long(actual_.line(j))) {
      TokenSide side{*this, recorded_.line(i), actual_.line(j), i, j, {}, {}, {}, {},
                     {}};
      if (differences_in_step(side)) {
        if (!dry_) {
          negative_zeros_ += pending_.negative_zeros;
          for (Report& report : pending_.reports) keep_report(std::move(report));
        }
        side.flush();
        pending_.i = kNone;
        return;
      }
      pending_ = {i, j, 0, 0, {}, false, false};
    }
    TokenSide side{*this,
                   recorded_.line(i),
                   actual_.line(j),
                   i,
                   j,
                   tokens_of(recorded_.line(i)),
                   tokens_of(actual_.line(j)),
                   {},
                   {},
                   {}};
    if (!prose_rules_.empty()) {
      std::uint32_t numbers = 0;
      for (const Token& token : side.from) {
        numbers += token.is_number();
        side.number.push_back(numbers);
      }
    }
    align(side.from.size(), side.to.size(), side);
    side.flush();
    pending_.i = kNone;
  }

  const Transcript& recorded_;
  const Transcript& actual_;
  const Rules& rules_;
  const std::size_t listed_;
  Addresses names_, actual_names_;
  Comparison result_;
  std::vector<bool> used_;
  std::size_t negative_zeros_ = 0, absent_ = 0;

  // About recorded line line_, see enter().
  std::size_t line_ = kNone;
  const Table* table_ = nullptr;
  bool is_row_ = false, ruled_ = false;
  std::string row_name_;  // where rules may ask for it
  const Rule* device_ = nullptr;
  std::vector<const Rule*> column_rules_, prose_rules_;

  const Transcript* block_side_ = nullptr;
  std::size_t block_ = kNone;
  std::vector<const Rule*> block_rules_;

  std::vector<std::size_t> block_hashes_, actual_block_hashes_;

  ColumnMap map_;
  Pending pending_;
  bool dry_ = false;
  std::size_t dry_differences_ = 0;
};

}  // namespace

Comparison compare(const Transcript& recorded, const Transcript& actual,
                   const Rules& rules, std::size_t listed) {
  return Comparer(recorded, actual, rules, listed).run();
}

std::vector<bool> matched_rules(const Transcript& transcript, const Rules& rules) {
  return Comparer(transcript, transcript, rules).matched();
}

}  // namespace transcript
