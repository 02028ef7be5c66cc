// fleet_plan: how many VMs, what they are called, which job each runs: --vms and --vm-name to
// VmPlans. Pure functions.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "job/diagnostics.h"
#include "job/job_file.h"
#include "job/plan.h"

namespace cephmark {

/// "web:8:web.fio": eight VMs that run web.fio.
struct VmGroup {
  std::string name;  ///< "web"; empty for a plain number
  int count = 0;
  std::string job_file;  ///< empty: the command's own
  bool operator==(const VmGroup&) const = default;
};

inline constexpr int kMaxVms = 100'000;

/// --vms: "4", or "web:8:web.fio,db:2:db.fio". Throws UsageError.
std::vector<VmGroup> parse_vm_groups(const std::string& text);

struct FleetSpec {
  std::vector<VmGroup> groups = {{"", 1, ""}};
  std::string vm_name = "{{.Host}}-{{.Index}}";  ///< --vm-name
  std::string host;                              ///< {{.Host}}
  std::string pool;                              ///< {{.Pool}}; may be empty
  bool shared_image = false;                     ///< several VMs may have the same image
};

/// The names, in order of index. Throws UsageError for a pattern that is wrong or gives two VMs one
/// name.
std::vector<std::string> vm_names(const std::string& pattern, const std::string& host, int count);

/// The VMs with their jobs. `job_file_of` gives the parsed file of a group. Mistakes that only one
/// VM's values show go to `diagnostics`. Throws UsageError when two VMs have the same image, unless
/// shared_image.
std::vector<VmPlan> make_fleet(const FleetSpec& spec,
                               const std::function<const JobFile&(const VmGroup&)>& job_file_of,
                               Diagnostics& diagnostics);

/// The image of a job of the rbd engine: "pool/[ns/]image[@snap]"; empty for other engines.
std::string image_of(const JobSpec& job);

}  // namespace cephmark
