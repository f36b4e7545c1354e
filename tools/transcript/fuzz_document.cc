// libFuzzer: two documents out of one input, parsed and compared both ways.
#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "compare.h"

using namespace transcript;

namespace {

const Rules& rules() {
  static const Rules all = parse_rules(
      "[[rule]]\ncolumn = '*e*'\nclass = 'reported'\n"
      "[[rule]]\nrow = '*a*'\nrel = 0.1\nabs = 0.1\n"
      "[[rule]]\nrow = '*b*'\nclass = 'optional'\n"
      "[[rule]]\nline = '{# ,}* on *'\nclass = 'machine'\n"
      "[[rule]]\nline = '* {a,b} *'\nclass = 'reported'\n",
      "rules.toml");
  return all;
}

bool same(const Document& recorded, const Document& actual, const Rules& with) {
  try {
    return compare(recorded, actual, with).match();
  } catch (const std::runtime_error&) {
    return true;  // no text, or nothing is judged
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string input(reinterpret_cast<const char*>(data), size);
  const std::size_t cut = std::min(input.find('\x01'), size);
  const Document first(input.substr(0, cut), "first");
  const Document second(cut < size ? input.substr(cut + 1) : input, "second");
  if (!same(first, first, {}) || !same(second, second, {})) std::abort();
  same(first, second, {});
  same(second, first, {});
  same(first, second, rules());
  rules_used(first, rules());
  return 0;
}
