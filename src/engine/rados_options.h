// RadosOptions: what the engines on objects read from a job's engine options, and what their pool
// asks of objects. Set-up threads.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>

#include "ceph/cluster.h"
#include "job/job_spec.h"

namespace cephmark {

inline std::string pool_of(const JobSpec& job) {
  const std::string pool = job.engine_option("pool");
  return pool.empty() ? "rbd" : pool;
}

/// osd_max_object_size in bytes; 0: no limit is known.
inline uint64_t max_object_bytes(const Cluster& cluster) {
  return std::strtoull(cluster.option("osd_max_object_size").c_str(), nullptr, 10);
}

/// Of a pool whose objects can only be appended to (erasure coded without overwrites), in which
/// multiples, in bytes; 0 for any other pool.
inline uint64_t append_alignment(const IoContext& io) {
  int required = 0;
  uint64_t alignment = 0;
  if (rados_ioctx_pool_requires_alignment2(io.get(), &required) < 0 || !required) return 0;
  return rados_ioctx_pool_required_alignment2(io.get(), &alignment) < 0 ? 0 : alignment;
}

}  // namespace cephmark
