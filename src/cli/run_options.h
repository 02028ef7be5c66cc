// RunOptions: the command line of `cephmark run`, read and checked, and the plan that is made of
// it. Plain data.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/ceph_options.h"
#include "fleet/fleet_plan.h"
#include "job/diagnostics.h"
#include "job/plan.h"

namespace cephmark {

struct RunOptions {
  std::string job_file;         ///< "-": standard input; empty: every group of --vms has its own
  std::vector<VmGroup> groups;  ///< --vms
  bool fleet = false;           ///< --vms was given
  std::string vm_name = "{{.Host}}-{{.Index}}";
  std::string host;  ///< --host; this machine's name unless given
  std::string pool;  ///< --pool: {{.Pool}}
  std::vector<std::pair<std::string, std::string>>
      overrides;  ///< --set, --runtime: added to every section

  uint64_t create_bytes = 0;  ///< --create
  bool prefill = false, remove = false;
  std::string data_pool, clone_from;
  uint64_t object_size_bytes = 0;
  std::vector<std::string> features;

  std::string runner = "native", fio_path;
  bool plan_only = false;  ///< --plan
  bool quiet = false;
  bool keep = true;               ///< the RunResult, under the data folder
  bool keep_files = false;        ///< data files with generated names stay after the run
  std::string results_directory;  ///< "results"; empty: no files per VM
  std::vector<std::string> outputs;
  bool allow_unsupported = false;

  CephOptions ceph;
  RunLimits limits;
  SafetyGrants grants;
  GuardPolicy guard;
  RbdCache rbd_cache = RbdCache::kOff;
  std::optional<uint64_t> seed;
};

/// Reads the command line. Nothing: help was asked for and printed. Throws UsageError.
std::optional<RunOptions> parse_run_options(const std::vector<std::string>& argv);

/// Parses the job files and makes the plan. All mistakes are thrown as one UsageError; warnings
/// stay in the plan and in `diagnostics`.
Plan make_run_plan(const RunOptions& options, const std::vector<std::string>& argv,
                   Diagnostics& diagnostics);

}  // namespace cephmark
