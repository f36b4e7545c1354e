// libFuzzer: the first line as an address, the rest as the evidence that it is asked
// of; then every address that the evidence itself gives must lead back.
#include <algorithm>
#include <cstdlib>
#include <string>

#include "diagnostic.h"
#include "evidence.h"

using namespace transcript;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string input(reinterpret_cast<const char*>(data), size);
  const std::size_t cut = std::min(input.find('\n'), size);
  const std::string evidence = cut < size ? input.substr(cut + 1) : std::string();
  const std::string asked = input.substr(0, cut);
  for (const auto& ask : {get, block}) {
    try {
      ask(evidence, asked, "evidence");
    } catch (const common::DiagnosticError&) {
    }
  }
  for (const Figure& figure : figures(evidence)) {
    try {
      if (get(evidence, figure.address) != figure.text) std::abort();
    } catch (const common::DiagnosticError&) {  // a name may hold what separates names
    }
  }
  return 0;
}
