// TargetPreview: what a plan is about to do to which cluster, told before the first write. Asks and
// changes nothing. Pure data and text, but for make_target_preview, which blocks.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ceph/cluster.h"
#include "fleet/image_state.h"
#include "job/plan.h"

namespace cephmark {

struct PoolPreview {
  PoolSpace space;
  uint64_t images = 0, images_to_create = 0;
  uint64_t new_bytes = 0;                  ///< at most: what may be stored that is not there yet
  double fill_before = 0, fill_after = 0;  ///< 0..1 of what the pool could hold
};

struct TargetPreview {
  std::string fsid;          ///< empty without a Ceph engine
  std::string cluster_name;  ///< "ceph", or what --cluster says
  std::string reached_by;    ///< "conf /etc/ceph/ceph.conf (CEPH_CONF), user client.admin"
  std::vector<PoolPreview> pools;
  std::vector<std::string> images;  ///< "rbd/HOST-0 (1 GiB, to be created)"
  std::vector<std::string> files;   ///< files and devices of the other engines
  bool writes = false;
};

/// `states`: of the images that are there; `create_bytes`: size of those that are not, whose data
/// go to `create_data_pool` (empty: their own pool).
TargetPreview make_target_preview(const Plan& plan, const std::shared_ptr<Cluster>& cluster,
                                  const std::vector<ImageState>& states, uint64_t create_bytes,
                                  const std::string& create_data_pool, bool prefill);

/// As people read it; at most `max_images` names.
std::string preview_text(const TargetPreview& preview, size_t max_images = 8);

}  // namespace cephmark
