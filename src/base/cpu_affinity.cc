#include "base/cpu_affinity.h"

#include <fmt/format.h>

#include <cerrno>

#include "base/error.h"

namespace cephmark {

cpu_set_t first_cpus(const cpu_set_t& cpus, int max_cpus) {
  cpu_set_t first;
  CPU_ZERO(&first);
  for (int cpu = 0, taken = 0; cpu < CPU_SETSIZE && taken < max_cpus; ++cpu) {
    if (!CPU_ISSET(cpu, &cpus)) continue;
    CPU_SET(cpu, &first);
    ++taken;
  }
  return first;
}

CpuAffinity::CpuAffinity(int max_cpus) {
  CPU_ZERO(&before_);
  if (::sched_getaffinity(0, sizeof before_, &before_) != 0) return;
  count_ = CPU_COUNT(&before_);
  if (max_cpus <= 0 || max_cpus >= count_) return;
  const cpu_set_t set = first_cpus(before_, max_cpus);
  if (::sched_setaffinity(0, sizeof set, &set) != 0)
    throw Error(fmt::format("cannot bind to {} CPUs: {}", max_cpus, errno_text(errno)));
  bound_ = true;
  count_ = max_cpus;
}

CpuAffinity::~CpuAffinity() {
  if (bound_) ::sched_setaffinity(0, sizeof before_, &before_);
}

}  // namespace cephmark
