// environment: facts about the machine that a result was measured from. Reads /proc, /sys and
// uname; thread-safe. What cannot be read is left out, never guessed.
#pragma once

#include <map>
#include <string>

namespace cephmark {

/// hostname, kernel, architecture, cpus (online), cpus_allowed, cpu_model, cpu_governor, memory,
/// memory_available, swap_used, load_average, virtualisation ("hypervisor" flag), program. `root`
/// is "" but for tests: prefix of /proc, /sys.
std::map<std::string, std::string> host_facts(const std::string& root = "");

/// CPUs that this process may run on (sched_getaffinity).
int allowed_cpu_count();

}  // namespace cephmark
