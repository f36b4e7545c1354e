#include "diff.h"

#include <algorithm>
#include <vector>

namespace snippet {
namespace {

using Lines = std::vector<std::string_view>;

constexpr long kMaxScript = 2000;
constexpr std::size_t kContext = 3;

// With their ending, so that a missing last one is a difference.
Lines split(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t feed = text.find('\n');
    const std::size_t length = feed == text.npos ? text.size() : feed + 1;
    lines.push_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return lines;
}

struct Step {
  char kind;  // ' ', '-' or '+'
  std::string_view line;
};

void replace_all(const Lines& a, const Lines& b, std::vector<Step>& steps) {
  for (const auto line : a) steps.push_back({'-', line});
  for (const auto line : b) steps.push_back({'+', line});
}

// Myers' greedy algorithm; `trace[d]` keeps the furthest ends of the paths with d
// changes, so that the path can be walked back.
void shortest_script(const Lines& a, const Lines& b, std::vector<Step>& steps) {
  const long n = static_cast<long>(a.size()), m = static_cast<long>(b.size());
  std::vector<std::vector<long>> trace;
  std::vector<long> furthest = {0, 0, 0};  // diagonals -1, 0, 1 of d == 0
  for (long d = 0;; ++d) {
    if (d > kMaxScript) return replace_all(a, b, steps);
    trace.push_back(furthest);
    std::vector<long> next(static_cast<std::size_t>(2 * d + 5), 0);
    const auto at = [](std::vector<long>& v, long d_, long k) -> long& {
      return v[static_cast<std::size_t>(k + d_ + 1)];
    };
    bool done = false;
    for (long k = -d; k <= d && !done; k += 2) {
      const bool down =
          k == -d || (k != d && at(furthest, d, k - 1) < at(furthest, d, k + 1));
      long x = d == 0 ? 0 : down ? at(furthest, d, k + 1) : at(furthest, d, k - 1) + 1;
      long y = x - k;
      while (x < n && y < m &&
             a[static_cast<std::size_t>(x)] == b[static_cast<std::size_t>(y)]) {
        ++x;
        ++y;
      }
      at(next, d + 1, k) = x;
      done = x == n && y == m;
    }
    if (!done) {
      furthest = std::move(next);
      continue;
    }
    std::vector<Step> backwards;
    long x = n, y = m;
    for (; d >= 0; --d) {
      std::vector<long>& v = trace[static_cast<std::size_t>(d)];
      const long k = x - y;
      const bool down = k == -d || (k != d && at(v, d, k - 1) < at(v, d, k + 1));
      const long from_k = down ? k + 1 : k - 1;
      const long from_x = d == 0 ? 0 : at(v, d, from_k);
      const long from_y = d == 0 ? 0 : from_x - from_k;
      while (x > from_x && y > from_y) {
        backwards.push_back({' ', a[static_cast<std::size_t>(--x)]});
        --y;
      }
      if (d == 0) break;
      if (down) {
        backwards.push_back({'+', b[static_cast<std::size_t>(--y)]});
      } else {
        backwards.push_back({'-', a[static_cast<std::size_t>(--x)]});
      }
    }
    steps.insert(steps.end(), backwards.rbegin(), backwards.rend());
    return;
  }
}

std::vector<Step> script(Lines a, Lines b) {
  std::size_t head = 0;
  while (head < std::min(a.size(), b.size()) && a[head] == b[head]) ++head;
  std::size_t tail = 0;
  while (tail < std::min(a.size(), b.size()) - head &&
         a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) {
    ++tail;
  }
  std::vector<Step> steps;
  for (std::size_t i = 0; i < head; ++i) steps.push_back({' ', a[i]});
  const auto middle = [&](const Lines& lines) {
    return Lines(lines.begin() + static_cast<std::ptrdiff_t>(head),
                 lines.end() - static_cast<std::ptrdiff_t>(tail));
  };
  shortest_script(middle(a), middle(b), steps);
  for (std::size_t i = a.size() - tail; i < a.size(); ++i) steps.push_back({' ', a[i]});
  return steps;
}

std::string range(std::size_t first, std::size_t count) {
  // An empty range names the line before it.
  std::string text = std::to_string(count == 0 ? first : first + 1);
  if (count != 1) text += "," + std::to_string(count);
  return text;
}

}  // namespace

std::string unified_diff(std::string_view before_label, std::string_view after_label,
                         std::string_view before, std::string_view after) {
  if (before == after) return {};
  const std::vector<Step> steps = script(split(before), split(after));
  std::string out;
  out.append("--- ").append(before_label).append("\n+++ ").append(after_label) += '\n';

  std::size_t a = 0, b = 0;  // lines passed in either text
  std::size_t i = 0;
  while (i < steps.size()) {
    if (steps[i].kind == ' ') {
      ++i, ++a, ++b;
      continue;
    }
    // A hunk goes on while changes are at most two contexts apart.
    std::size_t last = i;
    for (std::size_t j = i; j < steps.size() && j <= last + 2 * kContext + 1; ++j) {
      if (steps[j].kind != ' ') last = j;
    }
    const std::size_t lead = std::min(i, kContext);
    const std::size_t end = std::min(last + 1 + kContext, steps.size());
    std::size_t removed = 0, added = 0;
    std::string body;
    for (std::size_t j = i - lead; j < end; ++j) {
      body += steps[j].kind;
      body += steps[j].line;
      if (!steps[j].line.ends_with('\n')) body += "\n\\ No newline at end of file\n";
      removed += steps[j].kind != '+';
      added += steps[j].kind != '-';
    }
    out += "@@ -" + range(a - lead, removed) + " +" + range(b - lead, added) + " @@\n";
    out += body;
    a += removed - lead;
    b += added - lead;
    i = end;
  }
  return out;
}

}  // namespace snippet
