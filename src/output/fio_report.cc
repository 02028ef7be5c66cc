#include "output/fio_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "output/fio_format.h"
#include "output/fio_json.h"
#include "output/fio_normal.h"
#include "output/fio_number.h"
#include "output/fio_terse.h"

namespace cephmark {
namespace {

std::string size_range(const BlockSizes& sizes) {
  uint64_t low = sizes.min_bytes, high = sizes.max_bytes;
  for (const auto& split : sizes.splits) {
    low = std::min(low, split.bytes);
    high = std::max(high, split.bytes);
  }
  return fmt::format("{}-{}", fio_number(low, 4, FioScale::kBinary, "B"),
                     fio_number(high, 4, FioScale::kBinary, "B"));
}

std::string job_banner(const JobSpec& job) {
  const std::string rw = job.rw.name == "readwrite" ? "rw" : job.rw.name;
  std::string line =
      fmt::format("{}: (g={}): rw={}, bs=(R) {}, (W) {}, (T) {}, ioengine={}, iodepth={}\n",
                  job.name, job.group, rw, size_range(job.block_sizes[op_index(Op::kRead)]),
                  size_range(job.block_sizes[op_index(Op::kWrite)]),
                  size_range(job.block_sizes[op_index(Op::kTrim)]), job.ioengine, job.iodepth);
  return job.numjobs > 1 ? line + "...\n" : line;
}

/// "1 thread and 2 processes"
std::string starting(int threads, int processes) {
  std::string text;
  if (threads > 0) text = fmt::format("{} thread{}", threads, threads == 1 ? "" : "s");
  if (processes > 0)
    text += fmt::format("{}{} process{}", threads > 0 ? " and " : "", processes,
                        processes == 1 ? "" : "es");
  return text;
}

class FioReport final : public Writer {
 public:
  FioReport(std::ostream& out, const FioFormats& formats) : out_(out), formats_(formats) {}

  void begin(const Plan& plan) override {
    if (formats_.normal) out_ << fio_banner(plan) << std::flush;
  }

  void end(const RunResult& result) override {
    const Json document = fio_json_document(result, {.bins = formats_.bins});
    if (formats_.terse) out_ << fio_terse_text(document, formats_.terse_version);
    if (formats_.json) {
      // fio puts an empty line before the document when both go to one stream.
      if (formats_.normal) out_ << "\n";
      out_ << fio_format(document);
    }
    if (formats_.normal) out_ << fio_normal_text(document, fio_job_headers(result));
    out_ << std::flush;
  }

 private:
  std::ostream& out_;
  FioFormats formats_;
};

}  // namespace

std::string fio_banner(const Plan& plan) {
  std::string text;
  int threads = 0, processes = 0;
  for (const auto& vm : plan.vms)
    for (const auto& job : vm.jobs) {
      text += job_banner(job);
      (job.thread ? threads : processes) += job.numjobs;
    }
  return fmt::format("{}{}\nStarting {}\n", text, fio_version_text(), starting(threads, processes));
}

std::unique_ptr<Writer> make_fio_report(std::ostream& out, const FioFormats& formats) {
  return std::make_unique<FioReport>(out, formats);
}

}  // namespace cephmark
