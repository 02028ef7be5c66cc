#include "fleet/fleet_plan.h"

#include <fmt/format.h>

#include <charconv>
#include <map>
#include <set>
#include <sstream>

#include "base/error.h"
#include "ceph/image.h"
#include "job/template.h"

namespace cephmark {
namespace {

int parse_count(std::string_view text, std::string_view whole) {
  int count = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), count);
  if (result.ec != std::errc() || result.ptr != text.data() + text.size() || count < 1 ||
      count > kMaxVms)
    throw UsageError(
        fmt::format("--vms {}: '{}' is not a number of VMs (1 to {})", whole, text, kMaxVms),
        "--vms 4, or --vms 'web:8:web.fio,db:2:db.fio'");
  return count;
}

/// Two VMs on one image measure each other, not the storage.
void refuse_shared_images(const std::vector<VmPlan>& vms) {
  std::map<std::string, const VmPlan*> owner;
  for (const auto& vm : vms) {
    std::set<std::string> own;
    for (const auto& job : vm.jobs) own.insert(image_of(job));
    own.erase("");
    for (const auto& image : own) {
      const auto [found, fresh] = owner.emplace(image, &vm);
      if (!fresh)
        throw UsageError(
            fmt::format("the VMs {} and {} have the same image {}", found->second->name, vm.name,
                        image),
            "write rbdname={{.Name}} in the job file, or allow it with --shared-image");
    }
  }
}

}  // namespace

std::vector<VmGroup> parse_vm_groups(const std::string& text) {
  if (text.find(':') == std::string::npos) return {{"", parse_count(text, text), ""}};
  std::vector<VmGroup> groups;
  std::set<std::string> names;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    const auto first = part.find(':'),
               second = first == std::string::npos ? first : part.find(':', first + 1);
    if (first == std::string::npos || first == 0)
      throw UsageError(fmt::format("--vms {}: '{}' is not NAME:COUNT:JOBFILE", text, part),
                       "--vms 'web:8:web.fio,db:2:db.fio'");
    VmGroup group{part.substr(0, first), 0,
                  second == std::string::npos ? "" : part.substr(second + 1)};
    group.count = parse_count(
        std::string_view(part).substr(
            first + 1, second == std::string::npos ? std::string::npos : second - first - 1),
        text);
    if (!names.insert(group.name).second)
      throw UsageError(fmt::format("--vms {}: there are two groups '{}'", text, group.name));
    groups.push_back(std::move(group));
  }
  int total = 0;
  for (const auto& group : groups) total += group.count;
  if (total > kMaxVms) throw UsageError(fmt::format("--vms {}: more than {} VMs", text, kMaxVms));
  return groups;
}

std::vector<std::string> vm_names(const std::string& pattern, const std::string& host, int count) {
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (int i = 0; i < count; ++i) {
    if (pattern.find("{{.Name}}") != std::string::npos)
      throw UsageError(fmt::format("--vm-name '{}': a name cannot be made of itself", pattern),
                       "{{.Host}} and {{.Index}} can be used");
    const auto made = substitute_template(pattern, {"", i, host, ""});
    if (!made.problem.empty())
      throw UsageError(fmt::format("--vm-name '{}': {}", pattern, made.problem), made.hint);
    if (made.text.empty() || made.text.find_first_of("/@ \t\n") != std::string::npos)
      throw UsageError(fmt::format(
          "--vm-name '{}' gives '{}', which cannot be the name of an image", pattern, made.text));
    if (!seen.insert(made.text).second)
      throw UsageError(
          fmt::format("--vm-name '{}' gives two VMs the name '{}'", pattern, made.text),
          "put {{.Index}} into it");
    names.push_back(made.text);
  }
  return names;
}

std::string image_of(const JobSpec& job) {
  if (job.ioengine != "rbd") return "";
  const std::string name = job.engine_option("rbdname"), pool = job.engine_option("pool");
  if (name.empty()) return "";
  return parse_image_spec(name, pool.empty() ? "rbd" : pool, job.engine_option("rbdnamespace"))
      .text();
}

std::vector<VmPlan> make_fleet(const FleetSpec& spec,
                               const std::function<const JobFile&(const VmGroup&)>& job_file_of,
                               Diagnostics& diagnostics) {
  int total = 0;
  for (const auto& group : spec.groups) total += group.count;
  const auto names = vm_names(spec.vm_name, spec.host, total);
  std::vector<VmPlan> vms;
  vms.reserve(total);
  for (const auto& group : spec.groups) {
    const JobFile& file = job_file_of(group);
    for (int i = 0; i < group.count; ++i) {
      const int index = static_cast<int>(vms.size());
      VmPlan vm{names[index], index, spec.host, group.name, {}};
      vm.jobs = make_jobs(file, {vm.name, index, spec.host, spec.pool}, diagnostics);
      vms.push_back(std::move(vm));
    }
  }
  if (diagnostics.ok() && !spec.shared_image) refuse_shared_images(vms);
  return vms;
}

}  // namespace cephmark
