#include "columns.h"

#include <algorithm>
#include <string>

#include "align.h"

namespace transcript {
namespace {

struct ColumnSide {
  const Table& recorded;
  const Table& actual;
  ColumnMap& map;
  std::vector<std::size_t> missing_run, extra_run;

  bool same(std::size_t i, std::size_t j) const {
    return recorded.columns[i].name == actual.columns[j].name;
  }
  double likeness(std::size_t i, std::size_t j) const { return same(i, j) ? 2 : -1; }
  void pair(std::size_t i, std::size_t j) {
    flush();
    map.to_actual[i] = j;
  }
  void missing(std::size_t i) { missing_run.push_back(i); }
  void extra(std::size_t j) { extra_run.push_back(j); }
  /// As many on both sides: renamed.
  void flush() {
    if (missing_run.size() == extra_run.size()) {
      map.renamed |= !missing_run.empty();
      for (std::size_t k = 0; k < missing_run.size(); ++k) {
        map.to_actual[missing_run[k]] = extra_run[k];
      }
    } else {
      map.extra.insert(map.extra.end(), extra_run.begin(), extra_run.end());
    }
    missing_run.clear();
    extra_run.clear();
  }
};

}  // namespace

ColumnMap map_columns(const Table& recorded, const Table& actual) {
  ColumnMap map{&recorded, &actual, false, false, {}, {}, false};
  map.to_actual.assign(recorded.columns.size(), kNone);
  const auto names = [](const Table& table) {
    std::vector<std::string> names;
    for (const Column& column : table.columns) names.push_back(column.name);
    return names;
  };
  std::vector<std::string> from = names(recorded), to = names(actual);
  map.identical = from == to;
  if (map.identical) {
    for (std::size_t i = 0; i < from.size(); ++i) map.to_actual[i] = i;
    return map;
  }
  if (from.size() == to.size() &&
      std::is_permutation(from.begin(), from.end(), to.begin())) {
    map.permuted = true;
    for (std::size_t i = 0; i < from.size(); ++i) {
      const auto found = std::find(to.begin(), to.end(), from[i]);
      map.to_actual[i] = static_cast<std::size_t>(found - to.begin());
      *found += '\n';  // a name that occurs twice is taken once
    }
    return map;
  }
  ColumnSide side{recorded, actual, map, {}, {}};
  align(from.size(), to.size(), side);
  side.flush();
  return map;
}

}  // namespace transcript
