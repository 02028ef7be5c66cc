// RunOptions: the command line of `cephmark run`, read and checked: its own options besides those
// that all commands share which run a plan. Plain data.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/common_options.h"
#include "fleet/fleet_plan.h"

namespace cephmark {

struct RunOptions {
  CommonOptions common;
  std::string job_file;         ///< "-": standard input; empty: every group of --vms has its own
  std::vector<VmGroup> groups;  ///< --vms
  std::string vm_name = "{{.Host}}-{{.Index}}";
  std::string pool;  ///< --pool: {{.Pool}}
  std::vector<std::pair<std::string, std::string>>
      overrides;  ///< --set, --runtime, --seed: added to every section
  bool allow_unsupported = false;
};

/// Reads the command line. Nothing: help was asked for and printed. Throws UsageError.
std::optional<RunOptions> parse_run_options(const std::vector<std::string>& argv);

}  // namespace cephmark
