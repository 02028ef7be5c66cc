// osd_benchmark: the benchmark inside an OSD (`ceph tell osd.N bench`): what it may be asked for,
// and what it answers. It writes straight to the OSD's own store, past network, replication and
// queues, to objects of its own that it removes. Asking needs the cap osd 'allow *'. Blocks; any
// thread but a library callback.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ceph/cluster.h"

namespace cephmark {

struct OsdPlace {
  int id = 0;
  std::string host;          ///< bucket of type host; "" when it stands under none
  std::string device_class;  ///< "hdd", "ssd", "nvme"; "" when there is none
  bool up = false;
};

/// All OSDs, by id. Throws Error.
std::vector<OsdPlace> list_osds(Cluster& cluster);

/// As `ceph tell osd.N bench TOTAL BLOCK OBJECT NUM`.
struct OsdBenchShape {
  uint64_t total_bytes = uint64_t{1} << 30;
  uint64_t block_bytes = 4 << 20;
  uint64_t object_bytes = 0;  ///< with `objects`: overwrites at random in objects of this size
  uint64_t objects = 0;
};

/// What an OSD itself uses to find its capacity for mClock: 3,000 writes of 4 KiB at random.
inline constexpr OsdBenchShape kMclockShape = {12'288'000, 4096, 4 << 20, 100};

/// The OSD refuses what it takes to last too long. Defaults are Ceph's.
struct OsdBenchLimits {
  uint64_t small_iops = 100;                      ///< osd_bench_small_size_max_iops
  uint64_t large_bytes_per_s = 100 << 20;         ///< osd_bench_large_size_max_throughput
  uint64_t duration_s = 30;                       ///< osd_bench_duration
  uint64_t max_block_bytes = uint64_t{64} << 20;  ///< osd_bench_max_block_size

  /// Below 1 MiB the number of writes is bounded, from there on the bytes.
  uint64_t most_bytes(uint64_t block_bytes) const;
};
OsdBenchLimits read_osd_bench_limits(Cluster& cluster, int osd);

/// Why an OSD with these limits would refuse, and what it would take; nothing: it would not. Pure.
struct OsdBenchRefusal {
  std::string ceph_text;  ///< the OSD's own words
  std::string text, hint;
};
std::optional<OsdBenchRefusal> refusal_of(const OsdBenchShape& shape, const OsdBenchLimits& limits);

struct OsdBenchRun {
  uint64_t bytes_written = 0, block_bytes = 0;
  double elapsed_s = 0, bytes_per_s = 0, iops = 0;
};
/// Lasts as long as the OSD needs. Throws Error.
OsdBenchRun bench_osd(Cluster& cluster, int osd, const OsdBenchShape& shape);

/// What mClock is told an OSD can do: a wrong value throttles recovery and clients.
struct OsdCapacity {
  std::string scheduler;  ///< osd_op_queue: "mclock_scheduler", "wpq"
  std::string option;     ///< osd_mclock_max_capacity_iops_ssd or _hdd: as its device is
  double iops = 0;        ///< 0: the OSD knows no such option
  bool uses_it() const { return scheduler == "mclock_scheduler" && iops > 0; }
};
OsdCapacity read_osd_capacity(Cluster& cluster, int osd);

}  // namespace cephmark
