#include "provenance.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <fstream>
#include <functional>
#include <sstream>

#include "hash.h"
#include "suggest.h"
#include "text.h"

namespace transcript {
namespace {

using nlohmann::json;

constexpr int kSchema = 2;

/// A field under "gpu" and nvidia-smi's name for it; some change during a run.
struct Query {
  const char* field;
  const char* query;
  bool changes;
};
constexpr Query kQueries[] = {
    {"name", "name", false},
    {"compute_capability", "compute_cap", false},
    {"driver_version", "driver_version", false},
    {"power_limit_w", "power.limit", false},
    {"ecc", "ecc.mode.current", false},
    {"persistence", "persistence_mode", false},
    {"mig", "mig.mode.current", false},
    {"sm_clock_mhz", "clocks.sm", true},
    {"memory_clock_mhz", "clocks.mem", true},
    {"temperature_c", "temperature.gpu", true},
    {"throttle_reasons", "clocks_throttle_reasons.active", true}};

RunResult ask(const std::vector<std::string>& command) {
  RunLimits limits;
  limits.timeout = std::chrono::seconds(20);
  return run(command, limits);
}

RunResult nvidia_smi(const std::string& query) {
  return ask({"nvidia-smi", "--query-gpu=" + query, "--format=csv,noheader,nounits"});
}

std::string first_match(const char* file, std::string_view key, char separator) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    if (!line.starts_with(key)) continue;
    std::string value(trim(std::string_view(line).substr(line.find(separator) + 1)));
    std::erase(value, '"');
    return value;
  }
  return "";
}

std::string nvcc_version() {
  for (const char* nvcc : {"nvcc", "/usr/local/cuda/bin/nvcc"}) {
    const RunResult result = ask({nvcc, "--version"});
    const std::size_t at = result.out.rfind(", V");
    if (!result.ok() || at == std::string::npos) continue;
    return std::string(
        trim(result.out.substr(at + 3, result.out.find('\n', at) - at - 3)));
  }
  return "";
}

/// The compilers that left their names in a program's file, "; " between them.
std::string compilers_of(const std::string& binary) {
  std::string all;
  for (const char* mark : {"GCC: (", "clang version "}) {
    for (std::size_t at = 0; (at = binary.find(mark, at)) != std::string::npos; ++at) {
      const std::string one =
          printable(binary.substr(at, binary.find('\0', at) - at), 100);
      if (all.find(one) == std::string::npos) all += (all.empty() ? "" : "; ") + one;
    }
  }
  return all;
}

json::json_pointer pointer(std::string field) {
  std::replace(field.begin(), field.end(), '.', '/');
  return json::json_pointer("/" + field);
}

/// A field's value, or why it has none.
struct Field {
  std::string name;
  json value;
  std::string reason;
};

std::vector<Field> fields_of(const ProvenanceInput& input) {
  std::vector<Field> fields;
  const auto add = [&](const std::string& name, json value, std::string reason = "") {
    if (value.is_string() && value.get<std::string>().empty()) value = nullptr;
    fields.push_back({name, std::move(value), std::move(reason)});
  };
  const RunResult& run = input.run;
  const bool exited = run.end == RunResult::End::exited;
  add("schema", kSchema);
  add("tool", std::string("transcript ") + TRANSCRIPT_VERSION);
  add("date", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))));
  add("command", input.command);
  add("exit_status", exited ? json(run.status) : json(), "it " + describe(run));
  add("signal", exited ? json() : json(run.status), "the program exited by itself");
  add("wall_seconds", std::round(run.seconds * 1000) / 1000);
  add("stdout.sha256", sha256(run.out));
  add("stdout.bytes", run.out.size());
  const std::string err = printable(run.err, std::size_t{64} << 10);
  add("stderr", err.empty() ? json() : json(err), "it wrote nothing there");
  add("rules_sha256", sha256(input.rules));
  add("source", input.source_name);
  add("source_sha256", sha256(input.source));
  add("binary_sha256", input.binary.empty() ? "" : sha256(input.binary),
      "the program's file cannot be read");

  const std::string root = input.root.string();
  const RunResult head = ask({"git", "-C", root, "rev-parse", "HEAD"});
  add("git.commit", head.ok() ? std::string(trim(head.out)) : "",
      "no git, or no checkout");
  // Evidence is what a recording writes; what it depends on there, the rules, is
  // hashed.
  const RunResult status = ask(
      {"git", "-C", root, "status", "--porcelain", "--", ".", ":(exclude)transcripts"});
  add("git.dirty", status.ok() ? json(!trim(status.out).empty()) : json(),
      "no git, or no checkout");

  const std::string no_nvcc =
      input.on_gpu ? "not stated" : "the program ran on the CPU";
  const std::string nvcc = input.on_gpu ? nvcc_version() : "";
  add("build.nvcc_version", nvcc, input.on_gpu ? "no nvcc here" : no_nvcc);
  add("build.nvcc_flags", "", no_nvcc);
  add("build.host_compiler", compilers_of(input.binary), "the binary does not name it");
  // nvcc links the runtime of its own release statically unless told otherwise.
  add("build.cuda_runtime", nvcc, input.on_gpu ? "no nvcc here" : no_nvcc);

  const std::string no_gpu = "the program ran on the CPU";
  add("gpu.count", input.on_gpu ? json(input.before.names.size()) : json(), no_gpu);
  for (const Query& query : kQueries) {
    const auto add_state = [&](const char* when, const GpuState& state) {
      const auto found = state.values.find(query.field);
      const bool known = input.on_gpu && found != state.values.end();
      add(std::string("gpu.") + when + query.field, known ? found->second : "",
          input.on_gpu ? "nvidia-smi does not say" : no_gpu);
    };
    add_state(query.changes ? "before." : "", input.before);
    if (query.changes) add_state("after.", input.after);
  }
  add("cpu.model", first_match("/proc/cpuinfo", "model name", ':'),
      "/proc/cpuinfo does not say");
  add("os.name", first_match("/etc/os-release", "PRETTY_NAME", '='),
      "/etc/os-release does not say");
  utsname system{};
  ::uname(&system);
  add("os.kernel", std::string(system.sysname) + " " + system.release, "uname fails");
  return fields;
}

}  // namespace

