#include "run/recorder.h"

#include <sys/resource.h>

#include <algorithm>
#include <bit>

namespace cephmark {
namespace {

/// 1,2,4,8,16,32,>=64 hold depths from that value up.
int depth_bucket(unsigned depth) {
  return std::min(6, static_cast<int>(std::bit_width(std::max(1u, depth))) - 1);
}
/// 0, 1..4, 5..8, 9..16, 17..32, 33..64, more.
int batch_bucket(unsigned count) {
  if (count == 0) return 0;
  return count <= 4 ? 1 : std::min(6, static_cast<int>(std::bit_width(count - 1)) - 1);
}

}  // namespace

CpuUsage cpu_used(int who) {
  rusage used{};
  getrusage(who, &used);
  const auto ns = [](const timeval& t) { return t.tv_sec * 1'000'000'000 + t.tv_usec * 1'000; };
  return {.user_ns = ns(used.ru_utime),
          .system_ns = ns(used.ru_stime),
          .context_switches = static_cast<uint64_t>(used.ru_nvcsw + used.ru_nivcsw),
          .major_faults = static_cast<uint64_t>(used.ru_majflt),
          .minor_faults = static_cast<uint64_t>(used.ru_minflt)};
}

Recorder::Recorder(const RecorderSetup& setup, Collector& collector)
    : setup_(setup), collector_(collector) {}

void Recorder::reserve(Op op) {
  segment_.response[op_index(op)].reserve();
  if (setup_.open_loop) service_[op_index(op)].reserve();
  if (setup_.has_submit_latency) submit_[op_index(op)].reserve();
}

void Recorder::start(int64_t epoch_ns, int64_t start_ns, int64_t measure_start_ns,
                     int64_t measure_end_ns) noexcept {
  epoch_ns_ = epoch_ns;
  start_ns_ = start_ns;
  measure_start_ns_ = measure_start_ns;
  measure_end_ns_ = measure_end_ns;
  if (measure_start_ns == start_ns) sample_cpu(true);
  open_segment(start_ns);
}

void Recorder::end_measure(int64_t at_ns) noexcept {
  if (at_ns >= measure_end_ns_) return;
  measure_end_ns_ = std::max(at_ns, start_ns_);
  segment_end_ns_ = std::min(segment_end_ns_, measure_end_ns_);
}

void Recorder::open_segment(int64_t now_ns) noexcept {
  const auto slot = std::max<int64_t>(0, relative(now_ns)) / setup_.slot_ns;
  segment_.slot = static_cast<size_t>(slot);
  segment_end_ns_ = epoch_ns_ + (slot + 1) * setup_.slot_ns;
  if (now_ns >= measure_end_ns_) {
    segment_.phase = PhaseKind::kDrain;
  } else if (now_ns >= measure_start_ns_) {
    segment_.phase = PhaseKind::kMeasure;
    segment_end_ns_ = std::min(segment_end_ns_, measure_end_ns_);
  } else {
    segment_.phase = PhaseKind::kWarmup;
    segment_end_ns_ = std::min({segment_end_ns_, measure_start_ns_, measure_end_ns_});
  }
}

void Recorder::turn(int64_t now_ns) noexcept {
  publish();
  const PhaseKind before = segment_.phase;
  open_segment(now_ns);
  if (before == PhaseKind::kWarmup && segment_.phase == PhaseKind::kMeasure) sample_cpu(true);
  if (before == PhaseKind::kMeasure && segment_.phase == PhaseKind::kDrain) sample_cpu(false);
}

void Recorder::sample_cpu(bool begin) noexcept {
  if (!setup_.own_thread) return;
  const CpuUsage now = cpu_used(RUSAGE_THREAD);
  if (begin) {
    cpu_at_start_ = now;
    return;
  }
  cpu_ = {.user_ns = now.user_ns - cpu_at_start_.user_ns,
          .system_ns = now.system_ns - cpu_at_start_.system_ns,
          .context_switches = now.context_switches - cpu_at_start_.context_switches,
          .major_faults = now.major_faults - cpu_at_start_.major_faults,
          .minor_faults = now.minor_faults - cpu_at_start_.minor_faults};
}

void Recorder::publish() noexcept {
  bool any = false;
  for (int op = 0; op < kOpCount; ++op) {
    if (runs_[op].count) segment_.response[op].add(runs_[op].value_ns, runs_[op].count);
    runs_[op] = {};
    any |= !segment_.response[op].empty() || segment_.errors[op] > 0;
  }
  if (!any) return;
  {
    const std::lock_guard lock(totals_mutex_);
    for (int op = 0; op < kOpCount && measuring(); ++op) {
      const Histogram& response = segment_.response[op];
      if (response.empty() && segment_.errors[op] == 0) continue;
      OpResult& total = totals_.op(static_cast<Op>(op));
      if (total.series.slots().empty()) total.series = Series(setup_.slot_ns);
      total.ios += response.count();
      total.bytes += segment_.bytes[op];
      total.response.merge(response);
      total.series.at(segment_.slot)
          .merge({.ios = response.count(),
                  .bytes = segment_.bytes[op],
                  .errors = segment_.errors[op],
                  .response_sum_ns = static_cast<int64_t>(response.sum_ns()),
                  .response_max_ns = response.max_ns()});
    }
  }
  collector_.add(segment_);
  for (int op = 0; op < kOpCount; ++op) {
    if (!segment_.response[op].empty()) segment_.response[op].reset();
    segment_.bytes[op] = segment_.errors[op] = 0;
  }
}

void Recorder::add_service(int op, int64_t service_ns, int64_t late_ns) noexcept {
  if (!measuring()) return;
  service_[op].add(service_ns);
  late_[op] += late_ns > kLate_ns;
}

void Recorder::add_submit(Op op, int64_t ns, uint64_t count) noexcept {
  if (measuring() && count) submit_[op_index(op)].add(ns, count);
}

void Recorder::count_submit(unsigned count, unsigned in_flight) noexcept {
  if (!measuring()) return;
  depths_.depth[depth_bucket(in_flight)] += count;
  ++depths_.submit[batch_bucket(count)];
}

void Recorder::count_complete(unsigned count) noexcept {
  if (measuring()) ++depths_.complete[batch_bucket(count)];
}

void Recorder::count_blocking(uint64_t count) noexcept {
  if (!measuring()) return;
  depths_.depth[depth_bucket(1)] += count;
  depths_.submit[batch_bucket(1)] += count;
  depths_.complete[batch_bucket(1)] += count;
}

void Recorder::add_error(const IoRequest& request, int error) noexcept {
  if (request.completed_ns >= segment_end_ns_) turn(request.completed_ns);
  ++segment_.errors[op_index(request.op)];
  const std::lock_guard lock(totals_mutex_);
  // In every phase: an error is never left out for when it happened.
  ++totals_.op(request.op).errors[error];
  if (totals_.error_samples.size() < kErrorSamples)
    totals_.error_samples.push_back({relative(request.completed_ns), request.op, request.offset,
                                     request.length, error, request.file});
}

void Recorder::finish(int64_t now_ns) noexcept {
  if (measuring()) sample_cpu(false);  // it ends with its window
  publish();
  const std::lock_guard lock(totals_mutex_);
  finished_ = true;
  const auto span = [&](PhaseKind kind, int64_t from_ns, int64_t to_ns) {
    if (to_ns > from_ns) totals_.phases.push_back({kind, 0, relative(from_ns), relative(to_ns)});
  };
  const int64_t measure_end_ns = std::min(measure_end_ns_, now_ns);
  span(PhaseKind::kWarmup, start_ns_, std::min(measure_start_ns_, measure_end_ns));
  span(PhaseKind::kMeasure, measure_start_ns_, measure_end_ns);
  span(PhaseKind::kDrain, std::max(start_ns_, measure_end_ns), now_ns);
}

JobResult Recorder::result() const {
  const std::lock_guard lock(totals_mutex_);
  JobResult out = totals_;
  for (int op = 0; op < kOpCount; ++op) {
    if (!out.ops[op]) continue;
    OpResult& result = *out.ops[op];
    if (!setup_.open_loop) result.service = result.response;
    if (!finished_) continue;  // the rest is still the holder's
    if (setup_.open_loop) result.service = service_[op];
    result.submit = submit_[op];
    result.late = late_[op];
    result.short_ios = short_ios_[op];
  }
  if (finished_) {
    out.depths = depths_;
    out.cpu = cpu_;
  }
  return out;
}

}  // namespace cephmark
