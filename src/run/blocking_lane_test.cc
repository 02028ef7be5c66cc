// Lanes of blocking engines: several requests go to one call, yet depth, deadlines, errors and
// short I/O come out as if they went one at a time.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "base/time.h"
#include "run/lane.h"
#include "run/worker.h"

namespace cephmark {
namespace {

constexpr int64_t kEpoch_ns = 1'000'000'000'000, kEach_ns = 10 * kNsPerUs;
constexpr unsigned kBatch = 16;

int64_t clock_ns = 0;

// Endless or `total` reads of 4 KiB.
class Reads : public LaneSource {
 public:
  explicit Reads(int total) : total_(total) {}
  void start(int64_t) override {}
  int next_batch(std::span<IoRequest* const> slots, int64_t) noexcept override {
    int filled = 0;
    for (IoRequest* request : slots) {
      if (given_ == total_) break;
      request->op = Op::kRead;
      request->offset = 4096ull * given_++;
      request->length = 4096;
      ++filled;
    }
    return filled;
  }
  bool exhausted() const noexcept override { return given_ == total_; }
  int64_t next_due_ns() const noexcept override { return exhausted() ? kNever_ns : INT64_MIN; }
  bool open_loop() const noexcept override { return false; }

 private:
  const int total_;
  int given_ = 0;
};

// Each request takes kEach_ns of the test's clock; `result` says what comes of the n-th.
class BlockingQueue : public IoQueue {
 public:
  explicit BlockingQueue(std::function<int64_t(const IoRequest&, int index)> result)
      : result_(std::move(result)) {}
  int submit(std::span<IoRequest* const> batch) noexcept override {
    widest = std::max(widest, batch.size());
    int done = 0;
    for (IoRequest* request : batch) {
      buffers.push_back(request->buffer);
      offsets.push_back(request->offset);
      request->submitted_ns = clock_ns;
      clock_ns += kEach_ns;
      request->completed_ns = clock_ns;
      request->result = result_(*request, calls_++);
      ++done;
      if (request->result != static_cast<int64_t>(request->length)) break;
    }
    return done;
  }
  std::vector<std::byte*> buffers;
  std::vector<uint64_t> offsets;
  size_t widest = 0;

 private:
  const std::function<int64_t(const IoRequest&, int)> result_;
  int calls_ = 0;
};

struct Bed {
  Bed(int total, int64_t runtime_ns, std::function<int64_t(const IoRequest&, int)> answer,
      bool continue_on_error = false)
      : worker(CompletionMode::kBlocking, control) {
    clock_ns = kEpoch_ns;
    LaneSetup setup;
    setup.ops = {Op::kRead};
    setup.mode = CompletionMode::kBlocking;
    setup.blocking_batch = kBatch;
    setup.slot_bytes = sizeof(memory);
    setup.runtime_ns = runtime_ns;
    setup.continue_on_error = continue_on_error;
    setup.clock = [] { return clock_ns; };
    lane = std::make_unique<Lane>(setup, RecorderSetup{}, std::make_unique<Reads>(total), memory,
                                  control, collector);
    auto owned = std::make_unique<BlockingQueue>(std::move(answer));
    queue = owned.get();
    lane->set_queue(std::move(owned));
    worker.add(*lane);
    control.set_epoch(kEpoch_ns);
    control.release_stage(0, kEpoch_ns, 1);
  }
  const OpResult& run() {
    for (int turns = 0; turns < 100'000 && !lane->done(); ++turns) {
      const int64_t timer_ns = worker.turn();
      if (timer_ns != 0 && timer_ns != INT64_MAX) clock_ns = std::max(clock_ns, timer_ns);
    }
    EXPECT_TRUE(lane->done());
    result = lane->result();
    return result.op(Op::kRead);
  }