GpuState query_gpu() {
  GpuState state;
  const RunResult names = nvidia_smi("name");
  std::istringstream lines(names.ok() ? names.out : "");
  for (std::string name; std::getline(lines, name);)
    state.names.emplace_back(trim(name));
  if (state.names.empty()) state.why_none = "nvidia-smi " + describe(names);
  if (state.names.empty()) return state;
  for (const Query& query : kQueries) {
    RunResult one = nvidia_smi(query.query);
    if (!one.ok() && query.field == std::string("throttle_reasons")) {
      one = nvidia_smi("clocks_event_reasons.active");  // its name since driver 535
    }
    const std::string value(trim(one.out.substr(0, one.out.find('\n'))));
    const bool answer = one.ok() && !value.empty() && value[0] != '[';  // "[N/A]"
    if (answer) state.values[query.field] = value;
  }
  return state;
}

std::string gpu_named(const GpuState& gpu, std::string_view output) {
  const std::size_t begin = output.starts_with("# ") ? 0 : output.find("\n# ");
  if (begin == std::string_view::npos) return "";
  const std::string_view heading =
      output.substr(begin, output.find('\n', begin + 1) - begin);
  for (const std::string& name : gpu.names) {
    if (heading.find(name) != std::string_view::npos) return name;
  }
  return "";
}

std::string machine_name(std::string_view gpu) {
  std::string name;
  for (const char c : gpu) {
    const bool word = is_word(c) && c != '_';
    if (word) name += c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
    if (!word && !name.empty() && name.back() != '-') name += '-';
  }
  while (!name.empty() && name.back() == '-') name.pop_back();
  return name;
}

json provenance(const ProvenanceInput& input) {
  json document = json::object(), unknown = json::object();
  std::map<std::string, std::string> facts = input.facts;
  std::vector<std::string> names;
  for (Field& field : fields_of(input)) {
    names.push_back(field.name);
    if (const auto fact = facts.find(field.name); fact != facts.end()) {
      const bool truth = fact->second == "true" || fact->second == "false";
      field.value = truth ? json(fact->second == "true") : json(fact->second);
      facts.erase(fact);
    }
    if (field.value.is_null()) unknown[field.name] = field.reason;
    document[pointer(field.name)] = std::move(field.value);
  }
  if (!facts.empty()) {
    const std::string near = common::closest(facts.begin()->first, names);
    throw std::runtime_error("--fact: no field '" + facts.begin()->first + "'" +
                             (near.empty() ? "" : "; did you mean '" + near + "'?"));
  }
  document["unknown"] = unknown;
  return document;
}

std::string check_provenance(const json& document) {
  const json unknown = document.value("unknown", json());
  if (document.value("schema", json()) != kSchema) {
    return fmt::format("its schema is not {}", kSchema);
  }
  if (!unknown.is_object()) return "it lacks 'unknown'";
  for (const Field& field : fields_of({})) {
    const json::json_pointer at = pointer(field.name);
    if (!document.contains(at)) return fmt::format("it lacks '{}'", field.name);
    if (document[at].is_null() != unknown.contains(field.name)) {
      return fmt::format("'{}' needs either a value or a reason for having none",
                         field.name);
    }
  }
  return "";
}

}  // namespace transcript
