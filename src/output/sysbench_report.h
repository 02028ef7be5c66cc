// SysbenchReport: what sysbench's fileio prints while and after it runs, in the layout of 1.0 or
// 1.1, live lines included. Owned by the command; writes to the stream it was made with as the run
// goes on; one thread at a time.
#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include "output/writer.h"

namespace cephmark {

struct SysbenchReportOptions {
  bool new_layout = false;  ///< of sysbench 1.1
  bool extra = false;       ///< percentiles of each kind of I/O behind sysbench's own text
  bool histogram = false;
  int percentile = 95;             ///< 0: none
  int64_t report_interval_ns = 0;  ///< 0: no live lines
  /// What is wrong with a block whose check failed, in whole lines; may be empty.
  std::function<std::string(const ErrorSample&)> tell_mismatch = nullptr;
};

std::unique_ptr<Writer> make_sysbench_report(std::ostream& out,
                                             const SysbenchReportOptions& options);

}  // namespace cephmark
