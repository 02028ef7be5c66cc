// rados_bench_text: the plain text of `rados bench`, line by line, in the original's layout and in
// ours. Pure functions. Internal to the report.
#pragma once

#include <string>

#include "output/rados_bench_figures.h"
#include "output/rados_bench_report.h"

namespace cephmark {

/// What stands above the table: hints, and of a write run what is written and under which names.
std::string rados_bench_opening(const RadosBenchReportOptions& options);
std::string rados_bench_heading(bool compat);
std::string rados_bench_row_text(const RadosBenchRow& row, bool compat);
/// "min lat: 0.001 max lat: 0.02 avg lat: 0.003", without a newline.
std::string rados_bench_latencies(const Histogram& latency);
std::string rados_bench_summary_text(const RadosBenchSummary& summary,
                                     const RadosBenchReportOptions& options);

}  // namespace cephmark
