#include "cli/session_images.h"

#include <fmt/format.h>

#include <iostream>
#include <utility>

#include "base/error.h"
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
  if (options_.plan_only)
    std::cout << text << "nothing was done (--plan)\n";
  else if (!options_.quiet)
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

void SessionImages::create(std::stop_token stop) {
  if (!cluster_)
    throw UsageError("--create makes RBD images, and no job of this file uses the rbd engine");
  const ImageOrder& order = options_.images;
  ImageShape shape;
  shape.size_bytes = order.create_bytes;
  shape.object_size_bytes = order.object_size_bytes;
  shape.data_pool = order.data_pool;
  shape.features = order.features;
  if (!order.clone_from.empty()) shape.clone_from = parse_image_spec(order.clone_from);
  made_ = create_volumes(context(std::move(stop)), specs(), shape, !order.remove);
}

void SessionImages::prefill(std::stop_token stop) {
  prefill_volumes(context(std::move(stop)), specs());
}

CreateReport SessionImages::take_removable() {
  return options_.images.remove ? std::exchange(made_, {}) : CreateReport();
}

}  // namespace cephmark
