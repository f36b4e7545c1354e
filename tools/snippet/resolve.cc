#include "resolve.h"

#include <exception>
#include <stdexcept>

#include "dedent.h"
#include "lines.h"
#include "suggest.h"

namespace snippet {
namespace {

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> lines;
  LineReader reader(text);
  for (Line line; reader.next(line);) lines.emplace_back(line.text);
  return lines;
}

const Region* find(const Source& source, const std::string& name) {
  for (const Region& region : source.regions) {
    if (region.name == name) return &region;
  }
  return nullptr;
}

std::string unknown_region(const Source& source, const std::string& file,
                           const std::string& name) {
  std::string message = "no region '" + name + "' in " + file;
  std::vector<std::string> names;
  for (const Region& region : source.regions) names.push_back(region.name);
  const std::string meant = common::closest(name, names);
  if (!meant.empty()) return message + "; did you mean '" + meant + "'?";
  if (names.empty()) return message + "; it marks none";
  message += "; it marks";
  for (const std::string& known : names) message += " '" + known + "'";
  return message;
}

}  // namespace

bool is_evidence(const std::string& file) {
  return file.starts_with("transcripts/") && file.ends_with(".md");
}

Resolver::Resolver(ReadFile read, Evidence evidence, std::string machine)
    : read_(std::move(read)),
      evidence_(std::move(evidence)),
      machine_(std::move(machine)) {}

std::string Resolver::on_machine(const std::string& file) const {
  const std::string folder = file.substr(0, file.rfind('/') + 1);
  if (machine_.empty() || !is_evidence(file)) return file;
  try {
    read_(folder + "rules.toml");
  } catch (const std::exception&) {
    return file;  // no program's
  }
  return folder + machine_ + ".md";
}

const Source& Resolver::source(const std::string& file,
                               std::vector<common::Diagnostic>& errors) {
  const auto [entry, added] = sources_.try_emplace(file);
  Source& source = entry->second;
  if (!added) return source;
  source.text = read_(file);
  const std::size_t before = errors.size();
  if (!is_evidence(file)) source.regions = parse_marks(file, source.text, errors);
  source.usable = errors.size() == before;
  return source;
}

std::vector<std::string> Resolver::region(const std::string& document, const Pull& pull,
                                          std::vector<common::Diagnostic>& errors) {
  const Source& source = this->source(pull.file, errors);
  const Region* region = find(source, pull.name);
  if (region == nullptr) {
    // Wrong marks are reported already, and may be why the name is unknown.
    if (!source.usable) return {};
    throw std::invalid_argument(unknown_region(source, pull.file, pull.name));
  }
  if (pull.inline_) {
    throw std::invalid_argument(
        "a region is no figure: put the directive and its end on lines of their own");
  }
  std::vector<std::string> lines = region_lines(pull.file, source.text, *region);
  // What stands in a region must not hang on another pull being fresh, nor read as a
  // directive where it is pulled to.
  if (find_directive(pull.file, lines) != 0 ||
      (!is_markdown(document) && find_directive(document, lines) != 0)) {
    throw std::invalid_argument("region '" + pull.name +
                                "' holds a directive; pull from where that one does");
  }
  return dedent(std::move(lines));
}

std::optional<std::vector<std::string>> Resolver::lines(
    const std::string& document, const Pull& pull,
    std::vector<common::Diagnostic>& errors) {
  const std::size_t before = errors.size();
  std::size_t column = pull.column;
  try {
    if (!is_evidence(pull.file)) {
      const std::size_t hash = pull.column + pull.file.size();
      std::vector<std::string> found;
      source(pull.file, errors);
      column = hash + 1;
      found = region(document, pull, errors);
      if (errors.size() == before && sources_.at(pull.file).usable) return found;
      return std::nullopt;
    }
    const std::string file = on_machine(pull.file);
    const Source& printed = source(file, errors);
    if (!printed.usable) return std::nullopt;
    column += pull.file.size() + 1;
    const Evidence::Get& get = pull.inline_ ? evidence_.value : evidence_.block;
    if (!get) throw std::invalid_argument("this tool was built without transcripts");
    std::vector<std::string> found = split(get(file, printed.text, pull.name));
    if (pull.inline_ && found.size() != 1) {
      throw std::invalid_argument("'" + pull.name + "' is not one figure");
    }
    return found;
  } catch (const common::DiagnosticError& wrong) {
    for (const common::Diagnostic& part : wrong.diagnostics()) {
      const std::size_t inside = part.column == 0 ? 0 : part.column - 1;
      errors.push_back(
          {document, pull.line, column + inside, part.message, pull.source});
    }
  } catch (const std::exception& wrong) {
    errors.push_back({document, pull.line, column, wrong.what(), pull.source});
  }
  return std::nullopt;
}

}  // namespace snippet
