#include "evidence.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "address.h"
#include "decimal.h"
#include "model.h"
#include "text.h"
#include "token.h"

namespace transcript {

std::string get(std::string_view evidence, std::string_view address,
                std::string_view name) {
  const Transcript transcript{std::string(evidence), std::string(name)};
  const Place place = Addresses(transcript).figure(address);
  return std::string(
      transcript.line(place.line).substr(place.begin, place.end - place.begin));
}

std::string block(std::string_view evidence, std::string_view address,
                  std::string_view name) {
  const Transcript transcript{std::string(evidence), std::string(name)};
  const LineRange range = Addresses(transcript).lines(address);
  std::string lines;
  for (std::size_t i = range.begin; i < range.end; ++i) {
    lines.append(transcript.line(i)).append("\n");
  }
  return lines;
}

std::string export_json(std::string_view evidence, std::string_view name) {
  const Transcript transcript{std::string(evidence), std::string(name)};
  Addresses addresses(transcript);
  nlohmann::json figures = nlohmann::json::array();
  const auto add = [&](std::size_t line, nlohmann::json row, nlohmann::json column,
                       std::string address, std::string_view text,
                       std::string_view number) {
    nlohmann::json value;
    if (!number.empty() && std::isfinite(to_double(number))) value = to_double(number);
    figures.push_back({{"address", std::move(address)},
                       {"block", addresses.block(transcript.block_at(line))},
                       {"row", std::move(row)},
                       {"column", std::move(column)},
                       {"text", std::string(text)},
                       {"value", std::move(value)}});
  };
  for (std::size_t i = 0; i < transcript.lines(); ++i) {
    const std::string_view line = transcript.line(i);
    const Table* table = transcript.table_at(i);
    if (table != nullptr && i != table->header) {
      for (std::size_t c = 1; c < table->columns.size(); ++c) {
        const std::string_view cell = table->cell(line, c);
        if (cell.empty()) continue;
        Token token;
        Tokens(cell).next(token);
        add(i, fold(table->cell(line, 0)), table->columns[c].name, addresses.cell(i, c),
            cell, token.is_number() ? token.in(cell) : std::string_view());
      }
      continue;
    }
    Tokens tokens(line);
    for (Token token; tokens.next(token);) {
      if (!token.is_number()) continue;
      add(i, nullptr, nullptr, addresses.number(i, token.begin), token.in(line),
          token.in(line));
    }
  }
  return figures.dump(1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace transcript
