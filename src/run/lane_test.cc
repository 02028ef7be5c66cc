// Lanes and workers under a clock that the test moves, and an engine that does what the test says:
// response times come out as arithmetic says, whatever the machine does. The last tests use real
// threads, for TSan.

#include "run/lane.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "base/time.h"
#include "run/worker.h"

namespace cephmark {
namespace {

int64_t clock_ns = 0;
int64_t test_clock() {
  return clock_ns;
}

// What the scripted engine does with its n-th request.
struct Answer {
  int64_t completed_ns = INT64_MAX;  // INT64_MAX: never
  int64_t result = 0;
};
using Script = std::function<Answer(const IoRequest& request, int index)>;

class ScriptedPort : public Port {
 public:
  explicit ScriptedPort(Script script) : script_(std::move(script)) {}
  int flush() noexcept override { return 0; }
  int reap(std::span<IoRequest*> out) noexcept override {
    size_t count = 0;
    while (!waiting_.empty() && waiting_.begin()->first <= clock_ns && count < out.size()) {
      out[count++] = waiting_.begin()->second;
      waiting_.erase(waiting_.begin());
    }
    return static_cast<int>(count);
  }
  void wait(int, int64_t) noexcept override {}
  void take(IoRequest& request) {
    const Answer answer = script_(request, taken_++);
    request.completed_ns = answer.completed_ns;
    request.result = answer.result;
    waiting_.emplace(answer.completed_ns, &request);
  }
  int64_t next_ns() const { return waiting_.empty() ? INT64_MAX : waiting_.begin()->first; }
  int taken() const { return taken_; }

 private:
  const Script script_;
  std::multimap<int64_t, IoRequest*> waiting_;
  int taken_ = 0;
};

class ScriptedQueue : public IoQueue {
 public:
  explicit ScriptedQueue(ScriptedPort& port) : port_(port) {}
  int submit(std::span<IoRequest* const> batch) noexcept override {
    for (IoRequest* request : batch) port_.take(*request);
    return static_cast<int>(batch.size());
  }

 private:
  ScriptedPort& port_;
};

// `total` 4 KiB reads at rising offsets; interval_ns 0: closed loop.
class CountedSource : public LaneSource {
 public:
  CountedSource(int total, int64_t interval_ns) : total_(total), interval_ns_(interval_ns) {}
  void start(int64_t now_ns) override { next_due_ns_ = now_ns; }
  int next_batch(std::span<IoRequest* const> slots, int64_t now_ns) noexcept override {
    int filled = 0;
    for (IoRequest* request : slots) {
      if (given_ == total_ || (interval_ns_ && next_due_ns_ > now_ns)) break;
      request->op = Op::kRead;
      request->offset = 4096ull * given_++;
      request->length = 4096;
      request->due_ns = interval_ns_ ? next_due_ns_ : now_ns;
      next_due_ns_ += interval_ns_;
      ++filled;
    }
    return filled;
  }
  bool exhausted() const noexcept override { return given_ == total_; }
  int64_t next_due_ns() const noexcept override {
    return exhausted() ? kNever_ns : interval_ns_ ? next_due_ns_ : INT64_MIN;
  }
  bool open_loop() const noexcept override { return interval_ns_ != 0; }

 private:
  const int total_;
  const int64_t interval_ns_;
  int64_t next_due_ns_ = 0;
  int given_ = 0;
};

constexpr int kEndless = 1'000'000'000;

// One lane on one worker on a scripted engine.
class Bed {
 public:
  Bed(LaneSetup setup, int total, int64_t interval_ns, Script script)
      : collector_(kSlot_ns), worker_(CompletionMode::kPolled, control_) {
    clock_ns = kEpoch_ns;
    setup.ops = {Op::kRead};
    setup.clock = test_clock;
    auto port = std::make_unique<ScriptedPort>(std::move(script));
    port_ = port.get();
    worker_.set_port(std::move(port));
    lane_ = std::make_unique<Lane>(
        setup, RecorderSetup{.slot_ns = kSlot_ns, .open_loop = interval_ns != 0},
        std::make_unique<CountedSource>(total, interval_ns), nullptr, control_, collector_);
    lane_->set_queue(std::make_unique<ScriptedQueue>(*port_));
    worker_.add(*lane_);
    control_.set_epoch(kEpoch_ns);
  }

