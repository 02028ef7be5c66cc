// OpSource: read, write or trim. Never an operation that the job does not contain. One per lane; no
// allocation.
#pragma once

#include <cmath>
#include <cstdint>

#include "base/rng.h"
#include "job/job_spec.h"

namespace cephmark {

class OpSource {
 public:
  OpSource(const JobSpec& job, uint64_t seed) noexcept : rng_(seed) {
    const RwMode& rw = job.rw;
    only_ = rw.reads ? Op::kRead : rw.writes ? Op::kWrite : Op::kTrim;
    mixed_ = rw.reads && rw.writes;
    // rwmixread is per cent of the operations' count, each drawn on its own (fio.md 6.9).
    reads_below_ = job.rwmixread >= 100 ? UINT64_MAX
                   : job.rwmixread <= 0
                       ? 0
                       : static_cast<uint64_t>(std::ldexp(job.rwmixread / 100.0, 64));
    all_reads_ = job.rwmixread >= 100;
    if (job.rw_ratio) ratio_ = *job.rw_ratio;
  }

  bool is_mixed() const noexcept { return mixed_; }
  Op next() noexcept {
    if (!mixed_) return only_;
    if (ratio_ >= 0) return next_by_ratio();
    return all_reads_ || rng_.next() < reads_below_ ? Op::kRead : Op::kWrite;
  }

 private:
  /// sysbench's rule: a read as long as there are fewer of them, per write, than is wanted.
  Op next_by_ratio() noexcept {
    const bool reads = (reads_ + 1) / (writes_ + 1) < ratio_;
    ++(reads ? reads_ : writes_);
    return reads ? Op::kRead : Op::kWrite;
  }

  Rng rng_;
  Op only_ = Op::kRead;
  bool mixed_ = false;
  bool all_reads_ = false;
  uint64_t reads_below_ = 0;
  double ratio_ = -1;  ///< below 0: none
  double reads_ = 0, writes_ = 0;
};

}  // namespace cephmark
