// Zoned offsets: each zone gets its share of the accesses, uniform inside. zoned gives sizes in per
// cent of the region, zoned_abs in bytes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "base/rng.h"
#include "workload/offset_source.h"

namespace cephmark {
namespace {

struct Zone {
  uint64_t below;  ///< of the draw; rising from zone to zone
  uint64_t start;  ///< blocks
  uint64_t blocks;
};

class ZonedSource final : public OffsetSource {
 public:
  ZonedSource(std::vector<Zone> zones, uint64_t seed) : zones_(std::move(zones)), rng_(seed) {}

  size_t next(std::span<uint64_t> out) noexcept override {
    for (uint64_t& block : out) {
      const uint64_t drawn = rng_.next();
      size_t i = 0;
      while (i + 1 < zones_.size() && drawn >= zones_[i].below) ++i;
      block = zones_[i].start + rng_.below(zones_[i].blocks);
    }
    return out.size();
  }

 private:
  std::vector<Zone> zones_;
  Rng rng_;
};

}  // namespace

std::unique_ptr<OffsetSource> make_zoned_source(const OffsetSetup& setup) {
  const Distribution& distribution = setup.distribution;
  const bool absolute = distribution.kind == Distribution::Kind::kZonedAbsolute;
  double access = 0;
  for (const auto& zone : distribution.zones) access += zone.access_percent;
  if (std::abs(access - 100) > 1e-6)
    throw UsageError(
        fmt::format("random_distribution={}: the zones' accesses add up to {} %, not 100 %",
                    absolute ? "zoned_abs" : "zoned", access));
  std::vector<Zone> zones;
  double size_percent = 0, access_before = 0;
  uint64_t bytes = 0;
  for (const auto& zone : distribution.zones) {
    uint64_t start = 0, end = 0;
    if (absolute) {
      start = bytes / setup.block_bytes;
      bytes += zone.size_bytes;
      end = bytes / setup.block_bytes;
    } else {
      start = static_cast<uint64_t>(static_cast<double>(setup.blocks) * size_percent / 100);
      size_percent += zone.size_percent;
      end = static_cast<uint64_t>(static_cast<double>(setup.blocks) * size_percent / 100 + 1e-6);
    }
    access_before += zone.access_percent;
    if (zone.access_percent <= 0) continue;
    if (size_percent > 100 + 1e-6)
      throw UsageError(
          fmt::format("random_distribution=zoned: the zones' sizes add up to more than 100 %"));
    if (start >= setup.blocks)
      throw UsageError(
          fmt::format(
              "random_distribution={}: zone {} starts beyond the region of {} blocks of {} bytes",
              absolute ? "zoned_abs" : "zoned", zones.size() + 1, setup.blocks, setup.block_bytes),
          "make the zones smaller or the region larger");
    end =
        std::clamp(end, start + 1, setup.blocks);  // a zone below one block still gets its accesses
    const double below = std::ldexp(access_before / 100, 64);
    zones.push_back({below >= 0x1.fffffffffffffp63 ? UINT64_MAX : static_cast<uint64_t>(below),
                     start, end - start});
  }
  return std::make_unique<ZonedSource>(std::move(zones), setup.seed);
}

}  // namespace cephmark
