// RadosBenchReport: what `rados bench` prints: the table as the run goes on and the summary, or one
// JSON or XML document. Owned by the command; writes to the streams it was made with; one thread at
// a time. docs/rados-bench.md tells what differs from the original.
#pragma once

#include <cstdint>
#include <memory>
#include <ostream>
#include <string>

#include "output/writer.h"

namespace cephmark {

enum class RadosBenchFormat : uint8_t { kPlain, kJson, kJsonPretty, kXml };

struct RadosBenchReportOptions {
  RadosBenchFormat format = RadosBenchFormat::kPlain;
  bool compat = true;         ///< plain: the original's text; else with percentiles and units
  bool json_strings = false;  ///< JSON values are strings, as the original's
  bool show_time = false;     ///< plain: lines begin with the time
  bool hints = true;
  bool writes = true;  ///< else reads
  unsigned concurrent_ios = 16;
  uint64_t op_size_bytes = 4 << 20, object_size_bytes = 4 << 20;
  int64_t seconds = 0;  ///< negative: no limit
  uint64_t max_objects = 0;
  std::string run_name;            ///< of the record; empty: none (not in compat)
  std::string object_prefix;       ///< "benchmark_data_HOST_PID"
  int64_t (*wall_ns)() = nullptr;  ///< null: the clock
};

/// "2026-11-30T18:48:07.692313+0000", as Ceph writes local times: what --show-time begins lines
/// with.
std::string ceph_time_text(int64_t wall_ns);

/// A document (JSON, XML) is the only thing that `out` gets, whole, at the end.
std::unique_ptr<Writer> make_rados_bench_report(std::ostream& out,
                                                const RadosBenchReportOptions& options);

}  // namespace cephmark
