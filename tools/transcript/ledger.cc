#include "ledger.h"

#include <algorithm>

#include "judge.h"
#include "text.h"

namespace transcript {
namespace {

constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

}  // namespace

void Ledger::compare_text(std::string_view r, std::string_view a, std::size_t r_line,
                          std::size_t a_line, const Rule* rule,
                          const Address& address) {
  const Class kind = rule == nullptr ? Class::judged : rule->kind;
  const auto differs = [&](What what, std::string_view r_part, std::string_view a_part,
                           std::size_t nth, std::string_view tolerance) {
    ++result.differing;
    if (result.differences.size() >= listed) return;
    result.differences.push_back(entry(what, address(nth), r_part, a_part, r_line,
                                       a_line,
                                       !tolerance.empty() ? std::string(tolerance)
                                       : rule == nullptr  ? last_place(r_part)
                                                          : describe(*rule)));
  };
  r = trim(r);
  a = trim(a);
  if (kind == Class::machine) {
    ++result.excused;
    if (r.empty() != a.empty()) differs(What::text, r, a, 0, "machine: not empty");
  } else if (kind == Class::reported) {
    result.reported += std::max<std::size_t>(count_numbers(r), 1);
    if (!is_reportable(a) && (is_reportable(r) || r != a)) {
      return differs(What::figure, r, a, 0, "reported: a number or 'not timed'");
    }
    if (same_folded(r, a)) return;
    if (++result.reported_changed > listed) return;
    result.reports.push_back(
        entry(What::figure, address(0), r, a, r_line, a_line, "reported"));
  } else if (r == a) {
    result.judged += std::max<std::size_t>(count_numbers(r), 1);
  } else {
    const Judgement found =
        judge(r, a, rule == nullptr ? Tolerance() : rule->tolerance);
    result.judged += std::max<std::size_t>(found.numbers, 1);
    if (found.zero_changed_sign && result.notes.size() < listed) {
      result.notes.push_back("zero changed its sign: " + address(0));
    }
    if (!found.same_text) differs(What::text, r, a, 0, "text, equal");
    for (const Disagreement& one : found.disagreements) {
      const std::string_view number = one.recorded.in(r);
      differs(What::figure, number, one.actual.in(a), one.nth, "");
    }
  }
}

void Ledger::alone(const Side& side, const Address& address, std::string_view text,
                   std::size_t line, const Rule* optional) {
  const bool is_recorded = &side == &recorded;
  if (optional != nullptr) {
    ++result.excused;
    if (result.notes.size() >= listed) return;
    result.notes.push_back((is_recorded ? "optional, missing: " : "optional, extra: ") +
                           printable(address(0)));
    return;
  }
  ++result.differing;
  if (result.differences.size() >= listed) return;
  Entry one = is_recorded
                  ? entry(What::missing, address(0), text, "", line, kNowhere, "")
                  : entry(What::extra, address(0), "", text, kNowhere, line, "");
  one.section = side.name();
  result.differences.push_back(std::move(one));
}

Entry Ledger::entry(What what, std::string address, std::string_view recorded_text,
                    std::string_view actual_text, std::size_t r_line,
                    std::size_t a_line, const std::string& tolerance) const {
  Number r, a;
  const bool numbers = Numbers(recorded_text).next(r) && Numbers(actual_text).next(a);
  return {what,
          recorded.name(),
          std::move(address),
          fold(recorded_text),
          fold(actual_text),
          numbers ? change_between(r.in(recorded_text), a.in(actual_text)) : "",
          tolerance,
          r_line + 1,
          a_line + 1};
}

}  // namespace transcript
