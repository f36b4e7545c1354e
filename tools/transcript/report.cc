#include "report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "text.h"

namespace transcript {
namespace {

using nlohmann::json;

constexpr const char* kRed = "\033[31m";
constexpr const char* kGreen = "\033[32m";
constexpr const char* kBold = "\033[1m";

const char* name_of(What what) {
  switch (what) {
    case What::figure:
      return "figure";
    case What::text:
      return "text";
    case What::missing:
      return "missing";
    case What::extra:
      return "extra";
  }
  return "";
}

json to_json(const Entry& entry) {
  const auto line = [](std::size_t number) {
    return number == 0 ? json(nullptr) : json(number);
  };
  return {{"kind", name_of(entry.what)},
          {"section", printable(entry.section)},
          {"address", printable(entry.address)},
          {"recorded", printable(entry.recorded)},
          {"actual", printable(entry.actual)},
          {"change", entry.change},
          {"tolerance", entry.tolerance},
          {"recorded_line", line(entry.recorded_line)},
          {"actual_line", line(entry.actual_line)}};
}

json to_json(const std::vector<Entry>& entries) {
  json all = json::array();
  for (const Entry& entry : entries) all.push_back(to_json(entry));
  return all;
}

}  // namespace

std::string human_report(const Compared& compared, bool color) {
  const auto paint = [&](const char* with, std::string text) {
    return color ? with + text + "\033[0m" : text;
  };
  const Comparison& found = compared.comparison;
  std::string text = paint(kBold, "--- " + printable(compared.recorded)) + "\n" +
                     paint(kBold, "+++ " + printable(compared.actual)) + "\n";
  const std::string* section = nullptr;
  for (const Entry& entry : found.differences) {
    if (section == nullptr || *section != entry.section) {
      text += "\n" + paint(kBold, printable(entry.section)) + "\n";
      section = &entry.section;
    }
    const bool within = entry.address.starts_with(entry.section + " / ");
    text += "  " + printable(entry.address.substr(within ? section->size() + 3 : 0));
    if (entry.what == What::missing) text += ": missing";
    if (entry.what == What::extra) text += ": extra";
    text += entry.recorded_line > 0
                ? fmt::format("  (line {})\n", entry.recorded_line)
                : fmt::format("  (actual line {})\n", entry.actual_line);
    if (entry.what != What::extra) {
      text += "    " + paint(kRed, "-" + printable(entry.recorded)) + "\n";
    }
    if (entry.what != What::missing) {
      text += "    " + paint(kGreen, "+" + printable(entry.actual)) + "\n";
    }
    if (!entry.tolerance.empty()) {
      text += "    " + (entry.change.empty() ? "" : "change " + entry.change + "; ") +
              "allowed: " + entry.tolerance + "\n";
    }
  }
  if (found.differing > found.differences.size()) {
    text +=
        fmt::format("\n... and {} more\n", found.differing - found.differences.size());
  }
  if (!found.reports.empty()) text += "\nreported, not judged\n";
  for (const Entry& entry : found.reports) {
    text += fmt::format("  {}\n    {} -> {}{}\n", printable(entry.address),
                        printable(entry.recorded), printable(entry.actual),
                        entry.change.empty() ? "" : ", " + entry.change);
  }
  for (const std::string& note : found.notes) text += "note: " + printable(note) + "\n";
  const std::string summary =
      fmt::format("{}: {} judged, {} reported ({} changed), {} excused",
                  found.match() ? "match"
                                : fmt::format("{} difference{}", found.differing,
                                              found.differing == 1 ? "" : "s"),
                  found.judged, found.reported, found.reported_changed, found.excused);
  return text + "\n" + paint(found.match() ? kGreen : kRed, summary) + "\n";
}

json json_report(const Compared& compared) {
  const Comparison& found = compared.comparison;
  return {{"match", found.match()},
          {"recorded", printable(compared.recorded)},
          {"actual", printable(compared.actual)},
          {"judged", found.judged},
          {"reported", found.reported},
          {"reported_changed", found.reported_changed},
          {"excused", found.excused},
          {"differing", found.differing},
          {"differences", to_json(found.differences)},
          {"reports", to_json(found.reports)},
          {"notes", found.notes}};
}

std::string to_text(const json& document) {
  return document.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace transcript
