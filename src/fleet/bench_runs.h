// bench_runs: which write run of `rados bench` a read run or a clean-up is about: by the name of
// its record, and which objects are its own, whatever host wrote them. Asks, changes nothing.
// Blocks; any thread.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "ceph/bench_record.h"
#include "ceph/cluster.h"
#include "fleet/bench_objects.h"

namespace cephmark {

struct BenchRun {
  std::string name;  ///< of its record
  StoredBenchRecord stored;
  std::string prefix;  ///< of its objects
};

/// The run of that name; nothing when there is no such record. Throws Error where it cannot be told
/// which objects are its own.
std::optional<BenchRun> find_bench_run(const IoContext& io, const std::string& name,
                                       const std::function<void(size_t)>& seen = {});

/// The prefix of a record's objects: as the record says; the original's have a process id only,
/// then this host's objects, else those of the one host that has some of that id. Nothing when
/// there are none; throws Error when several hosts have.
std::optional<std::string> find_bench_prefix(const IoContext& io, const StoredBenchRecord& stored,
                                             const std::function<void(size_t)>& seen = {});

/// "benchmark_data_HOST_PID" of this process; when such objects are there already (in a container
/// every process has the same few ids), with a number that no process has.
std::string free_bench_prefix(const IoContext& io);

/// "run NAME: 40 ops of 4 MiB in objects of 4 MiB, benchmark_data_HOST_PID". Pure.
std::string bench_run_text(const BenchRun& run);

}  // namespace cephmark