  void release(int stage = 0) { control_.release_stage(stage, clock_ns, 1); }

  // Moves the clock from event to event until the lane is done or `until_ns` (from the epoch) is
  // reached.
  void run(int64_t until_ns = INT64_MAX - kEpoch_ns) {
    for (int turns = 0; turns < 1'000'000; ++turns) {
      const int64_t timer_ns = worker_.turn();
      if (lane_->done()) return;
      if (timer_ns == 0) continue;
      const int64_t next_ns = std::min(timer_ns, port_->next_ns());
      if (next_ns > until_ns + kEpoch_ns) {
        clock_ns = until_ns + kEpoch_ns;
        return;
      }
      clock_ns = std::max(clock_ns, next_ns);
    }
    ADD_FAILURE() << "the lane goes round in circles";
  }

  JobResult result() const { return lane_->result(); }
  const OpResult reads() const {
    return result().find(Op::kRead) ? *result().find(Op::kRead) : OpResult();
  }
  Lane& lane() { return *lane_; }
  RunControl& control() { return control_; }
  Collector& collector() { return collector_; }
  int taken() const { return port_->taken(); }

  static constexpr int64_t kEpoch_ns = 1'000 * kNsPerSecond;
  static constexpr int64_t kSlot_ns = 50 * kNsPerMs;

