// RbdBenchReport: what `rbd bench` prints while and after it runs; without `compat` latencies
// behind it. Owned by the command; writes to the stream it was made with as the run goes on; one
// thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <ostream>
#include <string>

#include "output/writer.h"

namespace cephmark {

struct RbdBenchReportOptions {
  bool compat = true;
  bool reads = false, writes = true;
  unsigned read_percent = 50;  ///< of a mix
  uint64_t io_size_bytes = 4096, io_total_bytes = uint64_t{1} << 30;
  bool total_is_limit = true;  ///< else only a run time ends the run
  unsigned io_threads = 16;
  std::string pattern;  ///< "sequential", "random", "full sequential"
};

std::unique_ptr<Writer> make_rbd_bench_report(std::ostream& out,
                                              const RbdBenchReportOptions& options);

}  // namespace cephmark
