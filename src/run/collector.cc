#include "run/collector.h"

#include <utility>

namespace cephmark {

void Collector::add(const SegmentSample& sample) {
  const std::lock_guard lock(mutex_);
  for (int op = 0; op < kOpCount; ++op) {
    fresh_.errors[op] += sample.errors[op];
    const Histogram& response = sample.response[op];
    if (response.empty()) continue;
    // end_fsync: behind all that was measured.
    const bool is_end_flush =
        sample.phase == PhaseKind::kDrain && static_cast<Op>(op) == Op::kFlush;
    if (is_end_flush) continue;
    fresh_.ios[op] += response.count();
    fresh_.bytes[op] += sample.bytes[op];
    all_ios_[op] += response.count();
    all_bytes_[op] += sample.bytes[op];
    fresh_.response.merge(response);
    if (sample.phase != PhaseKind::kMeasure) continue;
    size_t index = sample.slot * slot_ns_ / interval_ns_;
    while (index >= kMaxIntervals) {
      halve();
      index = sample.slot * slot_ns_ / interval_ns_;
    }
    if (intervals_[op].size() <= index) intervals_[op].resize(index + 1);
    intervals_[op][index].merge(response);
  }
}

void Collector::halve() {
  for (auto& intervals : intervals_) {
    for (size_t i = 0; i < intervals.size(); ++i) {
      if (i % 2 == 1)
        intervals[i / 2].merge(intervals[i]);
      else if (i > 0)
        intervals[i / 2] = std::move(intervals[i]);
    }
    intervals.resize((intervals.size() + 1) / 2);
  }
  interval_ns_ *= 2;
}

void Collector::take_fresh(TickSample& tick) {
  const std::lock_guard lock(mutex_);
  tick.ios = fresh_.ios;
  tick.bytes = fresh_.bytes;
  tick.errors = fresh_.errors;
  tick.response = std::exchange(fresh_.response, Histogram());
  fresh_ = TickSample();
}

void Collector::finish(RunResult& result) {
  const std::lock_guard lock(mutex_);
  result.interval_response = std::move(intervals_);
  result.interval_slot_ns = interval_ns_;
  ClusterWitness& witness = result.witness;
  witness.client_reads = all_ios_[op_index(Op::kRead)];
  witness.client_read_bytes = all_bytes_[op_index(Op::kRead)];
  // Trims and write-zeroes are operations of the OSDs without any bytes.
  witness.client_write_bytes = all_bytes_[op_index(Op::kWrite)];
  for (const Op op : {Op::kWrite, Op::kTrim, Op::kWriteZeroes})
    witness.client_writes += all_ios_[op_index(op)];
}

}  // namespace cephmark
