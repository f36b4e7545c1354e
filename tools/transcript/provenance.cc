#include <fmt/chrono.h>
#include <fmt/format.h>

#include "record.h"
// The plain functions rather than EVP: those load engines and providers, and so cannot
// be linked statically without warnings.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <sstream>

#include "file.h"
#include "suggest.h"
#include "text.h"

namespace transcript {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kSchema = 2;

/// Fields, and nvidia-smi's names for them; some change during a run.
constexpr const char* kGpuFields[][2] = {
    {"gpu.name", "name"},
    {"gpu.compute_capability", "compute_cap"},
    {"gpu.driver_version", "driver_version"},
    {"gpu.power_limit_w", "power.limit"},
    {"gpu.ecc", "ecc.mode.current"},
    {"gpu.persistence", "persistence_mode"},
    {"gpu.mig", "mig.mode.current"},
    {"gpu.before.sm_clock_mhz", "clocks.sm"},
    {"gpu.before.memory_clock_mhz", "clocks.mem"},
    {"gpu.before.temperature_c", "temperature.gpu"},
    {"gpu.before.throttle_reasons", "clocks_throttle_reasons.active"},
    {"gpu.after.sm_clock_mhz", "clocks.sm"},
    {"gpu.after.memory_clock_mhz", "clocks.mem"},
    {"gpu.after.temperature_c", "temperature.gpu"},
    {"gpu.after.throttle_reasons", "clocks_throttle_reasons.active"}};

RunResult ask(const std::vector<std::string>& command) {
  RunLimits limits;
  limits.timeout = std::chrono::seconds(20);
  return run(command, limits);
}

RunResult nvidia_smi(const std::string& query) {
  return ask({"nvidia-smi", "--query-gpu=" + query, "--format=csv,noheader,nounits"});
}

/// What a line of shell prints; empty if it fails.
std::string said(const std::string& line) {
  const RunResult result = ask({"sh", "-c", line});
  return result.ok() ? std::string(trim(result.out)) : "";
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

struct Field {
  std::string name;
  json value;          // null or "": unknown
  std::string reason;  // why it is unknown
};

std::vector<Field> fields_of(const Recording& input) {
  const RunResult& run = input.run;
  const bool exited = run.end == RunResult::End::exited, on_gpu = !input.gpu.empty();
  const std::string root = input.root.string();
  const RunResult head = ask({"git", "-C", root, "rev-parse", "HEAD"});
  // A recording writes evidence; what it depends on there, the rules, is hashed.
  const RunResult status = ask(
      {"git", "-C", root, "status", "--porcelain", "--", ".", ":(exclude)transcripts"});
  const std::string no_gpu = "the program ran on the CPU",
                    no_git = "no git, or no checkout";
  const std::string no_nvcc = on_gpu ? "no nvcc here" : no_gpu;
  const std::string nvcc =
      on_gpu ? said(
                   "(nvcc --version || /usr/local/cuda/bin/nvcc --version) | "
                   "sed -n 's/.*, V//p'")
             : "";
  std::error_code unreadable;  // found in PATH, perhaps
  const bool readable =
      !input.command.empty() && fs::is_regular_file(input.command[0], unreadable);
  const std::string binary = readable ? common::read_file(input.command[0]) : "";
  std::vector<Field> fields{
      {"schema", kSchema, ""},
      {"tool", "transcript " TRANSCRIPT_VERSION, ""},
      {"date", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))),
       ""},
      {"command", input.shown_command, ""},
      {"exit_status", exited ? json(run.status) : json(), "it " + describe(run)},
      {"signal", exited ? json() : json(run.status), "the program exited by itself"},
      {"wall_seconds", std::round(run.seconds * 1000) / 1000, ""},
      {"stdout.sha256", sha256(run.out), ""},
      {"stdout.bytes", run.out.size(), ""},
      {"stderr", printable(run.err, std::size_t{64} << 10), "it wrote nothing there"},
      {"rules_sha256", sha256(input.rules_text), ""},
      {"source", input.shown_source, ""},
      {"source_sha256", sha256(input.source_text), ""},
      {"binary_sha256", binary.empty() ? "" : sha256(binary),
       "the program's file cannot be read"},
      {"git.commit", head.ok() ? std::string(trim(head.out)) : "", no_git},
      {"git.dirty", status.ok() ? json(!trim(status.out).empty()) : json(), no_git},
      {"build.nvcc_version", nvcc, no_nvcc},
      {"build.nvcc_flags", "", on_gpu ? "not stated" : no_gpu},
      {"build.host_compiler", compilers_of(binary), "the binary does not name it"},
      // nvcc links the runtime of its own release statically unless told otherwise.
      {"build.cuda_runtime", nvcc, no_nvcc},
      {"gpu.count", on_gpu ? json(input.before.names.size()) : json(), no_gpu},
      {"cpu.model", said("sed -n '/^model name/{s/[^:]*://p;q}' /proc/cpuinfo"),
       "/proc/cpuinfo does not say"},
      {"os.name", said(". /etc/os-release && echo \"$PRETTY_NAME\""),
       "/etc/os-release does not say"},
      {"os.kernel", said("uname -sr"), "uname fails"}};
  for (const auto& [field, query] : kGpuFields) {
    const bool after = std::string_view(field).starts_with("gpu.after");
    const auto& values = (after ? input.after : input.before).values;
    const bool known = on_gpu && values.count(query) > 0;
    fields.push_back({field, known ? values.at(query) : "",
                      on_gpu ? "nvidia-smi does not say" : no_gpu});
  }
  return fields;
}

}  // namespace

