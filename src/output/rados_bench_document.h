// rados_bench_document: the JSON and XML of `rados bench`: the original's keys in its order, values
// that are numbers. Pure functions. Internal to the report.
#pragma once

#include <string>

#include "base/json.h"
#include "output/rados_bench_figures.h"
#include "output/rados_bench_report.h"

namespace cephmark {

/// What is not known is null (with json_strings: "n/a").
Json rados_bench_json(const RadosBenchSummary& summary, const std::vector<RadosBenchRow>& rows,
                      const RadosBenchReportOptions& options);
/// <bench>...</bench> of the same.
std::string rados_bench_xml(const Json& document);

}  // namespace cephmark
