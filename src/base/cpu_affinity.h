// CpuAffinity: while one lives, the calling thread, and so every thread and child that it starts
// from then on, is bound to the first `max_cpus` of the CPUs that it may use. Made and destroyed by
// one thread.
#pragma once

#include <sched.h>

#include <algorithm>

namespace cephmark {

/// The first `max_cpus` of `cpus`: all of them where they are no more.
cpu_set_t first_cpus(const cpu_set_t& cpus, int max_cpus);

class CpuAffinity {
 public:
  /// 0: no bound. Throws Error when the kernel refuses.
  explicit CpuAffinity(int max_cpus);
  /// Puts the calling thread's old set back.
  ~CpuAffinity();
  CpuAffinity(const CpuAffinity&) = delete;
  CpuAffinity& operator=(const CpuAffinity&) = delete;

  /// How many CPUs may be used, at least 1.
  int count() const { return std::max(1, count_); }

 private:
  cpu_set_t before_;
  int count_ = 1;
  bool bound_ = false;
};

}  // namespace cephmark