 private:
  RunControl control_;
  Collector collector_;
  Worker worker_;
  ScriptedPort* port_ = nullptr;
  std::unique_ptr<Lane> lane_;
};

Script takes(int64_t service_ns) {
  return [=](const IoRequest& request, int) {
    return Answer{clock_ns + service_ns, static_cast<int64_t>(request.length)};
  };
}

const PhaseSpan* phase(const JobResult& result, PhaseKind kind) {
  for (const PhaseSpan& span : result.phases)
    if (span.kind == kind) return &span;
  return nullptr;
}

// NUM-05: response times hold the backlog, service times the stalled requests only.
TEST(Lane, AStallUnderAFixedRateGivesTheResponseTimesOfArithmetic) {
  // 100 I/Os/s, 1 ms each, one at a time; what is submitted at 200..699 ms comes back at 700 ms.
  constexpr int kCount = 200;
  constexpr int64_t kInterval = 10 * kNsPerMs, kService = kNsPerMs, kFrom = 200 * kNsPerMs,
                    kTo = 700 * kNsPerMs;
  const auto done_at = [](int64_t start_ns) {
    return start_ns >= kFrom && start_ns < kTo ? kTo : start_ns + kService;
  };
  Bed bed({.depth = 1}, kCount, kInterval, [&](const IoRequest& request, int) {
    return Answer{Bed::kEpoch_ns + done_at(clock_ns - Bed::kEpoch_ns),
                  static_cast<int64_t>(request.length)};
  });
  bed.release();
  bed.run();

  Histogram response, service;
  int64_t free_ns = 0;
  uint64_t late = 0;
  for (int i = 0; i < kCount; ++i) {
    const int64_t due_ns = i * kInterval, start_ns = std::max(due_ns, free_ns);
    free_ns = done_at(start_ns);
    response.add(free_ns - due_ns);
    service.add(free_ns - start_ns);
    late += start_ns - due_ns > Recorder::kLate_ns;
  }
  const OpResult reads = bed.reads();
  EXPECT_EQ(reads.ios, uint64_t{kCount});
  EXPECT_EQ(reads.response.to_json(), response.to_json());
  EXPECT_EQ(reads.service.to_json(), service.to_json());
  EXPECT_EQ(reads.response.max_ns(), kTo - kFrom);
  EXPECT_EQ(reads.late, late);
  EXPECT_GT(late, 40u);
  EXPECT_TRUE(bed.result().finished);
}

TEST(Lane, WhatCompletesInTheWindowCountsAndNothingElse) {
  Bed bed({.depth = 1, .ramp_ns = 100 * kNsPerMs, .runtime_ns = 200 * kNsPerMs}, kEndless, 0,
          takes(kNsPerMs));
  bed.release();
  bed.run();
  const JobResult result = bed.result();
  const OpResult reads = bed.reads();
  // Completions at 1, 2, ... 300 ms: those of 100 .. 299 are inside.
  EXPECT_EQ(reads.ios, 200u);
  EXPECT_EQ(reads.bytes, 200u * 4096);
  EXPECT_EQ(result.issued, 300u);
  ASSERT_NE(phase(result, PhaseKind::kWarmup), nullptr);
  EXPECT_EQ(phase(result, PhaseKind::kWarmup)->end_ns, 100 * kNsPerMs);
  EXPECT_EQ(result.measured_ns(), 200 * kNsPerMs);
  uint64_t in_slots = 0;
  for (const SlotSample& slot : reads.series.slots()) in_slots += slot.ios;
  EXPECT_EQ(in_slots, reads.ios);
  ASSERT_EQ(reads.series.slots().size(), 6u);
  EXPECT_EQ(reads.series.slots()[1].ios, 0u);
  EXPECT_EQ(reads.series.slots()[2].ios, 50u);
  EXPECT_TRUE(result.finished);
}

TEST(Lane, TheDrainIsBoundedAndCountedApart) {
  // 8 in flight, 30 ms each, deadline at 100 ms: the fourth wave completes at 120 ms.
  Bed bed({.depth = 8, .runtime_ns = 100 * kNsPerMs}, kEndless, 0, takes(30 * kNsPerMs));
  bed.release();
  bed.run();
  EXPECT_EQ(bed.reads().ios, 24u);
  EXPECT_EQ(bed.result().issued, 32u);
  ASSERT_NE(phase(bed.result(), PhaseKind::kDrain), nullptr);
  EXPECT_EQ(phase(bed.result(), PhaseKind::kDrain)->end_ns, 120 * kNsPerMs);
  EXPECT_EQ(bed.result().depths.depth[3], 32u);  // 8..15 in flight
  EXPECT_EQ(bed.result().abandoned, 0);
}

TEST(Lane, AllIoOfASizeBoundJobCounts) {
  Bed bed({.depth = 4}, 10, 0, takes(7 * kNsPerMs));
  bed.release();
  bed.run();
  EXPECT_EQ(bed.reads().ios, 10u);
  EXPECT_EQ(bed.result().measured_ns(), 21 * kNsPerMs);
  EXPECT_EQ(phase(bed.result(), PhaseKind::kDrain), nullptr);
  EXPECT_TRUE(bed.result().finished);
}

TEST(Lane, AnErrorStopsTheJobAndWhatIsInFlightIsRecorded) {
  Bed bed({.depth = 4}, kEndless, 0, [](const IoRequest& request, int index) {
    return Answer{clock_ns + (index + 1) * kNsPerMs,
                  index == 5 ? -EIO : static_cast<int64_t>(request.length)};
  });
  bed.release();
  bed.run();
  const JobResult result = bed.result();
  EXPECT_FALSE(result.finished);
  ASSERT_EQ(result.error_samples.size(), 1u);
  EXPECT_EQ(result.error_samples[0].error, EIO);
  EXPECT_EQ(result.error_samples[0].offset, 5u * 4096);
  EXPECT_EQ(bed.reads().errors.at(EIO), 1u);
  EXPECT_EQ(result.issued, static_cast<uint64_t>(bed.taken()));
  // Those behind the error complete in the drain; none is issued any more, none is lost.
  EXPECT_EQ(bed.lane().in_flight(), 0u);
}

TEST(Lane, AShortReadIsContinuedAndCountsOnce) {
  Bed bed({.depth = 1}, 1, 0, [](const IoRequest& request, int index) {
    if (index == 0) {
      EXPECT_EQ(request.length, 4096u);
      return Answer{clock_ns + kNsPerMs, 1024};
    }
    EXPECT_EQ(request.offset, 1024u);
    EXPECT_EQ(request.length, 3072u);
    return Answer{clock_ns + kNsPerMs, 3072};
  });
  bed.release();
  bed.run();
  EXPECT_EQ(bed.taken(), 2);
  EXPECT_EQ(bed.reads().ios, 1u);
  EXPECT_EQ(bed.reads().bytes, 4096u);
  EXPECT_EQ(bed.reads().short_ios, 1u);
  EXPECT_EQ(bed.reads().response.max_ns(), 2 * kNsPerMs);
}

TEST(Lane, AReadOfNothingIsAnError) {
  Bed bed({.depth = 1}, 3, 0, [](const IoRequest&, int) { return Answer{clock_ns + kNsPerMs, 0}; });
  bed.release();
  bed.run();
  EXPECT_EQ(bed.reads().errors.at(EIO), 1u);
  EXPECT_EQ(bed.taken(), 1);
}

TEST(Lane, AStopIsADeadlineAndMarksTheResult) {
  Bed bed({.depth = 1, .runtime_ns = kNsPerSecond}, kEndless, 0, takes(3 * kNsPerMs));
  bed.release();
  bed.run(100 * kNsPerMs);
  bed.control().stop_at(clock_ns);
  bed.run();
  EXPECT_EQ(bed.reads().ios, 33u);
  EXPECT_EQ(bed.result().measured_ns(), 100 * kNsPerMs);
  EXPECT_FALSE(bed.result().finished);
  EXPECT_TRUE(bed.lane().done());
}

TEST(Lane, RequestsThatNeverComeBackAreAbandonedAfterTheGrace) {
  Bed bed({.depth = 4, .runtime_ns = 100 * kNsPerMs, .drain_grace_ns = kNsPerSecond}, kEndless, 0,
          [](const IoRequest& request, int index) {
            return Answer{index < 2 ? clock_ns + kNsPerMs : INT64_MAX,
                          static_cast<int64_t>(request.length)};
          });
  bed.release();
  bed.run();
  EXPECT_EQ(bed.result().abandoned, 4);
  EXPECT_FALSE(bed.result().finished);
  EXPECT_EQ(clock_ns - Bed::kEpoch_ns, 1100 * kNsPerMs);
}

TEST(Lane, ItsStageIsAwaitedAndTheStartDelayCountsFromThere) {
  Bed bed({.stage = 1, .depth = 1, .startdelay_ns = 50 * kNsPerMs}, 3, 0, takes(kNsPerMs));
  bed.control().release_stage(0, clock_ns, 1);
  bed.run(kNsPerSecond);
  EXPECT_EQ(bed.taken(), 0);
  bed.release(1);
  bed.run();
  ASSERT_NE(phase(bed.result(), PhaseKind::kMeasure), nullptr);
  EXPECT_EQ(phase(bed.result(), PhaseKind::kMeasure)->start_ns, 1050 * kNsPerMs);
  EXPECT_EQ(bed.reads().ios, 3u);
}

TEST(Lane, ARateBelowOneIoPerRuntimeDoesNotHoldUpTheEnd) {
  Bed bed({.depth = 1, .runtime_ns = 5 * kNsPerSecond}, kEndless, 80 * kNsPerSecond,
          takes(kNsPerMs));
  bed.release();
  bed.run();
  EXPECT_EQ(clock_ns - Bed::kEpoch_ns, 5 * kNsPerSecond);
  EXPECT_EQ(bed.reads().ios, 1u);
}

TEST(Lane, EachSecondAddsUp) {
  Bed bed({.depth = 2, .runtime_ns = 500 * kNsPerMs}, kEndless, 0, takes(kNsPerMs));
  bed.release();
  uint64_t ticked = 0;
  for (int i = 1; i <= 10; ++i) {
    bed.run(i * 100 * kNsPerMs);
    TickSample tick;
    bed.collector().take_fresh(tick);
    ticked += tick.ios[op_index(Op::kRead)];
    EXPECT_EQ(tick.response.count(), tick.ios[op_index(Op::kRead)]);
  }
  EXPECT_EQ(ticked, bed.result().issued);
  RunResult result;
  bed.collector().finish(result);
  uint64_t in_intervals = 0;
  for (const Histogram& interval : result.interval_response[op_index(Op::kRead)])
    in_intervals += interval.count();
  EXPECT_EQ(in_intervals, bed.reads().ios);
}

// A library with two threads of its own that complete requests in any order, as librbd does.
class Library {
 public:
  Library() {
    for (int i = 0; i < 2; ++i) threads_.emplace_back([this](std::stop_token stop) { work(stop); });
  }
  ~Library() {
    for (auto& thread : threads_) thread.request_stop();
    news_.notify_all();
  }
  void take(IoRequest& request, Ready& ready) {
    {
      const std::lock_guard lock(mutex_);
      queue_.emplace_back(&request, &ready);
    }
    news_.notify_one();
  }

