// engine_table: the one list of engines. A new engine is a row here, a foo_engine.cc and nothing
// else.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "engine/file_target.h"
#include "job/job_spec.h"
#include "job/option_table.h"
#include "job/plan.h"

namespace cephmark {

class ConnectionPool;  // ceph/connection.h: librados contexts, shared by the rbd and rados engines
                       // of a run

/// What an engine may use besides its job. Owned by the runner, outlives every engine of the run.
struct EngineContext {
  const Plan& plan;
  const VmPlan& vm;
  ConnectionPool* connections = nullptr;  ///< null unless the plan has jobs of a Ceph engine
  const FileGuard* file_guard =
      nullptr;  ///< asked before a file or device is opened; null: default_file_guard
  /// Told the names ("pool/[namespace/]object") of objects before the first of them is made; null:
  /// nobody. May throw.
  const std::function<void(const std::vector<std::string>&)>* about_to_create_objects = nullptr;
  std::string run_id = {};  ///< in names that must not be there yet; empty: they have none
};

enum class CompletionMode : uint8_t { kPolled, kBlocking, kCallback };

struct EngineRow {
  EngineDescription description;
  CompletionMode completion = CompletionMode::kBlocking;
  bool lays_out = false;      ///< prepare() writes what will be read, and limits its own waiting
  bool own_contents = false;  ///< its queue fills what is written: no payload is made
  bool has_submit_latency = false;  ///< the time of the submit call means something (fio's slat)
  /// Jobs with equal keys share one Engine (one open image, one fd): "rbd:rbd/HOST-0".
  std::string (*target_key)(const JobSpec& job, const EngineContext& context) = nullptr;
  std::unique_ptr<Engine> (*create)(const JobSpec& job, const EngineContext& context) = nullptr;
  /// kPolled only: a context for one worker that carries up to `depth` requests in flight.
  std::unique_ptr<Port> (*make_port)(unsigned depth, const JobSpec& job) = nullptr;
};

/// The names of a rados job's objects in their pool and namespace, clone by clone: filename= as
/// given, else generated as object_names= says. Pure.
std::vector<std::string> rados_object_names(const JobSpec& job, const Plan& plan, const VmPlan& vm,
                                            const std::string& run_id);
/// True when they begin with the run's id, so that none of them can be there yet. Pure.
bool rados_names_are_fresh(const JobSpec& job, const Plan& plan, const std::string& run_id);

std::span<const EngineRow> engine_table();
/// Null when there is no such engine.
const EngineRow* find_engine(std::string_view name);
/// What the job language needs.
std::vector<EngineDescription> engine_descriptions();

}  // namespace cephmark
