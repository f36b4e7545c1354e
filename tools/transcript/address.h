// Figures named by block, row and column, or by the words before them; evidence.h says
// how an address is written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model.h"

namespace transcript {

/// One part of an address: a name, where it stands in the text, and the n of a final
/// "[n]" (0 without one).
struct AddressPart {
  std::string name;   // folded, "[n]" left out
  std::string whole;  // folded, as written
  std::size_t column = 1;
  std::size_t ordinal = 0;
};

/// Splits at "/" between white space. Throws common::DiagnosticError (see evidence.h)
/// for an address that is empty, has an empty part, or more than three.
std::vector<AddressPart> parse_address(std::string_view address, std::string_view name);

/// A figure's or cell's place: bytes [begin, end) of a line.
struct Place {
  std::size_t line = 0;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  bool operator==(const Place&) const = default;
};

struct LineRange {
  std::size_t begin = 0, end = 0;
};

/// Resolves and writes the addresses of one transcript. Keep the transcript alive.
class Addresses {
 public:
  explicit Addresses(const Transcript& transcript) : transcript_(transcript) {}

  /// Both throw common::DiagnosticError as evidence.h says.
  Place figure(std::string_view address);
  LineRange lines(std::string_view address);

  /// "BLOCK", with "[n]" where the name is not unique.
  std::string block(std::size_t block);
  /// An address that figure() resolves to the cell `column` of row `line`.
  std::string cell(std::size_t line, std::size_t column);
  /// ... to the number at byte `begin` of prose line `line`.
  std::string number(std::size_t line, std::uint32_t begin);
  /// "BLOCK / ROW" or "BLOCK / line K".
  std::string row(std::size_t line);

 private:
  struct Query;
  const std::vector<std::uint32_t>* find_block(const std::string& normal);
  std::size_t resolve_block(const Query& query);
  Place resolve_cell(const Query& query, const std::vector<std::size_t>& rows);
  Place resolve_number(const Query& query, LineRange range);
  bool resolves(const std::string& address, const Place& place);

  const Transcript& transcript_;
  std::unordered_map<std::string, std::vector<std::uint32_t>> blocks_;
};

}  // namespace transcript
