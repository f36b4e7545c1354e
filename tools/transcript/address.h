// Names for places in a document; see evidence.h.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "document.h"
#include "number.h"

namespace transcript {

/// Part of a line.
struct Place {
  std::size_t line = 0, begin = 0, end = 0;
};

/// Where the figure or cell at an address stands. Throws as get() does.
Place find_figure(const Document& document, std::string_view address);

/// The lines that an address of a section or its table names: first, and behind the
/// last.
std::pair<std::size_t, std::size_t> find_lines(const Document& document,
                                               std::string_view address);

/// The address of the cell in a table's line, whose column is `column`.
std::string cell_address(const Document& document, std::size_t section,
                         const Table& table, std::size_t line, std::size_t column);
/// The address of the `nth` number, from 1, of a line of prose or of a heading.
std::string number_address(const Document& document, std::size_t section,
                           std::size_t line, std::size_t nth);

}  // namespace transcript
