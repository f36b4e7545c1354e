#include "evidence.h"

#include "diagnostic.h"

namespace transcript {

std::string get(std::string_view, std::string_view address, std::string_view name) {
  throw common::DiagnosticError(
      {{std::string(name), 0, 1, "not implemented yet", std::string(address)}});
}

std::string block(std::string_view evidence, std::string_view address,
                  std::string_view name) {
  return get(evidence, address, name);
}

}  // namespace transcript
