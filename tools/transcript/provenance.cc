#include "provenance.h"

#include <elf.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <fstream>
#include <sstream>

#include "hash.h"
#include "text.h"

namespace transcript {
namespace {

using nlohmann::json;

constexpr int kSchema = 1;

/// nvidia-smi's query, the field's name, and whether it changes while a program runs.
struct Query {
  const char* query;
  const char* field;
  bool state;
};
constexpr std::array<Query, 11> kQueries{{
    {"name", "name", false},
    {"compute_cap", "compute_capability", false},
    {"driver_version", "driver_version", false},
    {"power.limit", "power_limit_w", false},
    {"ecc.mode.current", "ecc", false},
    {"persistence_mode", "persistence", false},
    {"mig.mode.current", "mig", false},
    {"clocks.sm", "sm_clock_mhz", true},
    {"clocks.mem", "memory_clock_mhz", true},
    {"temperature.gpu", "temperature_c", true},
    {"clocks_throttle_reasons.active", "throttle_reasons", true},
}};

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t end = text.find(at);
    parts.emplace_back(trim(text.substr(0, end)));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

RunLimits quick() {
  RunLimits limits;
  limits.timeout = std::chrono::seconds(20);
  limits.output = 1 << 20;
  return limits;
}

RunResult nvidia_smi(const std::string& queries) {
  return run({"nvidia-smi", "--query-gpu=" + queries, "--format=csv,noheader,nounits"},
             quick());
}

bool is_answer(const std::string& value) {
  return !value.empty() && value.front() != '[';  // "[N/A]", "[Not Supported]"
}

/// The document under construction: a field is known, or unknown for a reason.
class Document {
 public:
  void set(const std::string& field, json value) {
    document_[pointer(field)] = std::move(value);
  }
  void unknown(const std::string& field, const std::string& reason) {
    document_[pointer(field)] = nullptr;
    document_["unknown"][field] = reason;
  }
  void set_or(const std::string& field, const std::optional<std::string>& value,
              const std::string& reason) {
    if (value && !value->empty()) {
      set(field, *value);
    } else {
      unknown(field, reason);
    }
  }
  json take() {
    if (!document_.contains("unknown")) document_["unknown"] = json::object();
    return std::move(document_);
  }

  static json::json_pointer pointer(std::string field) {
    std::replace(field.begin(), field.end(), '.', '/');
    return json::json_pointer("/" + field);
  }

 private:
  json document_ = json::object();
};

/// Paths say where somebody's files are; their last part says which.
std::string without_folders(const std::string& argument) {
  const std::size_t slash = argument.rfind('/');
  if (slash == std::string::npos) return argument;
  const std::size_t assigned = argument.find('=');
  const std::string option =
      assigned < argument.find('/') ? argument.substr(0, assigned + 1) : "";
  return option + argument.substr(slash + 1);
}

std::string first_match(const char* file, std::string_view key, char separator) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    if (line.compare(0, key.size(), key) != 0) continue;
    std::string value(trim(std::string_view(line).substr(line.find(separator) + 1)));
    std::erase(value, '"');
    return value;
  }
  return "";
}

std::optional<std::string> nvcc_version() {
  for (const char* nvcc : {"nvcc", "/usr/local/cuda/bin/nvcc"}) {
    const RunResult result = run({nvcc, "--version"}, quick());
    const std::size_t at = result.out.rfind(", V");
    if (!result.ok() || at == std::string::npos) continue;
    return std::string(
        trim(result.out.substr(at + 3, result.out.find('\n', at) - at - 3)));
  }
  return std::nullopt;
}

void add_git(Document& document, const ProvenanceInput& input) {
  const auto git = [&](std::vector<std::string> arguments) {
    std::vector<std::string> command{"git", "-C", input.root.string()};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return run(command, quick());
  };
  if (input.build.git_commit) {
    document.set("git.commit", *input.build.git_commit);
  } else if (const RunResult head = git({"rev-parse", "HEAD"}); head.ok()) {
    document.set("git.commit", std::string(trim(head.out)));
  } else {
    document.unknown("git.commit", "no git, or not a checkout, and no --git-commit");
  }
  if (input.build.git_dirty) {
    document.set("git.dirty", *input.build.git_dirty);
    return;
  }
  // Evidence is what a recording writes; what it depends on there, the rules, is
  // hashed.
  const RunResult status =
      git({"status", "--porcelain", "--", ".", ":(exclude)transcripts"});
  if (status.ok()) {
    document.set("git.dirty", !trim(status.out).empty());
  } else {
    document.unknown("git.dirty", "no git, or not a checkout, and no --git-dirty");
  }
}

