#include "verdict.h"

#include <fnmatch.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

namespace mutants {
namespace {

bool matches(const std::string& pattern, const std::string& text) {
  return fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

/// "256" for the heading "case 256x256x256", where `cases` calls it so.
std::string case_of(const std::string& heading, const std::string& cases) {
  std::istringstream words(cases);
  for (std::string name; std::getline(words, name, ',');) {
    const bool cube = name.find('x') == name.npos;
    const std::string full = cube ? name + "x" + name + "x" + name : name;
    if ((heading + " ").find("case " + full + " ") != heading.npos) return name;
  }
  return "";
}

/// What is above its limit; a figure that is no number is, too.
bool row_notices(const Check& check, const std::vector<std::string>& header,
                 const std::vector<std::string>& row) {
  if (!check.rows.empty() && !matches(check.rows, row[0])) return false;
  for (std::size_t i = 1; i < std::min(header.size(), row.size()); ++i) {
    if (std::count(check.columns.begin(), check.columns.end(), header[i]) == 0)
      continue;
    char* end = nullptr;
    const double value = std::strtod(row[i].c_str(), &end);
    if (end == row[i].c_str() || !(value <= check.above)) return true;
  }
  return false;
}

/// What failed, in three words: "NaN or infinity" of "FAILED: WHO: NaN or infinity in
/// it".
std::string reason(const std::string& line) {
  const std::size_t who = line.find(": ") + 2, colon = line.find(": ", who);
  const std::size_t begin = colon == line.npos ? who : colon + 2;
  const std::string words = line.substr(begin, line.find(": ", begin) - begin);
  std::size_t end = 0;
  for (int i = 0; i < 3 && end != words.npos; ++i) end = words.find(' ', end + 1);
  return words.substr(0, end);
}

/// One section of the report: what each check sees there.
void judge_section(const std::vector<std::string>& lines, const std::string& name,
                   const std::vector<Check>& checks, Verdict& verdict) {
  for (std::size_t i = 0; i < checks.size(); ++i) {
    const Check& check = checks[i];
    const bool judged =
        check.given.empty() ||
        std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
          return matches(check.given, line);
        });
    if (!judged) continue;
    if (!name.empty()) verdict.checks[i].judged.insert(name);
    std::vector<std::string> header;
    for (const std::string& line : lines) {
      const std::vector<std::string> row = cells(line);
      bool noticed = !check.line.empty() && matches(check.line, line);
      if (row.empty()) {
        header.clear();
      } else if (header.empty()) {
        header = row;
      } else if (row[0].rfind(":-", 0) != 0) {
        noticed |= row_notices(check, header, row);
      }
      if (noticed) verdict.checks[i].noticed.insert(name.empty() ? "yes" : name);
    }
  }
  for (const std::string& line : lines) {
    const bool known =
        std::any_of(checks.begin(), checks.end(),
                    [&](const Check& check) { return matches(check.line, line); });
    if (line.rfind("FAILED: ", 0) == 0 && !known) verdict.other.insert(reason(line));
  }
}

}  // namespace

std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> found;
  if (line.rfind("| ", 0) != 0) return found;
  for (std::size_t begin = 1, end; (end = line.find('|', begin)) != line.npos;
       begin = end + 1) {
    const std::size_t first = line.find_first_not_of(' ', begin);
    const std::size_t last = line.find_last_not_of(' ', end - 1);
    found.push_back(first < end ? line.substr(first, last + 1 - first) : "");
  }
  return found;
}

std::string joined(const std::set<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::string Seen::text() const {
  if (noticed.empty()) return "-";
  return noticed == judged ? "all" : joined(noticed);
}

Verdict read_verdict(const std::string& report, const std::vector<Check>& checks,
                     const std::string& cases) {
  Verdict verdict;
  verdict.checks.resize(checks.size());
  std::vector<std::string> lines;
  std::string name;
  std::istringstream in(report);
  const auto end_section = [&] {
    judge_section(lines, name, checks, verdict);
    lines.clear();
  };
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("#", 0) == 0) {
      end_section();
      name = case_of(line, cases);
    } else {
      lines.push_back(line);
    }
  }
  end_section();
  return verdict;
}

}  // namespace mutants
