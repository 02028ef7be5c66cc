// bench_record: the object that describes a write run of `rados bench`, in the pool: read, and
// written so that no other run's record is lost. Beside the original's 24 bytes stand attributes of
// our own, which it does not look at. Blocks; any thread, one at a time per IoContext.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ceph/cluster.h"
#include "ceph/rados_bench_objects.h"

namespace cephmark {

struct StoredBenchRecord {
  BenchRecord record;
  std::string prefix;  ///< of its objects; empty: a record of the original's, which has only a pid
  std::string contents;  ///< BenchContents as text; empty: the original's
  std::string parts;     ///< where the bytes are: "object", "omap,xattr"; empty: in the object
  uint64_t version = 0;  ///< as read: what it replaces must still have it
};

/// Nothing when there is no such object, or an empty one. Throws Error for another one, and for
/// what the cluster refuses.
std::optional<StoredBenchRecord> read_bench_record(const IoContext& io, const std::string& name);

/// Writes `record`, whose `version` is that of the record it replaces; 0: there must be none.
/// False: it has changed meanwhile, and nothing was written. Throws Error.
bool write_bench_record(const IoContext& io, const std::string& name,
                        const StoredBenchRecord& record);

/// Makes `name` free for another run: what it describes is described by "NAME.HOST_PID" from then
/// on, which is returned (the original's: "NAME.PID"); both stand until `name` is written. Throws
/// Error.
std::string keep_bench_record(const IoContext& io, const std::string& name,
                              const StoredBenchRecord& record);
/// The first name that it tries. Pure.
std::string kept_record_name(const std::string& name, const StoredBenchRecord& record);

/// What default names of our own begin with: the original's name and a dot, so that either is found
/// by its beginning.
std::string bench_run_name(std::string_view prefix);
/// "benchmark_last_metadata" and what bench_run_name() and keep_bench_record() give.
bool is_default_run_name(std::string_view name);

}  // namespace cephmark
