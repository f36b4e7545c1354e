#include "evidence.h"

#include <cmath>

#include "address.h"
#include "text.h"

namespace transcript {

std::string get(std::string_view evidence, std::string_view address,
                std::string_view name) {
  const Document document{std::string(evidence), std::string(name)};
  const Place place = find_figure(document, address);
  return std::string(
      document.line(place.line).substr(place.begin, place.end - place.begin));
}

std::string block(std::string_view evidence, std::string_view address,
                  std::string_view name) {
  const Document document{std::string(evidence), std::string(name)};
  const auto [begin, end] = find_lines(document, address);
  std::string lines;
  for (std::size_t i = begin; i < end; ++i) lines.append(document.line(i)).append("\n");
  return lines;
}

std::vector<Figure> figures(std::string_view evidence) {
  const Document document{std::string(evidence), "evidence"};
  std::vector<Figure> all;
  for (std::size_t s = 0; s < document.sections().size(); ++s) {
    const Section& section = document.sections()[s];
    const std::string name = document.section_name(s);
    const auto add_line = [&](std::size_t line) {
      Numbers numbers(document.line(line));
      std::size_t nth = 0;
      for (Number number; numbers.next(number);) {
        const std::string text(number.in(document.line(line)));
        all.push_back({number_address(document, s, line, ++nth), name, "", "", text,
                       std::isfinite(to_double(text)) ? text : ""});
      }
    };
    if (section.heading != Section::kNone) add_line(section.heading);
    for (const std::uint32_t line : section.prose) add_line(line);
    for (const Table& table : section.tables) {
      for (std::size_t i = table.header + 2; i < table.end; ++i) {
        const auto row = cells(document.line(i));
        for (std::size_t c = 1; c < row.size() && c < table.columns.size(); ++c) {
          Number number;
          const bool finite = Numbers(row[c]).next(number) &&
                              std::isfinite(to_double(number.in(row[c])));
          all.push_back({cell_address(document, s, table, i, c), name, fold(row[0]),
                         table.columns[c], std::string(row[c]),
                         finite ? std::string(number.in(row[c])) : ""});
        }
      }
    }
  }
  return all;
}

}  // namespace transcript
