// Which columns of two tables correspond.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "model.h"

namespace transcript {

/// No column.
inline constexpr std::size_t kNone = static_cast<std::size_t>(-1);

/// How the columns of two tables correspond.
struct ColumnMap {
  const Table* recorded = nullptr;
  const Table* actual = nullptr;
  bool identical = false;              // the same names in the same order
  bool permuted = false;               // the same names in another order
  std::vector<std::size_t> to_actual;  // by recorded column; kNone is missing
  std::vector<std::size_t> extra;      // actual columns
  bool renamed = false;                // some of the pairs have different names

  /// Columns were left out, or put in, and nothing else: then the headers differ too,
  /// and what rows lack under a missing column need not be told again.
  bool subset() const {
    const bool missing =
        std::find(to_actual.begin(), to_actual.end(), kNone) != to_actual.end();
    return !renamed && missing == extra.empty();
  }
};

ColumnMap map_columns(const Table& recorded, const Table& actual);

}  // namespace transcript
