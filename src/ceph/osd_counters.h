// OsdCounters: what the OSDs themselves say they were asked to do, summed over the cluster. The
// independent witness of a run's own numbers. Blocks; any thread but a library callback.
#pragma once

#include <cstdint>
#include <string>

#include "ceph/cluster.h"

namespace cephmark {

/// Sums of op_r, op_w, op_rw, op_out_bytes, op_in_bytes of all OSDs that are up: client operations
/// at their primaries, so replication does not count. A read-modify-write (op_rw: locks, watches,
/// header calls) is no data of a run.
struct OsdCounters {
  bool available = false;
  std::string unavailable_reason;  ///< which OSD or cap is in the way
  uint64_t read_ops = 0, write_ops = 0, read_write_ops = 0;
  uint64_t read_bytes = 0, write_bytes = 0;
  int osds = 0;
  uint64_t memory_target_bytes = 0;  ///< sum of osd_memory_target
};

/// Asks every OSD that is up. Never throws: what goes wrong stands in unavailable_reason.
OsdCounters read_osd_counters(Cluster& cluster);

/// after - before; not available unless both are and the same OSDs answered (a restarted OSD counts
/// from 0).
OsdCounters operator-(const OsdCounters& after, const OsdCounters& before);

}  // namespace cephmark