std::string sha256(std::string_view bytes) {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256_CTX context;
  SHA256_Init(&context);
  SHA256_Update(&context, bytes.data(), bytes.size());
  SHA256_Final(digest, &context);
  std::string hex;
  for (const unsigned char byte : digest) hex += fmt::format("{:02x}", byte);
  return hex;
}

GpuState query_gpu() {
  GpuState state;
  const RunResult names = nvidia_smi("name");
  std::istringstream lines(names.ok() ? names.out : "");
  for (std::string name; std::getline(lines, name);)
    state.names.emplace_back(trim(name));
  if (state.names.empty()) {
    state.why_none = "nvidia-smi " + describe(names);
    return state;
  }
  for (const auto& [field, query] : kGpuFields) {
    if (state.values.count(query) > 0) continue;
    RunResult one = nvidia_smi(query);
    if (!one.ok() && query == std::string("clocks_throttle_reasons.active")) {
      one = nvidia_smi("clocks_event_reasons.active");  // its name since driver 535
    }
    const std::string value(trim(one.out.substr(0, one.out.find('\n'))));
    const bool answer = one.ok() && value[0] != '[';  // "[N/A]"
    state.values[query] = answer ? value : "";
  }
  return state;
}

json provenance(const Recording& input) {
  json document = json::object(), unknown = json::object();
  std::map<std::string, std::string> facts = input.facts;
  std::vector<std::string> names;
  for (Field& field : fields_of(input)) {
    names.push_back(field.name);
    if (field.value == "") field.value = nullptr;
    if (const auto fact = facts.find(field.name); fact != facts.end()) {
      const bool truth = fact->second == "true" || fact->second == "false";
      field.value = truth ? json(fact->second == "true") : json(fact->second);
      facts.erase(fact);
    }
    if (field.value.is_null()) unknown[field.name] = field.reason;
    document[pointer(field.name)] = std::move(field.value);
  }
  document["unknown"] = unknown;
  if (facts.empty()) return document;
  const std::string near = common::closest(facts.begin()->first, names);
  throw std::runtime_error("--fact: no field '" + facts.begin()->first + "'" +
                           (near.empty() ? "" : "; did you mean '" + near + "'?"));
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
