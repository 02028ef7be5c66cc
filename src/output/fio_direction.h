// fio_direction: the "read", "write", "trim" and "sync" objects of fio's JSON. Pure functions.
#pragma once

#include <array>
#include <map>

#include "base/json.h"
#include "result/figures.h"

namespace cephmark {

/// KiB/s of each reporting group (JobSpec::group) per direction: what bw_agg is a share of.
using FioGroupRates = std::map<int, std::array<double, kDirectionCount>>;
FioGroupRates fio_group_rates(const std::vector<JobFigures>& jobs);

Json fio_direction(const JobFigures& job, Op op, const FioGroupRates& rates, bool bins);
Json fio_sync(const JobFigures& job, bool bins);

}  // namespace cephmark