  alignas(4096) std::byte memory[4096] = {};
  RunControl control;
  Collector collector{Series::kDefaultSlot_ns};
  Worker worker;
  std::unique_ptr<Lane> lane;
  BlockingQueue* queue = nullptr;
  JobResult result;
};

int64_t whole(const IoRequest& request, int) {
  return static_cast<int64_t>(request.length);
}

TEST(BlockingLane, RequestsOfOneCallCountAsOneAtATime) {
  Bed bed(100, 0, whole);
  const OpResult& reads = bed.run();
  EXPECT_EQ(reads.ios, 100u);
  EXPECT_EQ(bed.queue->widest, kBatch);
  EXPECT_EQ(reads.response.min_ns(), kEach_ns);
  EXPECT_EQ(reads.response.max_ns(), kEach_ns);
  EXPECT_THAT(bed.queue->buffers, testing::Each(bed.memory));  // one buffer: depth 1
  EXPECT_EQ(bed.result.depths.depth[0], 100u);
  EXPECT_EQ(bed.result.depths.submit[1], 100u);
  EXPECT_EQ(bed.result.depths.complete[1], 100u);
  EXPECT_EQ(bed.result.issued, 100u);
}

TEST(BlockingLane, NothingStartsBehindTheDeadline) {
  constexpr int64_t kRuntime_ns = 5 * kNsPerMs + 3 * kEach_ns;
  Bed bed(INT_MAX, kRuntime_ns, whole);
  const OpResult& reads = bed.run();
  // The last of them ends with the window, and so belongs to the drain.
  EXPECT_EQ(reads.ios, kRuntime_ns / kEach_ns - 1);
  EXPECT_EQ(bed.result.issued, static_cast<uint64_t>(kRuntime_ns / kEach_ns));
}

TEST(BlockingLane, AnErrorStopsTheJobBeforeTheNextRequest) {
  Bed bed(100, 0, [](const IoRequest& request, int index) {
    return index == 20 ? -EIO : whole(request, index);
  });
  const OpResult& reads = bed.run();
  EXPECT_EQ(reads.ios, 20u);
  EXPECT_EQ(reads.errors.at(EIO), 1u);
  EXPECT_EQ(bed.result.issued, 21u);
  EXPECT_FALSE(bed.result.finished);
}

TEST(BlockingLane, WithErrorsAllowedTheRestOfTheBatchIsDone) {
  Bed bed(
      100, 0,
      [](const IoRequest& request, int index) {
        return index % 10 == 5 ? -EIO : whole(request, index);
      },
      true);
  const OpResult& reads = bed.run();
  EXPECT_EQ(reads.ios, 90u);
  EXPECT_EQ(reads.errors.at(EIO), 10u);
  std::vector<uint64_t> offsets = bed.queue->offsets;
  std::sort(offsets.begin(), offsets.end());
  for (size_t i = 0; i < 100; ++i) EXPECT_EQ(offsets[i], i * 4096);
}

TEST(BlockingLane, AShortReadIsContinuedAndTheRestOfTheBatchIsDone) {
  Bed bed(40, 0, [](const IoRequest& request, int index) {
    return index == 7 ? 512 : whole(request, index);
  });
  const OpResult& reads = bed.run();
  EXPECT_EQ(reads.ios, 40u);
  EXPECT_EQ(reads.bytes, 40u * 4096);
  EXPECT_EQ(reads.short_ios, 1u);
  EXPECT_THAT(bed.queue->offsets, testing::Contains(7 * 4096 + 512));
  EXPECT_THAT(bed.queue->buffers, testing::Contains(bed.memory + 512).Times(1));
}

TEST(BlockingLane, AStopEndsItAndLosesNothing) {
  Bed bed(INT_MAX, 0, [&](const IoRequest& request, int index) {
    if (index == 50) bed.control.stop_at(clock_ns);
    return whole(request, index);
  });
  bed.run();
  EXPECT_LE(bed.result.issued, 50u + kBatch);
  EXPECT_FALSE(bed.result.finished);
}

}  // namespace
}  // namespace cephmark