void add_gpu(Document& document, const ProvenanceInput& input) {
  const std::string not_used = "the program ran on the CPU";
  if (input.on_gpu && input.before.count > 0) {
    document.set("gpu.count", input.before.count);
  } else {
    document.unknown("gpu.count", input.on_gpu ? input.before.why_none : not_used);
  }
  for (const Query& query : kQueries) {
    const auto add = [&](const std::string& field, const GpuState& state) {
      const auto found = state.values.find(query.query);
      if (!input.on_gpu) {
        document.unknown(field, not_used);
      } else if (found != state.values.end()) {
        document.set(field, found->second);
      } else {
        document.unknown(field,
                         state.count == 0 ? state.why_none : "nvidia-smi does not say");
      }
    };
    if (query.state) {
      add(std::string("gpu.before.") + query.field, input.before);
      add(std::string("gpu.after.") + query.field, input.after);
    } else {
      add(std::string("gpu.") + query.field, input.before);
    }
  }
}

void add_build(Document& document, const ProvenanceInput& input) {
  const BuildFacts& build = input.build;
  const std::string no_nvcc = "the CPU build does not use nvcc";
  const std::optional<std::string> version =
      build.nvcc_version || !input.on_gpu ? build.nvcc_version : nvcc_version();
  document.set_or("build.nvcc_version", version,
                  input.on_gpu ? "no nvcc here, and no --nvcc-version" : no_nvcc);
  document.set_or("build.nvcc_flags", build.nvcc_flags,
                  input.on_gpu ? "no --nvcc-flags" : no_nvcc);
  const std::string compilers = compilers_of(input.binary);
  document.set_or("build.host_compiler",
                  build.host_compiler ? build.host_compiler : std::optional(compilers),
                  "the binary does not name it, and no --host-compiler");
  // nvcc links the runtime of its own release statically unless told otherwise.
  document.set_or("build.cuda_runtime",
                  build.cuda_runtime || !input.on_gpu ? build.cuda_runtime : version,
                  input.on_gpu ? "no nvcc here, and no --cuda-runtime" : no_nvcc);
}

}  // namespace

const std::vector<std::string> kProvenanceFields = [] {
  std::vector<std::string> fields = {"schema",
                                     "tool",
                                     "date",
                                     "command",
                                     "exit_status",
                                     "signal",
                                     "wall_seconds",
                                     "stdout.sha256",
                                     "stdout.bytes",
                                     "stderr",
                                     "rules_sha256",
                                     "source",
                                     "source_sha256",
                                     "binary_sha256",
                                     "git.commit",
                                     "git.dirty",
                                     "build.nvcc_version",
                                     "build.nvcc_flags",
                                     "build.host_compiler",
                                     "build.cuda_runtime",
                                     "gpu.count",
                                     "cpu.model",
                                     "os.name",
                                     "os.kernel"};
  for (const Query& query : kQueries) {
    if (query.state) {
      fields.push_back(std::string("gpu.before.") + query.field);
      fields.push_back(std::string("gpu.after.") + query.field);
    } else {
      fields.push_back(std::string("gpu.") + query.field);
    }
  }
  return fields;
}();

GpuState query_gpu() {
  GpuState state;
  std::string all;
  for (const Query& query : kQueries) {
    all += (all.empty() ? "" : ",") + std::string(query.query);
  }
  const auto keep = [&](const std::string& out, std::size_t first, std::size_t count) {
    const std::vector<std::string> values = split(out.substr(0, out.find('\n')), ',');
    for (std::size_t i = 0; i < count && i < values.size(); ++i) {
      if (is_answer(values[i])) state.values[kQueries[first + i].query] = values[i];
    }
  };
  const RunResult result = nvidia_smi(all);
  if (result.end == RunResult::End::not_started) {
    state.why_none = "no nvidia-smi";
    return state;
  }
  if (result.ok()) keep(result.out, 0, kQueries.size());
  // One name that this driver does not know spoils the whole query.
  const RunResult names = result.ok() ? result : nvidia_smi("name");
  state.count = names.ok() ? static_cast<std::size_t>(
                                 std::count(names.out.begin(), names.out.end(), '\n'))
                           : 0;
  if (state.count == 0) state.why_none = "nvidia-smi " + describe(names, quick());
  if (!result.ok() && state.count > 0) {
    for (std::size_t i = 0; i < kQueries.size(); ++i) {
      RunResult one = nvidia_smi(kQueries[i].query);
      if (!one.ok() &&
          kQueries[i].query == std::string("clocks_throttle_reasons.active")) {
        one = nvidia_smi("clocks_event_reasons.active");  // its name since driver 535
      }
      if (one.ok()) keep(one.out, i, 1);
    }
  }
  return state;
}

