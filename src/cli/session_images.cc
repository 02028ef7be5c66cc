#include "cli/session_images.h"

#include <fmt/format.h>

#include <iostream>
#include <map>
#include <utility>

#include "base/error.h"
#include "fleet/fleet_plan.h"
#include "fleet/target_preview.h"

namespace cephmark {

std::vector<ImageSpec> SessionImages::specs() const {
  std::vector<ImageSpec> specs;
  for (const PlannedTarget& target : planned_targets(plan_))
    if (target.kind == PlannedTarget::Kind::kImage) specs.push_back(parse_image_spec(target.text));
  return specs;
}

void SessionImages::show_targets(GuardReport& guard) {
  if (!cluster_ && !options_.plan_only) return;
  const bool make_images = options_.images.makes_images();
  // The guard has looked already, unless the images are still to be made.
  if (cluster_ && make_images)
    guard.images = examine_images(cluster_, specs(), watcher_knowledge(cluster_->fsid()));
  const TargetPreview preview = make_target_preview(
      plan_, cluster_, guard.images, make_images ? options_.images.create_bytes : 0,
      options_.images.data_pool, options_.images.prefill);
  progress_.finish();
  const std::string text = preview_text(preview, options_.plan_only ? SIZE_MAX : 8);
  if (options_.plan_only) {
    std::cout << text << std::flush;
    if (make_images) plan_volumes(context({}), specs(), shape());
    std::cout << "nothing was done (--plan)\n";
  } else if (!options_.quiet)
    std::cerr << text;
}

VolumeContext SessionImages::context(std::stop_token stop) {
  VolumeContext context;
  context.cluster = cluster_;
  context.manifest = manifest_;
  context.allow_write = plan_.grants.allow_write;
  context.progress = [this](const std::string& what, uint64_t done, uint64_t total) {
    if (!headway_.left_behind()) progress_.progress(what, done, total);
  };
  context.alive = [this](int64_t wait_ns) { headway_.sign_of_life(wait_ns); };
  context.stop = std::move(stop);
  return context;
}

namespace {

// How librbd's cache stands in a fio that we start: see fio_ceph_conf.
std::string cache_of_fio(const Plan& plan, const JobSpec& job) {
  if (job.direct) return "off; fio turns it off with direct=1";
  switch (plan.rbd_cache) {
    case RbdCache::kOff:
      return "off; set by cephmark in fio's ceph.conf";
    case RbdCache::kWriteAround:
      return "writearound; set by cephmark in fio's ceph.conf";
    case RbdCache::kWriteBack:
      return "writeback; set by cephmark in fio's ceph.conf";
    case RbdCache::kAsFio:
    case RbdCache::kConf:
      break;
  }
  return "";  // what the configuration says, and fio does not tell
}

}  // namespace

void SessionImages::add_facts(const std::vector<ImageState>& images, RunResult& result) const {
  std::map<std::string, const ImageState*> by_name;
  for (const ImageState& image : images) by_name[image.spec.text()] = &image;
  for (VmResult& vm : result.vms) {
    std::map<std::string, TargetFacts> targets;
    for (const JobSpec& job : plan_.vms.at(static_cast<size_t>(vm.vm)).jobs) {
      const auto found = by_name.find(image_of(job));
      if (found == by_name.end()) continue;
      TargetFacts& target = targets[found->first];
      target.name = found->first;
      target.size_bytes = found->second->size_bytes;
      target.facts["image id"] = found->second->id;
      if (!found->second->parent.empty()) target.facts["parent"] = found->second->parent;
      if (const std::string cache = cache_of_fio(plan_, job); !cache.empty())
        target.facts["cache"] = cache;
    }
    for (auto& [name, target] : targets) vm.targets.push_back(std::move(target));
  }
}

ImageShape SessionImages::shape() const {
  if (!cluster_)
    throw UsageError("--create makes RBD images, and no job of this file uses the rbd engine");
  const ImageOrder& order = options_.images;
  ImageShape shape;
  shape.size_bytes = order.create_bytes;
  shape.object_size_bytes = order.object_size_bytes;
  shape.data_pool = order.data_pool;
  shape.features = order.features;
  if (!order.clone_from.empty()) shape.clone_from = parse_image_spec(order.clone_from);
  return shape;
}

void SessionImages::create(std::stop_token stop) {
  made_ = create_volumes(context(std::move(stop)), specs(), shape(), !options_.images.remove);
}

void SessionImages::prefill(std::stop_token stop) {
  prefill_volumes(context(std::move(stop)), specs());
}

CreateReport SessionImages::take_removable() {
  return options_.images.remove ? std::exchange(made_, {}) : CreateReport();
}

}  // namespace cephmark
