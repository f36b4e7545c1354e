// What a comparison finds, text by text, as it goes.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "compare.h"
#include "scope.h"

namespace transcript {

/// Judges texts by their rules, and keeps the first `listed` findings of each kind.
struct Ledger {
  /// Names the n-th number of a text, or the text itself: asked only for what is
  /// listed.
  using Address = std::function<std::string(std::size_t n)>;

  const Side& recorded;
  std::size_t listed;
  Comparison result;

  void compare_text(std::string_view r, std::string_view a, std::size_t r_line,
                    std::size_t a_line, const Rule* rule, const Address& address);
  /// What one side alone has; `optional` is the rule that excuses it.
  void alone(const Side& side, const Address& address, std::string_view text,
             std::size_t line, const Rule* optional);

 private:
  Entry entry(What what, std::string address, std::string_view recorded_text,
              std::string_view actual_text, std::size_t r_line, std::size_t a_line,
              const std::string& tolerance) const;
};

}  // namespace transcript
