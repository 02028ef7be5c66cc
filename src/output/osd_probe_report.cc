#include "output/osd_probe_report.h"

#include <fmt/format.h>

#include <array>
#include <map>

#include "output/cells.h"
#include "output/osd_table.h"

namespace cephmark {
namespace {

/// A median latency this far above that of its peers is one to look at; less is everyday.
constexpr double kSlow = 0.5;

const Histogram* latency_of(const VmResult& vm, Op op) {
  for (const JobResult& job : vm.jobs)
    if (const OpResult* found = job.find(op); found && found->response.count() > 0)
      return &found->response;
  return nullptr;
}

class OsdProbeReport final : public Writer {
 public:
  explicit OsdProbeReport(std::ostream& out) : out_(out) {}

  void end(const RunResult& result) override {
    TextTable table(
        {"OSD", "HOST", "CLASS", "write p50", "p99", "max", "read p50", "p99", "max", "errors"}, 3);
    bool few = false;
    for (const VmResult& vm : result.vms) {
      const VmPlan& osd = result.plan.vms[static_cast<size_t>(vm.vm)];
      std::vector<std::string> cells = {osd.name, shorten(osd.host, 20), osd.group};
      for (Op op : {Op::kWrite, Op::kRead}) {
        const Histogram* latency = latency_of(vm, op);
        for (const double q : {0.5, 0.99}) {
          cells.push_back(latency ? quantile_text(*latency, q) : "-");
          few |= cells.back().ends_with('*');
        }
        cells.push_back(latency ? max_text(*latency) : "-");
      }
      uint64_t errors = 0;
      for (const JobResult& job : vm.jobs)
        for (const auto& op : job.ops) errors += op ? op->error_count() : 0;
      cells.push_back(std::to_string(errors));
      table.add(std::move(cells));
    }
    out_ << table.text();
    if (few) out_ << kFewSamplesNote << "\n";
    const std::string slow = slow_lines(result, Op::kRead) + slow_lines(result, Op::kWrite);
    out_ << "\n"
         << (slow.empty() ? std::string("no OSD stands out\n") : slow)
         << "Reads are served by the OSD alone, mostly from its cache; a write waits for the "
            "OSD's replicas, too.\n"
         << std::flush;
  }

 private:
  static std::string slow_lines(const RunResult& result, Op op) {
    std::map<std::string, std::vector<const VmResult*>> classes;
    for (const VmResult& vm : result.vms)
      if (latency_of(vm, op))
        classes[result.plan.vms[static_cast<size_t>(vm.vm)].group].push_back(&vm);
    std::string text;
    for (const auto& [name, members] : classes) {
      std::vector<double> medians;
      for (const VmResult* vm : members)
        medians.push_back(static_cast<double>(latency_of(*vm, op)->quantile_ns(0.5)));
      const auto standings = standings_of(medians, kSlow);
      for (size_t i = 0; i < members.size(); ++i)
        if (standings[i].outlier && standings[i].ratio > 1)
          text += fmt::format(
              "{} is slow: its median {} takes {:.1f} times the median of its "
              "class ({})\n",
              result.plan.vms[static_cast<size_t>(members[i]->vm)].name, op_name(op),
              standings[i].ratio, name.empty() ? "none" : name);
    }
    return text;
  }

  std::ostream& out_;
};

}  // namespace

std::unique_ptr<Writer> make_osd_probe_report(std::ostream& out) {
  return std::make_unique<OsdProbeReport>(out);
}

}  // namespace cephmark
