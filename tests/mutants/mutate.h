// Wrong versions of quant_matmul.cu, each by one change of its text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mutants {

/// What has to notice the change.
enum class Killer { exact_gate, f32_gate, predicted_rms, doctest };

struct Mutant {
  std::string name;
  std::string from, to;
  int count;       // how often `from` stands in the source
  int occurrence;  // which of them is replaced, from 1
  Killer killer;
  std::string doctest;  // the case of quant_matmul_test that fails, where one must
};

const std::vector<Mutant>& all();

/// The changed source, with as many lines. Throws std::runtime_error when `from` does
/// not stand there `count` times, so that no mutant outlives what it changes.
std::string mutate(std::string_view source, const Mutant& mutant);

}  // namespace mutants
