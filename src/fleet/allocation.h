// allocation: how much of what a plan is going to read was ever written (field reports USE-01,
// K8S-01): a read elsewhere comes back as zeroes without any disk. Reads only. Blocks; the run's
// set-up thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ceph/cluster.h"
#include "fleet/image_state.h"
#include "job/plan.h"
#include "result/run_result.h"

namespace cephmark {

struct Allocation {
  uint64_t allocated_bytes = 0;  ///< of the region; of clones, what the parent holds counts
  uint64_t region_bytes = 0;     ///< from the first to the last byte that jobs may read
  bool whole = true;             ///< the region is the whole target
};

/// By the target's name, as TargetFacts has it. Targets that are not read, or not before an earlier
/// stage has written to them, are left out; so is what could not be read within `timeout_ns` in
/// all. Images are not opened again where `examined` says enough: it must not be older than the
/// last prefill. `cluster` null: only files. Just before the load, after prefill. Never throws.
std::map<std::string, Allocation> read_allocations(const Plan& plan,
                                                   const std::shared_ptr<Cluster>& cluster,
                                                   const std::vector<ImageState>& examined = {},
                                                   int64_t timeout_ns = 20'000'000'000);

/// Puts them into the targets of the result (advice unwritten-image is drawn from there).
void add_allocations(const std::map<std::string, Allocation>& allocations, RunResult& result);

/// Bytes of data (not holes) of a file in [from, to). 0 when it cannot be opened.
uint64_t file_data_bytes(const std::string& path, uint64_t from, uint64_t to);

}  // namespace cephmark
