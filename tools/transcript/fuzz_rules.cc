// libFuzzer: any text as rules, and what parses applied to a document.
#include <stdexcept>
#include <string>

#include "compare.h"

using namespace transcript;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  static const Document evidence(
      "# p on X (compute capability 1.0)\n\n## case 2x2\n\nmax = 34.5857\n\n"
      "| kernel | max err | time (ms) |\n| :----- | ------: | --------: |\n"
      "| f32    |   0.100 |    1.5000 |\n| int8   |   0.300 | not timed |\n",
      "evidence");
  try {
    const Rules rules = parse_rules(
        std::string(reinterpret_cast<const char*>(data), size), "rules.toml");
    for (const Rule& rule : rules.rules) describe(rule);
    rules_used(evidence, rules);
    compare(evidence, evidence, rules);
  } catch (const std::runtime_error&) {  // no rules, or nothing is judged
  }
  return 0;
}
