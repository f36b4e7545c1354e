#include "verdict.h"

#include <fmt/format.h>

#include <cmath>

#include "decimal.h"
#include "text.h"

namespace transcript {

bool is_report(Class kind) {
  return kind == Class::time || kind == Class::ratio || kind == Class::device;
}

bool is_positive(std::string_view number) {
  const double value = to_double(number);
  return std::isfinite(value) && value > 0;
}

bool excused(std::string_view cell, Class kind) {
  const std::string text = fold(cell);
  return text == "not timed" || (kind == Class::ratio && text == "n/a");
}

bool agrees(std::string_view recorded, Kind recorded_kind, std::string_view actual,
            Kind actual_kind, const Rule* rule) {
  const Class kind = rule == nullptr ? Class::last_place : rule->kind;
  if (kind == Class::time || kind == Class::ratio) return is_positive(actual);
  if (kind == Class::exact) return recorded == actual;
  if (recorded_kind == Kind::special || actual_kind == Kind::special) {
    if (recorded_kind != actual_kind) return false;
    if (is_nan(recorded)) return is_nan(actual);
    return is_infinite(actual) && is_negative(recorded) == is_negative(actual);
  }
  if (recorded == actual) return true;
  if (kind == Class::tolerance) {
    return within(recorded, actual, rule->relative, rule->absolute);
  }
  if (is_zero(recorded) && is_zero(actual) && recorded_kind == actual_kind) return true;
  return recorded_kind == Kind::real && within_last_place(recorded, actual);
}

bool changed_sign_of_zero(std::string_view recorded, std::string_view actual) {
  return is_negative(recorded) != is_negative(actual) && is_zero(recorded) &&
         is_zero(actual);
}

std::string change_between(std::string_view recorded, std::string_view actual) {
  Token from, to;
  if (!Tokens(recorded).next(from) || !Tokens(actual).next(to)) return "";
  if (!from.is_number() || !to.is_number()) return "";
  const double before = to_double(from.in(recorded));
  const double after = to_double(to.in(actual));
  if (!std::isfinite(before) || !std::isfinite(after)) return "";
  std::string text = fmt::format("{:+.4g}", after - before);
  if (before != 0) text += fmt::format(" ({:+.3g} %)", (after - before) / before * 100);
  return text;
}

std::string tolerance_of(const Rule* rule, std::string_view recorded) {
  if (rule != nullptr) {
    switch (rule->kind) {
      case Class::time:
        return "time: a positive number or 'not timed'";
      case Class::ratio:
        return "ratio: a positive number, 'n/a' or 'not timed'";
      case Class::device:
        return "device: some text";
      default:
        return describe(*rule);
    }
  }
  Token first;
  if (!Tokens(recorded).next(first) || first.kind != Kind::real) return "exact";
  return "last place, " + last_place(first.in(recorded));
}

}  // namespace transcript