 private:
  void work(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (true) {
      news_.wait(lock, stop, [&] { return !queue_.empty(); });
      if (queue_.empty()) return;
      auto [request, ready] = queue_.front();
      queue_.pop_front();
      lock.unlock();
      request->completed_ns = monotonic_ns();
      request->result = static_cast<int64_t>(request->length);
      ready->ready(*request);
      lock.lock();
    }
  }
  std::mutex mutex_;
  std::condition_variable_any news_;
  std::deque<std::pair<IoRequest*, Ready*>> queue_;
  std::vector<std::jthread> threads_;
};

class LibraryQueue : public IoQueue {
 public:
  LibraryQueue(Library& library, Ready& ready) : library_(library), ready_(ready) {}
  int submit(std::span<IoRequest* const> batch) noexcept override {
    for (IoRequest* request : batch) {
      request->submitted_ns = monotonic_ns();
      library_.take(*request, ready_);
    }
    return static_cast<int>(batch.size());
  }

 private:
  Library& library_;
  Ready& ready_;
};

class CallbackLanes : public testing::TestWithParam<std::tuple<bool, int64_t>> {};

TEST_P(CallbackLanes, EveryRequestIsIssuedAndRecordedOnce) {
  constexpr int kLanes = 6, kTotal = 3'000;
  const auto [hand_over_only, interval_ns] = GetParam();
  RunControl control;
  Collector collector(Series::kDefaultSlot_ns);
  std::vector<std::unique_ptr<Lane>> lanes;
  Worker worker(CompletionMode::kCallback, control);
  Library library;
  for (int i = 0; i < kLanes; ++i) {
    LaneSetup setup{.mode = CompletionMode::kCallback,
                    .depth = 16,
                    .has_submit_latency = true,
                    .hand_over_only = hand_over_only,
                    .callback_budget = static_cast<unsigned>(i % 3)};
    setup.ops = {Op::kRead};
    setup.clock = monotonic_ns;
    lanes.push_back(std::make_unique<Lane>(setup, RecorderSetup{.open_loop = interval_ns != 0},
                                           std::make_unique<CountedSource>(kTotal, interval_ns),
                                           nullptr, control, collector));
    lanes.back()->set_queue(std::make_unique<LibraryQueue>(library, *lanes.back()));
    worker.add(*lanes.back());
  }
  worker.start();
  control.set_epoch(monotonic_ns());
  control.release_stage(0, control.epoch_ns(), kLanes);
  worker.wake();
  const int64_t give_up_ns = monotonic_ns() + 100 * kNsPerSecond;
  while (control.active() > 0 && monotonic_ns() < give_up_ns)
    control.wait_for_news(kNsPerSecond, false);
  EXPECT_EQ(control.active(), 0);
  control.quit();
  worker.wake();
  worker.join();
  for (const auto& lane : lanes) {
    while (!lane->quiet()) std::this_thread::yield();
    const JobResult result = lane->result();
    EXPECT_EQ(result.issued, uint64_t{kTotal});
    ASSERT_NE(result.find(Op::kRead), nullptr);
    EXPECT_EQ(result.find(Op::kRead)->ios, uint64_t{kTotal});
    EXPECT_TRUE(result.finished);
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, CallbackLanes,
                         testing::Combine(testing::Bool(),
                                          testing::Values(int64_t{0}, 20 * kNsPerUs)));

}  // namespace
}  // namespace cephmark
