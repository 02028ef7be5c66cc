#include "workload/offset_source.h"

#include <array>

#include "base/check.h"

namespace cephmark {
namespace {

using Kind = Distribution::Kind;

constexpr std::array<DistributionRow, 7> kRows = {{
    {"random", "every block once per pass, in random order", Kind::kUniform, true,
     make_covering_source},
    {"norandommap", "every block equally likely, each drawn on its own", Kind::kUniform, false,
     make_uniform_source},
    {"zipf", "block of rank k with a chance as k^-theta, hot blocks scattered", Kind::kZipf, false,
     make_zipf_source},
    {"pareto", "a share h of the blocks gets 1-h of the accesses, hot blocks scattered",
     Kind::kPareto, false, make_pareto_source},
    {"normal", "bell curve with a deviation in per cent of the blocks, scattered", Kind::kNormal,
     false, make_normal_source},
    {"zoned", "shares of the accesses go to shares of the region", Kind::kZoned, false,
     make_zoned_source},
    {"zoned_abs", "shares of the accesses go to zones given in bytes", Kind::kZonedAbsolute, false,
     make_zoned_source},
}};

}  // namespace

std::span<const DistributionRow> distribution_table() {
  return kRows;
}

const DistributionRow& distribution_row(const Distribution& distribution, bool norandommap) {
  const bool covers = distribution.kind == Kind::kUniform && !norandommap;
  for (const auto& row : kRows)
    if (row.kind == distribution.kind && row.covers == covers) return row;
  CEPHMARK_CHECK(false, "a distribution without a row");
}

}  // namespace cephmark
