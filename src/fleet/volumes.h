// volumes: the images of simulated VMs: made, tagged, wholly written, listed and removed, many at
// once. Each function examines all its images first (safety_table) and throws one Error that names
// every refusal before it changes any. Blocks; one call at a time.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "ceph/image.h"
#include "fleet/image_state.h"
#include "fleet/manifest.h"

namespace cephmark {

/// "creating images", 12 of 64; "prefilling (bytes)", ... Called by one thread at a time.
using VolumeProgress = std::function<void(const std::string& what, uint64_t done, uint64_t total)>;

struct VolumeContext {
  std::shared_ptr<Cluster> cluster;
  Manifest* manifest = nullptr;          ///< of this run; required for create_volumes
  std::vector<std::string> allow_write;  ///< --allow-write patterns: "rbd/vm-*"
  size_t parallel = 16;
  VolumeProgress progress;  ///< may be empty
  std::stop_token stop;     ///< ends the work early; what is done so far stays valid
  /// The cluster answers; told beside `progress`, from any thread. `wait_ns`: nothing will be told
  /// for as long, on purpose. May be empty.
  std::function<void(int64_t wait_ns)> alive;
};

struct CreateReport {
  std::vector<ImageSpec> created;
  std::vector<ImageSpec> found;   ///< ours already, with the size asked for
  std::vector<int> manifest_ids;  ///< of the created ones when they are not to stay
};

/// What create_volumes would make and what is there already; throws the Error with which it would
/// refuse. Changes nothing.
CreateReport plan_volumes(const VolumeContext& context, const std::vector<ImageSpec>& images,
                          const ImageShape& shape);

/// Makes and tags the images. `keep`: they are to stay after the run (else their manifest entries
/// stay open until they are removed). Refused beyond what the pool can take below nearfull,
/// replicas or EC counted. What was made is undone when a later one fails. Throws Error.
CreateReport create_volumes(const VolumeContext& context, const std::vector<ImageSpec>& images,
                            const ImageShape& shape, bool keep);

struct PrefillReport {
  uint64_t total_bytes = 0;    ///< sum of the sizes
  uint64_t found_bytes = 0;    ///< written already
  uint64_t written_bytes = 0;  ///< now
  std::vector<ImageSpec> adopted;
  bool complete = false;  ///< false: stopped
};

/// Writes incompressible data over whatever of the images was never written. Repeating it goes on
/// where it stopped. An image that holds data of other origin is written in full: holes inside its
/// objects cannot be told from data.
PrefillReport prefill_volumes(const VolumeContext& context, const std::vector<ImageSpec>& images);

/// Removes images that carry our tag. Returns how many were there. Throws Error that names those it
/// could not remove.
size_t remove_volumes(const VolumeContext& context, const std::vector<ImageSpec>& images);

/// The parts of [0, size) that no extent covers. `written` is sorted. Pure.
std::vector<Extent> unwritten_parts(uint64_t size_bytes, const std::vector<Extent>& written);
/// The objects (joined where adjacent) of which anything is unwritten, cut at the end of the image.
/// Pure.
std::vector<Extent> unwritten_objects(uint64_t size_bytes, uint64_t object_bytes,
                                      const std::vector<Extent>& written);
/// Cuts [extent] where multiples of `chunk_bytes` lie: the pieces tile it exactly. Pure.
std::vector<Extent> cut_at_multiples(const Extent& extent, uint64_t chunk_bytes);

/// True when a pattern of --allow-write names the image: by "pool/[ns/]image" or by its bare name.
bool write_is_granted(const std::vector<std::string>& allow_write, const ImageSpec& spec);

/// Throws Error when `bytes` more do not fit into the pool below nearfull. `what`: "creating 4
/// images of 20 GiB".
void require_space(const std::shared_ptr<Cluster>& cluster, const std::string& pool, uint64_t bytes,
                   const std::string& what);

}  // namespace cephmark
