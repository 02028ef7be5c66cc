// Plan: everything that describes work, narrowed to one type. Plain data; versioned JSON on disk
// and on the wire (plan_codec). Made by front ends (cli, compat), executed by a Runner.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "job/job_spec.h"

namespace cephmark {

/// How to reach the cluster, as Ceph's own tools take it. Empty: the library's default.
struct CephTarget {
  std::string conf;  ///< --conf / CEPH_CONF
  std::string user;  ///< with or without "client."
  std::string keyring;
  std::string cluster;  ///< --cluster: name of the conf
};

enum class RbdCache : uint8_t { kOff, kWriteAround, kWriteBack, kAsFio, kConf };

struct RunLimits {
  int max_cpus = 0;     ///< 0: all that the process may use
  int connections = 0;  ///< librados contexts; 0: one per VM up to 16
  int64_t open_timeout_ns = 30'000'000'000;
  int64_t prepare_timeout_ns = 60'000'000'000;  ///< a lane's first write (exclusive lock)
  int64_t drain_grace_ns = 10'000'000'000;      ///< after the deadline or the first Ctrl-C
  int64_t slot_ns = 500'000'000;                ///< width of the interval series' slots
};

/// What the user allowed beyond what is ours (design: safety).
struct SafetyGrants {
  std::vector<std::string> allow_write;  ///< --allow-write TARGET, patterns with * and ?
  bool shared_image = false;
  bool open_read_only = false;
};

/// What makes a guard stop the load. Conditions there at the start do not count.
struct GuardPolicy {
  bool slow_ops = true;
  bool inactive_pgs = true;
  bool nearfull = true;
  bool any() const { return slow_ops || inactive_pgs || nearfull; }
};

/// One simulated VM (or the one anonymous "VM" of a plain fio job file), with its jobs.
struct VmPlan {
  std::string name;  ///< "HOST-0"
  int index = 0;     ///< over the whole plan
  std::string host;
  std::string group;  ///< "web" of --vms 'web:8:web.fio'; else empty
  std::vector<JobSpec> jobs;
  std::string job_text;  ///< its job file after substitution, for real fio and for the results; may
                         ///< be empty
};

struct Plan {
  static constexpr int kSchemaVersion = 1;

  std::string title;    ///< the job file's base name, for people and for result directories
  std::string command;  ///< "run", "fio", ...
  std::vector<std::string> arguments;  ///< the command line, for the record
  std::vector<VmPlan> vms;
  uint64_t seed = 0;
  CephTarget ceph;
  RbdCache rbd_cache = RbdCache::kOff;
  RunLimits limits;
  SafetyGrants grants;
  GuardPolicy guard;
  bool clones_apart = false;  ///< the result keeps each numjobs clone by itself, too
  std::vector<std::string>
      warnings;  ///< from parsing (fio's traps, unsupported options); kept in the result

  int stage_count() const;  ///< 1 + the highest JobSpec::stage
};

inline int Plan::stage_count() const {
  int stages = 0;
  for (const auto& vm : vms)
    for (const auto& job : vm.jobs)
      if (job.stage + 1 > stages) stages = job.stage + 1;
  return stages;
}

}  // namespace cephmark
