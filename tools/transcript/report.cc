#include "report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "text.h"

namespace transcript {
namespace {

constexpr const char* kRed = "\033[31m";
constexpr const char* kGreen = "\033[32m";
constexpr const char* kBold = "\033[1m";

std::string paint(std::string text, const char* with, bool color) {
  return color ? with + text + "\033[0m" : text;
}

std::string plural(std::size_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

const char* name_of(What what) {
  switch (what) {
    case What::figure:
      return "figure";
    case What::text:
      return "text";
    case What::line:
      return "line";
    case What::missing:
      return "missing";
    case What::extra:
      return "extra";
  }
  return "";
}

/// The address without the block that heads the group.
std::string within_block(const Entry& entry) {
  const std::string prefix = entry.block + " / ";
  return entry.address.compare(0, prefix.size(), prefix) == 0
             ? entry.address.substr(prefix.size())
             : entry.address;
}

std::string where(const Entry& entry) {
  if (entry.recorded_line == 0) return fmt::format("actual line {}", entry.actual_line);
  return fmt::format("line {}", entry.recorded_line);
}

std::string summary(const Comparison& comparison) {
  std::string text =
      comparison.match()
          ? fmt::format("match: {} in {}", plural(comparison.figures, "figure"),
                        plural(comparison.lines, "line"))
          : fmt::format("{} in {} and {}", plural(comparison.differing, "difference"),
                        plural(comparison.figures, "figure"),
                        plural(comparison.lines, "line"));
  if (comparison.reported > 0) {
    text += fmt::format(", {} reported only ({} changed)", comparison.reported,
                        comparison.reported_changed);
  }
  return text + "\n";
}

std::string escaped(std::string_view text) {
  std::string xml;
  for (const char c : printable(text, 4000)) {
    switch (c) {
      case '&':
        xml += "&amp;";
        break;
      case '<':
        xml += "&lt;";
        break;
      case '>':
        xml += "&gt;";
        break;
      case '"':
        xml += "&quot;";
        break;
      default:
        xml += c;
    }
  }
  return xml;
}

nlohmann::json to_json(const Entry& entry) {
  const auto line = [](std::size_t number) {
    return number == 0 ? nlohmann::json(nullptr) : nlohmann::json(number);
  };
  return {{"kind", name_of(entry.what)},
          {"block", entry.block},
          {"address", entry.address},
          {"recorded", entry.recorded},
          {"actual", entry.actual},
          {"change", entry.change},
          {"tolerance", entry.tolerance},
          {"recorded_line", line(entry.recorded_line)},
          {"actual_line", line(entry.actual_line)}};
}

}  // namespace

std::string human_report(const Compared& compared, bool color) {
  const Comparison& comparison = compared.comparison;
  std::string text = paint("--- " + compared.recorded, kBold, color) + "\n" +
                     paint("+++ " + compared.actual, kBold, color) + "\n";
  const std::string* block = nullptr;
  for (const Entry& entry : comparison.differences) {
    if (block == nullptr || *block != entry.block) {
      text += "\n" + paint(entry.block, kBold, color) + "\n";
      block = &entry.block;
    }
    std::string head = within_block(entry);
    if (entry.what == What::missing) head += ": missing";
    if (entry.what == What::extra) head += ": extra";
    text += fmt::format("  {}  ({})\n", head, where(entry));
    if (!entry.recorded.empty()) {
      text += "    " + paint("-" + entry.recorded, kRed, color) + "\n";
    }
    if (!entry.actual.empty()) {
      text += "    " + paint("+" + entry.actual, kGreen, color) + "\n";
    }
    if (!entry.change.empty() || !entry.tolerance.empty()) {
      text += "    ";
      if (!entry.change.empty()) text += "change " + entry.change + "; ";
      text += "class: " + entry.tolerance + "\n";
    }
  }
  if (comparison.differing > comparison.differences.size()) {
    text += fmt::format("\n... and {} more\n",
                        comparison.differing - comparison.differences.size());
  }
  if (!comparison.reports.empty()) {
    text += "\nreported, not judged\n";
    for (const Entry& entry : comparison.reports) {
      text +=
          fmt::format("  {}\n    {} -> {}{}\n", entry.address, entry.recorded,
                      entry.actual, entry.change.empty() ? "" : ", " + entry.change);
    }
  }
  for (const std::string& note : comparison.notes) text += "note: " + note + "\n";
  return text + "\n" +
         paint(summary(comparison), comparison.match() ? kGreen : kRed, color);
}

nlohmann::json json_report(const Compared& compared) {
  const Comparison& comparison = compared.comparison;
  nlohmann::json differences = nlohmann::json::array();
  for (const Entry& entry : comparison.differences)
    differences.push_back(to_json(entry));
  nlohmann::json reports = nlohmann::json::array();
  for (const Entry& entry : comparison.reports) reports.push_back(to_json(entry));
  return {{"match", comparison.match()},
          {"recorded", printable(compared.recorded)},
          {"actual", printable(compared.actual)},
          {"lines", comparison.lines},
          {"figures", comparison.figures},
          {"differing", comparison.differing},
          {"differences", differences},
          {"reported", comparison.reported},
          {"reported_changed", comparison.reported_changed},
          {"reports", reports},
          {"notes", comparison.notes}};
}

std::string junit_report(const std::vector<Compared>& all) {
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n";
  for (const Compared& compared : all) {
    const Comparison& comparison = compared.comparison;
    const std::size_t listed = comparison.differences.size();
    const bool more = comparison.differing > listed;
    text += fmt::format("  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\">\n",
                        escaped(compared.recorded), listed + more + comparison.match(),
                        listed + more);
    if (comparison.match()) {
      text += fmt::format("    <testcase name=\"{} figures\"/>\n", comparison.figures);
    }
    for (const Entry& entry : comparison.differences) {
      text += fmt::format(
          "    <testcase name=\"{}\"><failure type=\"{}\" message=\"{}\">"
          "-{}\n+{}\n{}</failure></testcase>\n",
          escaped(entry.address), name_of(entry.what), escaped(entry.tolerance),
          escaped(entry.recorded), escaped(entry.actual), escaped(entry.change));
    }
    if (more) {
      text += fmt::format(
          "    <testcase name=\"{} more\"><failure message=\"not "
          "listed\"/></testcase>\n",
          comparison.differing - listed);
    }
    text += "  </testsuite>\n";
  }
  return text + "</testsuites>\n";
}

}  // namespace transcript
