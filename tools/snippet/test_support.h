// What the suites share: sources and evidence in strings, errors as one text.
#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "diagnostic.h"
#include "resolve.h"
#include "update.h"

namespace snippet {

using Files = std::map<std::string, std::string>;

inline std::string text_of(const std::vector<common::Diagnostic>& errors) {
  std::string text;
  for (const common::Diagnostic& error : errors) text += common::format(error);
  return text;
}

inline ReadFile reader_of(Files files) {
  return [files = std::move(files)](const std::string& file) {
    const auto entry = files.find(file);
    if (entry == files.end()) throw std::runtime_error("cannot read " + file);
    return entry->second;
  };
}

struct Updated {
  std::string after;
  std::size_t stale;
  std::string errors;
};

inline Updated updated(const std::string& file, const std::string& text,
                       const Files& sources, const Evidence& evidence = {},
                       const std::string& machine = {}) {
  Resolver resolver(reader_of(sources), evidence, machine);
  std::vector<common::Diagnostic> errors;
  const Update result = update(file, text, resolver, errors);
  return {result.after, result.stale.size(), text_of(errors)};
}

}  // namespace snippet
