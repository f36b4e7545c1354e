// libFuzzer: two transcripts out of one input, parsed and compared both ways.
#include <cstdlib>
#include <string>

#include "compare.h"

using namespace transcript;

namespace {

const Rules& rules() {
  static const Rules all = parse_rules(
      "[[rule]]\ncolumn = '*e*'\nclass = 'time'\n"
      "[[rule]]\nrow = '*a*'\nrel = 0.1\nabs = 0.1\n"
      "[[rule]]\nrow = '*b*'\nclass = 'absent-ok'\n"
      "[[rule]]\nline = 'GPU: *'\nclass = 'device'\n"
      "[[rule]]\nline = '* {a,b} *'\nfigure = 1\nclass = 'ratio'\n",
      "rules.toml");
  return all;
}

bool same(const Transcript& recorded, const Transcript& actual, const Rules& with) {
  try {
    return compare(recorded, actual, with).match();
  } catch (const common::DiagnosticError&) {
    return true;  // no text, or an idle rule
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string input(reinterpret_cast<const char*>(data), size);
  const std::size_t cut = std::min(input.find('\x01'), size);
  const Transcript first(input.substr(0, cut), "first");
  const Transcript second(cut < size ? input.substr(cut + 1) : input, "second");
  // Without rules nothing differs from itself; with them a time may be no time.
  if (!same(first, first, {}) || !same(second, second, {})) std::abort();
  same(first, second, {});
  same(second, first, {});
  same(first, second, rules());
  matched_rules(first, rules());
  return 0;
}
