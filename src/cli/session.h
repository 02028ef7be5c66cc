// run_session: the middle of every command that runs a plan. A plan goes in, a RunResult comes out;
// between them stand connecting, the guard, making and prefilling images, the load with its
// progress, the documents, the kept result, clean-up, and signals at any time. A front end makes
// the Plan of its own text, has its writer among `outputs`, and leaves with leave_process().
//
//   SessionOptions session = ...;                      // usually CommonOptions::session
//   OutputSet outputs(common.outputs);
//   const SessionEnd end = run_session(plan, session, outputs);
//   return leave_process(end, end.exit_code);          // or with another program's exit code
//
// One session at a time in a process; called by the main thread before others are started.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ceph/cluster.h"
#include "job/plan.h"
#include "output/output_set.h"
#include "result/run_result.h"

namespace cephmark {

/// The images that a session makes before the load: nothing unless a size or a parent is given.
struct ImageOrder {
  uint64_t create_bytes = 0;  ///< 0: the size of the parent
  std::string clone_from;     ///< POOL/IMAGE@SNAP; empty: no clones
  std::string data_pool;
  uint64_t object_size_bytes = 0;
  std::vector<std::string> features;
  bool prefill = false;  ///< also images that were there
  bool remove = false;   ///< those that the session made, whatever happens

  bool makes_images() const { return create_bytes > 0 || !clone_from.empty(); }
};

/// What a session does besides carrying out its plan.
struct SessionOptions {
  ImageOrder images;
  std::string runner = "native";  ///< or "fio": a real fio per VM
  std::string fio_path;           ///< with "fio": which; empty: beside the program, then PATH
  bool plan_only = false;         ///< --plan: say what would be done to which targets, and stop
  bool quiet = false;             ///< no progress on stderr
  bool keep = true;               ///< the RunResult, under the data folder
  bool keep_files = false;        ///< data files with generated names stay after the run
  std::string results_directory;  ///< job and result files per VM go there; empty: none
  std::string host;               ///< in the names of those files
  /// After the documents: removes objects that the run made in a way of the front end's, and
  /// returns which of the manifest's targets are gone by that; empty: the manifest's own way.
  /// `alive` is to be called as it gets on. May throw.
  std::function<std::vector<std::string>(const std::shared_ptr<Cluster>& cluster,
                                         const RunResult& result,
                                         const std::function<void()>& alive)>
      remove_objects;
};

struct SessionEnd {
  /// As the writers had it. When nothing was measured: plan, times and `error`.
  RunResult result;
  bool measured = false;  ///< the load ran (perhaps not to its end: result.stop_reason)
  int exit_code = 0;      ///< of cephmark's own commands: 0, 1, 3, 130...
  /// Calls into a library may be at work still: no destructor of theirs may run any more.
  bool must_exit_hard = false;
};

/// Carries the plan out. Failures do not throw: they are told on stderr, stand in the documents
/// that were asked for and in SessionEnd. `outputs` has had begin, ticks and end.
SessionEnd run_session(Plan plan, const SessionOptions& options, OutputSet& outputs);

/// Returns `exit_code` for main to return, or ends the process here when that is not safe.
int leave_process(const SessionEnd& end, int exit_code);

}  // namespace cephmark
