// guard: looks at every target of a plan before the first write, by the safety table: one Error
// lists all refusals, or the run goes on and is told what makes its result doubtful and which
// images become ours. Changes nothing itself; adopt_images does. Blocks; the run's set-up thread.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "ceph/cluster.h"
#include "ceph/image.h"
#include "engine/file_target.h"
#include "fleet/image_state.h"
#include "fleet/run_identity.h"
#include "job/plan.h"
#include "result/run_result.h"

namespace cephmark {

struct GuardContext {
  std::shared_ptr<Cluster> cluster;  ///< null: one is connected from plan.ceph when a job needs it
  std::string run_id;                ///< of this run
  bool fio_names_objects = false;    ///< a real fio runs: its rados engine has names of its own
  std::set<uint64_t> own_instances;  ///< librados instance ids of this run, agents' included
  std::function<bool(const std::string& path)> file_is_ours;  ///< a manifest lists it; may be empty
  std::function<void(const std::string&)> note;               ///< "waiting for ..."; may be empty
  std::function<void(size_t done, size_t total)> progress;    ///< images looked at; may be empty
};

struct GuardReport {
  std::vector<Taint> taints;         ///< for RunResult::taints
  std::vector<ImageSpec> to_adopt;   ///< empty images that this run writes to first
  std::shared_ptr<Cluster> cluster;  ///< the one that was used; null when no job needs one
  std::vector<ImageState> images;    ///< as found, in the order of planned_targets()
  std::set<std::string> writable;    ///< texts of all targets that may be written
};

/// The pools that a plan's jobs use, sorted: those of its images and of its objects.
std::vector<std::string> planned_pools(const Plan& plan);

/// What a plan does to one target.
struct PlannedTarget {
  enum class Kind : uint8_t { kImage, kPath, kObject } kind = Kind::kPath;
  std::string text;  ///< "rbd/HOST-0", "pool/[namespace/]object", or the path as the job gives it
  bool writes = false;
  bool generated_name = false;
  std::string job_name;
  std::string source;  ///< "write-4k.fio:3"
};

/// The targets of all jobs, each once; a target is written when any job writes or trims it. Objects
/// that carry the run's id are left out: none can be there. Pure.
std::vector<PlannedTarget> planned_targets(const Plan& plan, const std::string& run_id = "",
                                           bool fio_names_objects = false);

/// Throws Error (all refusals in one message) before anything is changed.
GuardReport guard_targets(const Plan& plan, const GuardContext& context = {});

/// The same rules for each file and device at the moment of its open: EngineContext::file_guard.
/// The plan and what `file_is_ours` refers to must outlive it.
FileGuard make_file_guard(const Plan& plan,
                          std::function<bool(const std::string& path)> file_is_ours = {});

/// Tags the images of report.to_adopt for `run`: to be called before the first write.
void adopt_images(const GuardReport& report, const RunIdentity& run);

}  // namespace cephmark
