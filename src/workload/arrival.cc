#include "workload/arrival.h"

#include <algorithm>
#include <cmath>

namespace cephmark {
namespace {
/// Far enough for any run, and far from INT64_MAX so that sums of times stay in range.
constexpr int64_t kNever_ns = INT64_MAX / 4;
constexpr uint64_t kBillion = 1'000'000'000;
constexpr uint64_t kPhaseStream = 0x7068617365;

int64_t capped(unsigned __int128 ns) {
  return static_cast<int64_t>(std::min<unsigned __int128>(ns, static_cast<uint64_t>(kNever_ns)));
}
}  // namespace

Arrival::Arrival(const JobSpec& job, uint64_t seed)
    : rng_(seed), poisson_(job.rate_process == RateProcess::kPoisson) {
  for (const Op op : {Op::kRead, Op::kWrite, Op::kTrim}) {
    if (!job.has_op(op)) continue;
    const int i = op_index(op);
    Direction& direction = directions_[i];
    direction.in_bytes = job.rate_iops[i] == 0;
    direction.rate = direction.in_bytes ? job.rate_bytes_per_s[i] : job.rate_iops[i];
    direction.mean_bytes = (job.block_sizes[i].min_bytes + job.block_sizes[i].max_bytes) / 2;
    any_ = any_ || direction.rate != 0;
  }
  if (job.event_rate > 0) event_gap_ns_ = 1e9 / job.event_rate;
  if (!poisson_) phase_billionths_ = Rng(Rng::derive(seed, kPhaseStream)).below(kBillion);
}

void Arrival::start(int64_t epoch_ns) noexcept {
  if (has_event_rate()) {
    event_due_ns_ = epoch_ns;
    event_fraction_ = 0;
    if (poisson_)
      advance_event();
    else
      event_due_ns_ += static_cast<int64_t>(event_gap_ns_ * static_cast<double>(phase_billionths_) /
                                            static_cast<double>(kBillion));
  }
  for (Direction& direction : directions_) {
    direction.due_ns = epoch_ns;
    direction.remainder = 0;
    direction.fraction = 0;
    if (direction.rate == 0) continue;
    const uint64_t cost = direction.in_bytes ? direction.mean_bytes : 1;
    if (poisson_) {
      advance_poisson(direction, cost);
      continue;
    }
    // The phase is part of the exact arithmetic: operation k of a rate in operations is due at
    // (k + phase) / rate, rounded down to a nanosecond.
    const auto scaled = static_cast<unsigned __int128>(cost) * phase_billionths_;
    direction.due_ns = epoch_ns + capped(scaled / direction.rate);
    direction.remainder = static_cast<uint64_t>(scaled % direction.rate);
  }
}

void Arrival::advance(Op op, uint64_t bytes) noexcept {
  Direction& direction = directions_[op_index(op)];
  if (direction.rate == 0) return;
  const uint64_t cost = direction.in_bytes ? bytes : 1;
  if (poisson_) return advance_poisson(direction, cost);
  if (cost != direction.cost) {
    const auto scaled = static_cast<unsigned __int128>(cost) * kBillion;
    direction.cost = cost;
    direction.quotient_ns = capped(scaled / direction.rate);
    direction.gap_remainder = static_cast<uint64_t>(scaled % direction.rate);
  }
  direction.due_ns += direction.quotient_ns;
  direction.remainder += direction.gap_remainder;
  if (direction.remainder >= direction.rate) {
    direction.remainder -= direction.rate;
    ++direction.due_ns;
  }
  direction.due_ns = std::min(direction.due_ns, kNever_ns);
}

void Arrival::advance_poisson(Direction& direction, uint64_t cost) noexcept {
  add_gap(static_cast<double>(cost) * 1e9 / static_cast<double>(direction.rate), direction.due_ns,
          direction.fraction);
}

void Arrival::advance_event() noexcept {
  add_gap(event_gap_ns_, event_due_ns_, event_fraction_);
}

void Arrival::add_gap(double mean_ns, int64_t& due_ns, double& fraction) noexcept {
  // 1 - uniform() is in (0, 1]: the logarithm is finite.
  const double drawn = poisson_ ? -std::log(1.0 - rng_.uniform()) : 1;
  const double gap_ns = std::min(drawn * mean_ns + fraction, static_cast<double>(kNever_ns));
  const double whole_ns = std::floor(gap_ns);
  fraction = gap_ns - whole_ns;
  due_ns = std::min(due_ns + static_cast<int64_t>(whole_ns), kNever_ns);
}

}  // namespace cephmark
