#include "scope.h"

#include "text.h"

namespace transcript {

void Side::enter(std::size_t entered) {
  number = entered;
  section = &document.sections()[number];
  rules.clear();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (matches(all[i].section, section->name) ||
        matches(all[i].section, short_name(section->name))) {
      rules.push_back(i);
    }
  }
}

template <class Matches>
const Rule* Side::find(bool optional, Matches about) const {
  const Rule* first = nullptr;
  for (const std::size_t i : rules) {
    if (!about(all[i])) continue;
    used[i] = true;
    if ((all[i].kind == Class::optional) == optional && first == nullptr)
      first = &all[i];
  }
  return first;
}

const Rule* Side::line_rule(std::size_t line, bool optional) const {
  if (rules.empty()) return nullptr;
  const std::string text = fold(document.line(line));
  return find(optional, [&](const Rule& rule) {
    return rule.row.empty() && rule.column.empty() && matches(rule.line, text);
  });
}

const Rule* Side::cell_rule(std::string_view row, std::string_view column,
                            bool optional) const {
  const auto fits = [](const std::string& pattern, std::string_view name) {
    return name.empty() ? pattern.empty() : matches(pattern, name);
  };
  return find(optional, [&](const Rule& rule) {
    const bool whole_section = rule.row.empty() && rule.column.empty();
    return rule.line.empty() &&
           (whole_section || (fits(rule.row, row) && fits(rule.column, column)));
  });
}

}  // namespace transcript
