// A unified diff of two texts.
#pragma once

#include <string>
#include <string_view>

namespace snippet {

/// The hunks (three lines of context) that turn `before` into `after`, under headers
/// with the two labels; empty if the texts are equal. Lines split at LF alone, so CR
/// stands in the diff as it does in the text. `patch` applies the result. The script
/// is a shortest one (Myers, "An O(ND) Difference Algorithm and Its Variations", 1986)
/// while it has at most 2,000 changed lines, else one replacement.
std::string unified_diff(std::string_view before_label, std::string_view after_label,
                         std::string_view before, std::string_view after);

}  // namespace snippet
