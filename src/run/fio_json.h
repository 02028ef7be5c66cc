// FioJson: reads what fio 3 printed with --output-format=json or json+ back into our result types.
// Pure functions. fio's document is read leniently: text around it, repeated keys ("job options" of
// a repeated option) and numbers that are not finite are fio's, not ours.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "job/plan.h"
#include "result/run_result.h"

namespace cephmark {

// Moving a Json throws nothing, though its checks of itself look like it.
struct FioOutput {                 // NOLINT(bugprone-exception-escape)
  Json document;                   ///< null: there is none
  std::vector<std::string> notes;  ///< the lines around it: error messages mostly
};

/// Splits fio's output. Of several documents (SIGUSR1, --status-interval) the last one counts.
/// Throws Error (`what` names the file) when a document is there and cannot be read.
FioOutput split_fio_output(const std::string& text, const std::string& what);

/// One section of the VM's plan, all its entries in fio's report merged.
struct FioJob {
  JobResult result;  ///< without phases: fio does not say when it measured
  int64_t runtime_ns =
      0;  ///< length of the measured window (longest of its entries and directions)
  int64_t start_wall_ns = 0;  ///< fio's job_start (newer than 3.33), before any ramp; 0: not told
};

struct FioReading {
  std::vector<FioJob> jobs;  ///< by section
  bool exact = true;         ///< false: some histogram had to be rebuilt
  std::vector<Taint> taints;
  int64_t printed_wall_ns = 0;  ///< when fio wrote its report; 0: not told
};

/// Maps the entries of "jobs" onto the sections of `vm` by name and order. A section that has no
/// entry of its own because fio merged it into another (group_reporting) is told in `taints`.
/// Throws Error on a malformed document.
FioReading read_fio_result(const FioOutput& output, const VmPlan& vm, const std::string& what);

/// "fio: io_u error on file x: Input/output error: write offset=4096, buflen=512" -> what it says;
/// op kRead, error 0 and length 0 for any other line.
ErrorSample parse_fio_error_line(const std::string& line);

}  // namespace cephmark
