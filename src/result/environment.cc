#include "result/environment.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <set>
#include <sstream>

#include "base/error.h"
#include "base/fd.h"
#include "base/units.h"
#include "base/version.h"

namespace cephmark {
namespace {

/// "" for a file that is not there: facts are told where they can be had.
std::string content(const std::string& path) {
  try {
    std::string text = read_file(path);
    while (!text.empty() && (text.back() == '\n' || text.back() == '\0')) text.pop_back();
    return text;
  } catch (const Error&) {
    return "";
  }
}

/// The value behind the first "key : value" or "key: value" line.
std::string value_of(const std::string& text, const std::string& key) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind(key, 0) != 0) continue;
    const size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    if (line.find_first_not_of(" \t", key.size()) != colon) continue;
    const size_t start = line.find_first_not_of(" \t", colon + 1);
    return start == std::string::npos ? "" : line.substr(start);
  }
  return "";
}

/// "123 kB" of /proc/meminfo.
uint64_t meminfo_bytes(const std::string& meminfo, const std::string& key) {
  const std::string value = value_of(meminfo, key);
  return value.empty() ? 0 : std::strtoull(value.c_str(), nullptr, 10) * kKiB;
}

void add_memory(std::map<std::string, std::string>& facts, const std::string& meminfo) {
  if (const uint64_t total = meminfo_bytes(meminfo, "MemTotal"))
    facts["memory"] = format_size(total);
  if (const uint64_t free = meminfo_bytes(meminfo, "MemAvailable"))
    facts["memory_available"] = format_size(free);
  const uint64_t swap = meminfo_bytes(meminfo, "SwapTotal");
  if (swap > 0)
    facts["swap_used"] = format_size(swap - std::min(swap, meminfo_bytes(meminfo, "SwapFree")));
}

/// "performance", or "performance, powersave" when CPUs differ; "" where there is none (most
/// virtual machines).
std::string governor(const std::string& root) {
  std::set<std::string> names;
  const long cpus = ::sysconf(_SC_NPROCESSORS_CONF);
  for (long cpu = 0; cpu < cpus; ++cpu) {
    const std::string name =
        content(fmt::format("{}/sys/devices/system/cpu/cpu{}/cpufreq/scaling_governor", root, cpu));
    if (!name.empty()) names.insert(name);
  }
  std::string all;
  for (const auto& name : names) all += (all.empty() ? "" : ", ") + name;
  return all;
}

}  // namespace

int allowed_cpu_count() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
}

std::map<std::string, std::string> host_facts(const std::string& root) {
  std::map<std::string, std::string> facts;
  utsname names{};
  if (::uname(&names) == 0) {
    facts["hostname"] = names.nodename;
    facts["pid"] = std::to_string(getpid());
    facts["kernel"] = fmt::format("{} {}", names.sysname, names.release);
    facts["architecture"] = names.machine;
  }
  facts["program"] = fmt::format("cephmark {}", kVersion);
  facts["cpus"] = std::to_string(::sysconf(_SC_NPROCESSORS_ONLN));
  facts["cpus_allowed"] = std::to_string(allowed_cpu_count());
  const std::string cpuinfo = content(root + "/proc/cpuinfo");
  if (const auto model = value_of(cpuinfo, "model name"); !model.empty())
    facts["cpu_model"] = model;
  if (const auto flags = " " + value_of(cpuinfo, "flags") + " ";
      flags.find(" hypervisor ") != std::string::npos)
    facts["virtualisation"] = "runs in a virtual machine";
  if (const auto name = governor(root); !name.empty()) facts["cpu_governor"] = name;
  add_memory(facts, content(root + "/proc/meminfo"));
  const std::string load = content(root + "/proc/loadavg");
  size_t blank = load.find(' ');
  for (int i = 1; i < 3 && blank != std::string::npos; ++i) blank = load.find(' ', blank + 1);
  if (blank != std::string::npos) facts["load_average"] = load.substr(0, blank);
  return facts;
}

}  // namespace cephmark
