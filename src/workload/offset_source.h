// OffsetSource: where random operations go: numbers of blocks in [0, blocks). One per lane (and
// direction, where these differ), used by one thread at a time. Sources fill batches, so that a
// virtual call costs nothing per operation. A new distribution is a foo_source.cc and a row in
// offset_source.cc; the contract test runs over the rows. Sequential jobs have no source: they go
// on from where the last operation of their direction ended (workload.cc).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "job/job_spec.h"

namespace cephmark {

class OffsetSource {
 public:
  virtual ~OffsetSource() = default;
  /// Fills `out` from its front; returns how many. Fewer than asked for only from a source that
  /// covers: every block was given once in this pass.
  virtual size_t next(std::span<uint64_t> out) noexcept = 0;
  /// Starts over with pass `pass` (in another order for a source that covers). Others go on as they
  /// were.
  virtual void begin_pass(uint64_t pass) noexcept { static_cast<void>(pass); }
};

struct OffsetSetup {
  uint64_t blocks = 1;          ///< at least 1
  uint64_t block_bytes = 4096;  ///< zoned_abs has its zones in bytes
  Distribution distribution;
  uint64_t seed = 0;
};

struct DistributionRow {
  std::string_view name;  ///< as in random_distribution=; "random" with a map has the name "random"
  std::string_view summary;  ///< one line, for docs/job-file
  Distribution::Kind kind;
  bool covers = false;  ///< gives every block once per pass
  /// Throws UsageError for parameters out of their domain, or zones that do not fit.
  std::unique_ptr<OffsetSource> (*create)(const OffsetSetup& setup) = nullptr;
};

std::span<const DistributionRow> distribution_table();
/// The row for random_distribution= of one direction. norandommap and every distribution that is
/// not uniform draw independently (fio.md 6.6).
const DistributionRow& distribution_row(const Distribution& distribution, bool norandommap);

// The factories, each in its own file.
std::unique_ptr<OffsetSource> make_covering_source(const OffsetSetup& setup);
std::unique_ptr<OffsetSource> make_uniform_source(const OffsetSetup& setup);
std::unique_ptr<OffsetSource> make_zipf_source(const OffsetSetup& setup);
std::unique_ptr<OffsetSource> make_pareto_source(const OffsetSetup& setup);
std::unique_ptr<OffsetSource> make_normal_source(const OffsetSetup& setup);
std::unique_ptr<OffsetSource> make_zoned_source(const OffsetSetup& setup);

}  // namespace cephmark
