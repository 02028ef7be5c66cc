// SessionImages: the RBD images of a session: told before anything is written, made, prefilled and
// removed as the ImageOrder says. Owned by the session; one thread at a time.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "cli/headway.h"
#include "cli/session.h"
#include "fleet/guard.h"
#include "fleet/volumes.h"
#include "output/progress.h"

namespace cephmark {

class SessionImages {
 public:
  /// All that is given outlives this.
  SessionImages(const Plan& plan, const SessionOptions& options, Progress& progress,
                Headway& headway)
      : plan_(plan), options_(options), progress_(progress), headway_(headway) {}

  void use(std::shared_ptr<Cluster> cluster) { cluster_ = std::move(cluster); }
  void use(Manifest* manifest) { manifest_ = manifest; }

  /// Says what the plan is about to do: to stderr, or to stdout with --plan. `guard.images` is
  /// filled in here when the guard could not look yet (the images are still to be made).
  void show_targets(GuardReport& guard);

  /// What is known of the images that a runner did not open itself.
  void add_facts(const std::vector<ImageState>& images, RunResult& result) const;

  void create(std::stop_token stop);
  void prefill(std::stop_token stop);

  /// What create() made and the order wants removed, once: the next call has nothing.
  CreateReport take_removable();
  /// Removes images. Blocks until the cluster answers.
  void remove(const std::vector<ImageSpec>& images) { remove_volumes(context({}), images); }

 private:
  std::vector<ImageSpec> specs() const;
  ImageShape shape() const;
  VolumeContext context(std::stop_token stop);

  const Plan& plan_;
  const SessionOptions& options_;
  Progress& progress_;
  Headway& headway_;
  std::shared_ptr<Cluster> cluster_;
  Manifest* manifest_ = nullptr;
  CreateReport made_;
};

}  // namespace cephmark
