// One side of a comparison: a document, its section at hand, and what the rules say
// there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "document.h"
#include "rules.h"

namespace transcript {

struct Side {
  const Document& document;
  const std::vector<Rule>& all;
  std::vector<bool>& used;  // rules that matched something, by index
  std::size_t number = 0;
  const Section* section = nullptr;
  std::vector<std::size_t> rules;  // that hold in the section, by index

  void enter(std::size_t number);
  std::string name() const { return document.section_name(number); }

  /// The first rule about a line, or nullptr: of those that judge, or of those that
  /// make it optional.
  const Rule* line_rule(std::size_t line, bool optional = false) const;
  /// The same about a cell, or a whole row or column where the other is empty.
  const Rule* cell_rule(std::string_view row, std::string_view column,
                        bool optional = false) const;

 private:
  template <class Matches>
  const Rule* find(bool optional, Matches matches) const;
};

}  // namespace transcript
