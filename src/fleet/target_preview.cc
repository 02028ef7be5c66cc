#include "fleet/target_preview.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/units.h"
#include "fleet/fleet_plan.h"

namespace cephmark {
namespace {

// Which images of the plan are written, and by how much at the most.
struct ImageUse {
  bool written = false;
  bool whole = false;  ///< no size: the whole image
  uint64_t bytes = 0;
};

std::map<std::string, ImageUse> image_uses(const Plan& plan) {
  std::map<std::string, ImageUse> uses;
  for (const VmPlan& vm : plan.vms)
    for (const JobSpec& job : vm.jobs) {
      const std::string image = image_of(job);
      if (image.empty()) continue;
      ImageUse& use = uses[image];
      if (!job.rw.writes && !job.rw.trims) continue;
      use.written = true;
      if (job.size.kind == SizeSpec::Kind::kBytes)
        use.bytes += job.size.value;
      else
        use.whole = true;
    }
  return uses;
}

double share(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

}  // namespace

TargetPreview make_target_preview(const Plan& plan, const std::shared_ptr<Cluster>& cluster,
                                  const std::vector<ImageState>& states, uint64_t create_bytes,
                                  const std::string& create_data_pool, bool prefill) {
  TargetPreview preview;
  std::set<std::string> files;
  for (const VmPlan& vm : plan.vms)
    for (const JobSpec& job : vm.jobs) {
      preview.writes |= job.rw.writes || job.rw.trims;
      if (image_of(job).empty() && job.ioengine != "null")
        for (const std::string& name : job.filenames) files.insert(job.ioengine + " " + name);
    }
  preview.files.assign(files.begin(), files.end());
  if (!cluster) return preview;

  preview.fsid = cluster->fsid();
  preview.cluster_name = cluster->args().cluster;
  preview.reached_by = cluster->args().text();
  const auto uses = image_uses(plan);
  std::map<std::string, PoolPreview> pools;
  for (const ImageState& state : states) {
    const auto use = uses.find(state.spec.text());
    const ImageUse how = use == uses.end() ? ImageUse{} : use->second;
    const uint64_t size = state.exists ? state.size_bytes : create_bytes;
    const std::string& data_pool = state.exists ? state.data_pool : create_data_pool;
    PoolPreview& pool = pools[data_pool.empty() ? state.spec.pool : data_pool];
    ++pool.images;
    if (!state.exists) ++pool.images_to_create;
    if (prefill || (how.written && how.whole))
      pool.new_bytes += size;
    else if (how.written)
      pool.new_bytes += std::min(size, how.bytes);
    const bool elsewhere = !data_pool.empty() && data_pool != state.spec.pool;
    preview.images.push_back(fmt::format("{} ({}{}{})", state.spec.text(), format_size(size),
                                         elsewhere ? ", data in " + data_pool : "",
                                         state.exists ? "" : ", to be created"));
  }
  for (auto& [name, pool] : pools) {
    pool.space = pool_space(*cluster, name);
    const double capacity = static_cast<double>(pool.space.stored_bytes) + pool.space.free_bytes;
    pool.fill_before = share(pool.space.stored_bytes, capacity);
    pool.fill_after = std::min(
        1.0, share(static_cast<double>(pool.space.stored_bytes) + pool.new_bytes, capacity));
    preview.pools.push_back(pool);
  }
  return preview;
}

std::string preview_text(const TargetPreview& preview, size_t max_images) {
  std::string text;
  if (!preview.fsid.empty())
    text += fmt::format("cluster  {}, fsid {}, {}\n", preview.cluster_name, preview.fsid,
                        preview.reached_by);
  for (const PoolPreview& pool : preview.pools) {
    text += fmt::format("pool     {} ({}): {} image{}", pool.space.pool, pool.space.redundancy,
                        format_count(pool.images), pool.images == 1 ? "" : "s");
    if (pool.images_to_create)
      text += fmt::format(", {} to be created", format_count(pool.images_to_create));
    if (pool.new_bytes == 0) {
      text += ", nothing is written\n";
      continue;
    }
    text += fmt::format(", at most {} new ({} raw); fill {:.1f} % now, at most {:.1f} % after\n",
                        format_size(pool.new_bytes),
                        format_size(static_cast<uint64_t>(pool.new_bytes * pool.space.raw_factor)),
                        100 * pool.fill_before, 100 * pool.fill_after);
    if (pool.new_bytes > pool.space.free_below_nearfull_bytes)
      text += fmt::format(
          "         if all of it is new it does not fit: {} are free below nearfull ({:.0f} %)\n",
          format_size(pool.space.free_below_nearfull_bytes), 100 * pool.space.nearfull_ratio);
  }
  size_t shown = 0;
  for (const auto* list : {&preview.images, &preview.files})
    for (const std::string& name : *list) {
      if (shown++ == max_images)
        text += fmt::format("         ... and {} more\n", format_count(list->size() - max_images));
      if (shown > max_images) break;
      text += fmt::format("target   {}\n", name);
    }
  return text;
}

}  // namespace cephmark