std::string machine_name(std::string_view gpu) {
  std::string name;
  for (const char c : gpu) {
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if (is_digit(lower) || (lower >= 'a' && lower <= 'z')) {
      name += lower;
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  while (!name.empty() && name.back() == '-') name.pop_back();
  return name;
}

std::string compilers_of(std::string_view elf) {
  Elf64_Ehdr header;
  if (elf.size() < sizeof header) return "";
  std::memcpy(&header, elf.data(), sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB ||
      header.e_shentsize != sizeof(Elf64_Shdr)) {
    return "";
  }
  const auto section = [&](std::size_t i) {
    Elf64_Shdr one{};
    const std::uint64_t at = header.e_shoff + i * sizeof one;
    if (i < header.e_shnum && at >= header.e_shoff && at <= elf.size() &&
        elf.size() - at >= sizeof one) {
      std::memcpy(&one, elf.data() + at, sizeof one);
    }
    return one;
  };
  const auto bytes = [&](const Elf64_Shdr& one) -> std::string_view {
    if (one.sh_type == SHT_NOBITS || one.sh_offset > elf.size() ||
        one.sh_size > elf.size() - one.sh_offset) {
      return {};
    }
    return elf.substr(one.sh_offset, one.sh_size);
  };
  const std::string_view names = bytes(section(header.e_shstrndx));
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr one = section(i);
    if (one.sh_name >= names.size()) continue;
    const std::string_view name = names.substr(one.sh_name);
    if (name.substr(0, name.find('\0')) != ".comment") continue;
    std::string compilers;
    for (const std::string& compiler : split(bytes(one), '\0')) {
      if (compiler.empty() || compilers.find(compiler) != std::string::npos) continue;
      compilers += (compilers.empty() ? "" : "; ") + printable(compiler);
    }
    return compilers;
  }
  return "";
}

std::string utc_now() {
  const std::time_t now =
      std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now));
}

json provenance(const ProvenanceInput& input) {
  Document document;
  document.set("schema", kSchema);
  document.set("tool", std::string("transcript ") + TRANSCRIPT_VERSION);
  document.set("date", input.date);
  std::vector<std::string> command;
  for (const std::string& argument : input.command) {
    command.push_back(without_folders(argument));
  }
  document.set("command", command);
  if (input.run.end == RunResult::End::exited) {
    document.set("exit_status", input.run.status);
    document.unknown("signal", "the program exited by itself");
  } else {
    document.unknown("exit_status", "the program " + describe(input.run));
    document.set("signal", input.run.status);
  }
  document.set("wall_seconds", std::round(input.run.seconds * 1000) / 1000);
  document.set("stdout.sha256", sha256(input.run.out));
  document.set("stdout.bytes", input.run.out.size());
  document.set("stderr", printable(input.run.err, std::size_t{64} << 10));
  document.set("rules_sha256", sha256(input.rules));
  document.set("source", input.source_name);
  document.set("source_sha256", sha256(input.source));
  if (input.binary.empty()) {
    document.unknown("binary_sha256", "the program's file cannot be read");
  } else {
    document.set("binary_sha256", sha256(input.binary));
  }
  add_git(document, input);
  add_build(document, input);
  add_gpu(document, input);
  document.set_or("cpu.model", first_match("/proc/cpuinfo", "model name", ':'),
                  "/proc/cpuinfo does not say");
  document.set_or("os.name", first_match("/etc/os-release", "PRETTY_NAME", '='),
                  "/etc/os-release does not say");
  utsname system{};
  if (::uname(&system) == 0) {
    document.set("os.kernel", std::string(system.sysname) + " " + system.release);
  } else {
    document.unknown("os.kernel", "uname fails");
  }
  return document.take();
}

std::string check_provenance(const json& document) {
  if (!document.is_object()) return "it is not a JSON object";
  const auto schema = document.find("schema");
  if (schema == document.end() || *schema != kSchema) {
    return fmt::format("its schema is not {}", kSchema);
  }
  const auto unknown = document.find("unknown");
  if (unknown == document.end() || !unknown->is_object()) return "it lacks 'unknown'";
  for (const std::string& field : kProvenanceFields) {
    const auto pointer = Document::pointer(field);
    if (!document.contains(pointer)) return fmt::format("it lacks '{}'", field);
    const bool reason = unknown->contains(field) && (*unknown)[field].is_string();
    if (document[pointer].is_null() && !reason) {
      return fmt::format("'{}' is null without a reason", field);
    }
    if (!document[pointer].is_null() && unknown->contains(field)) {
      return fmt::format("'{}' has a value and a reason for having none", field);
    }
  }
  return "";
}

}  // namespace transcript
