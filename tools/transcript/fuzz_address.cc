// libFuzzer: the first line as an address, the rest as the evidence that it is asked
// of; then every address that the evidence itself gives must lead back.
#include <cstdlib>
#include <string>

#include "address.h"
#include "diagnostic.h"
#include "token.h"

using namespace transcript;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string input(reinterpret_cast<const char*>(data), size);
  const std::size_t cut = std::min(input.find('\n'), size);
  const Transcript evidence(cut < size ? input.substr(cut + 1) : std::string(),
                            "evidence");
  Addresses addresses(evidence);
  const std::string asked = input.substr(0, cut);
  try {
    const Place place = addresses.figure(asked);
    if (place.line >= evidence.lines() ||
        place.end > evidence.line(place.line).size() || place.begin >= place.end) {
      std::abort();
    }
  } catch (const common::DiagnosticError&) {
  }
  try {
    const LineRange range = addresses.lines(asked);
    if (range.begin > range.end || range.end > evidence.lines()) std::abort();
  } catch (const common::DiagnosticError&) {
  }
  for (std::size_t i = 0; i < evidence.lines() && i < 20; ++i) {
    const Table* table = evidence.table_at(i);
    if (table != nullptr && i != table->header) {
      for (std::size_t c = 1; c < table->columns.size() && c < 10; ++c) {
        addresses.cell(i, c);
      }
      continue;
    }
    Tokens tokens(evidence.line(i));
    for (Token token; tokens.next(token);) {
      if (token.is_number()) addresses.number(i, token.begin);
    }
  }
  return 0;
}
