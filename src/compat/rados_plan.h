// rados_plan: a `bench` command line of rados, and what was found in the pool for it -> Plan and
// the report that belongs to it. One VM without a name, one job. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compat/rados_arguments.h"
#include "fleet/bench_runs.h"
#include "job/plan.h"
#include "output/rados_bench_report.h"

namespace cephmark {

/// A run as it is to be carried out: the command line's, settled with what is in the pool.
struct RadosBenchRun {
  std::string run_name;  ///< of the record
  std::string prefix;    ///< of the objects
  BenchLayout layout;
  /// Write runs: at most so many (the record counts in 32 bits); read runs: so many were written.
  uint64_t ops = 0;
  std::string contents = "z", parts = "object";
  bool compat = false;  ///< the record of the run before may have the same name: it is kept
};

/// The most ops that a write run may come to: by its number of objects, by `max_bytes` of room
/// (UINT64_MAX: enough), and by what the record can count.
uint64_t most_ops(const RadosArguments& arguments, const BenchLayout& layout, uint64_t max_bytes);

/// "object,omap" of --object and so on; "" when none of them was given.
std::string parts_text(const RadosBenchParts& parts);

/// Not filled in: seed. The objects of a write run stay with --no-cleanup and --reuse-bench, else
/// the run's manifest has them.
Plan make_rados_bench_plan(const RadosArguments& arguments, const RadosBenchRun& run,
                           const std::vector<std::string>& argv);

RadosBenchReportOptions rados_bench_report_options(const RadosArguments& arguments,
                                                   const RadosBenchRun& run);

}  // namespace cephmark
