// libFuzzer: any text as rules, and what parses applied to a transcript.
#include <string>

#include "compare.h"

using namespace transcript;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  static const Transcript evidence(
      "GPU: X (compute capability 1.0)\n\ncase 2x2, max = 34.5857\n"
      "  kernel    max err  time (ms)\n"
      "  f32         0.100     1.5000\n"
      "  int8        0.300  not timed\n",
      "evidence");
  try {
    const Rules rules = parse_rules(
        std::string(reinterpret_cast<const char*>(data), size), "rules.toml");
    for (const Rule& rule : rules.rules) describe(rule);
    matched_rules(evidence, rules);
    compare(evidence, evidence, rules);
  } catch (const common::DiagnosticError&) {
  }
  return 0;
}
