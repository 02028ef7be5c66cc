// Workloads whose clones share their work: places, events, rounds of flushes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <thread>

#include "workload/checked_block.h"
#include "workload/payload.h"
#include "workload/workload.h"

namespace cephmark {
namespace {

using testing::ElementsAre;

constexpr uint64_t kBlock = 4096;

/// Two files of two and a half blocks each.
class SharedWorkload : public testing::Test {
 protected:
  SharedWorkload() {
    job_.clones_share = true;
    job_.file_service_type = FileService::kSequential;
    job_.time_based = true;
    region_.files = 2;
    region_.length_bytes = 2 * kBlock + kBlock / 2;
    region_.loop_bytes = region_.length_bytes * region_.files;
  }

  void write_only() {
    job_.rw.reads = false;
    job_.rw.writes = true;
  }
  Workload clone() {
    if (!shared_) shared_ = SharedWork::of(job_, region_);
    Workload workload(job_, region_, seed_++, shared_);
    workload.start(0);
    return workload;
  }
  /// "r0:4096+4096": kind, file, offset, length; "f1" for a flush.
  static std::string text(const IoPlanItem& item) {
    const std::string file = std::to_string(item.file);
    if (item.op == Op::kFlush) return "f" + file;
    return std::string(item.op == Op::kRead ? "r" : "w") + file + ":" +
           std::to_string(item.offset) + "+" + std::to_string(item.length);
  }
  static std::vector<std::string> take(Workload& workload, int count) {
    std::vector<std::string> out;
    IoPlanItem item;
    while (static_cast<int>(out.size()) < count && workload.next(0, item))
      out.push_back(text(item));
    return out;
  }

  JobSpec job_;
  Region region_;
  std::shared_ptr<SharedWork> shared_;
  uint64_t seed_ = 1;
};

TEST_F(SharedWorkload, FilesAreOneSpaceToTheirOddEnds) {
  Workload one = clone();
  EXPECT_THAT(take(one, 7), ElementsAre("r0:0+4096", "r0:4096+4096", "r0:8192+2048", "r1:0+4096",
                                        "r1:4096+4096", "r1:8192+2048", "r0:0+4096"));
}

TEST_F(SharedWorkload, ClonesTakeTheNextPlace) {
  Workload one = clone(), other = clone();
  EXPECT_THAT(take(one, 2), ElementsAre("r0:0+4096", "r0:4096+4096"));
  EXPECT_THAT(take(other, 2), ElementsAre("r0:8192+2048", "r1:0+4096"));
  EXPECT_THAT(take(one, 1), ElementsAre("r1:4096+4096"));
}

TEST_F(SharedWorkload, FilesMayTakeTurnsToo) {
  job_.file_service_type = FileService::kRoundRobin;
  Workload one = clone();
  EXPECT_THAT(take(one, 3), ElementsAre("r0:0+4096", "r1:0+4096", "r0:4096+4096"));
}

TEST_F(SharedWorkload, FlushesOfAllFilesAreEventsToo) {
  write_only();
  job_.time_based = false;
  job_.flush_all = 10;
  job_.number_ios = 50;
  Workload one = clone();
  std::map<std::string, int> kinds;
  const auto all = take(one, 100);
  for (const std::string& item : all) ++kinds[item.substr(0, 1)];
  EXPECT_EQ(kinds["w"], 42);
  EXPECT_EQ(kinds["f"], 8);
  EXPECT_THAT(std::vector(all.begin() + 9, all.begin() + 13),
              ElementsAre(testing::StartsWith("w"), "f0", "f1", testing::StartsWith("w")));
  EXPECT_TRUE(one.exhausted());
}

TEST_F(SharedWorkload, ReadsCountForARoundButNeedAWrite) {
  job_.rw.writes = job_.rw.random = true;
  job_.norandommap = true;
  job_.flush_all = 2;
  job_.rw_ratio = 3;  // r r w r r r w ...
  Workload one = clone();
  std::string kinds;
  for (const std::string& item : take(one, 12)) kinds += item[0];
  EXPECT_EQ(kinds, "rrwrffrrwrff");
}

TEST_F(SharedWorkload, ARatioIsHeldByCounting) {
  job_.rw.writes = job_.rw.random = true;
  job_.norandommap = true;
  job_.number_ios = 1'000;
  job_.time_based = false;
  job_.rw_ratio = 1.5;
  Workload one = clone();
  std::string kinds;
  for (const std::string& item : take(one, 2'000)) kinds += item[0];
  EXPECT_EQ(kinds.substr(0, 8), "rwrwrrwr");
  EXPECT_EQ(kinds.size(), 1'000u);
  EXPECT_NEAR(static_cast<double>(std::count(kinds.begin(), kinds.end(), 'r')), 600, 1);
}

TEST_F(SharedWorkload, AllThreadsTogetherDoAllEventsOnce) {
  write_only();
  job_.time_based = false;
  job_.number_ios = 20'000;
  job_.flush_all = 7;
  region_.length_bytes = 20'000 * kBlock;
  constexpr int kThreads = 4;
  std::vector<Workload> clones;
  for (int i = 0; i < kThreads; ++i) clones.push_back(clone());
  std::vector<std::vector<std::string>> taken(kThreads);
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i)
      threads.emplace_back([&, i] { taken[i] = take(clones[i], INT32_MAX); });
  }
  std::set<std::string> places;
  size_t total = 0;
  for (const auto& one : taken)
    for (const std::string& item : one) {
      ++total;
      if (item[0] == 'w') {
        EXPECT_TRUE(places.insert(item).second) << item;
      }
    }
  EXPECT_EQ(total, 20'000u);
  EXPECT_EQ(total - places.size(), 2 * (places.size() / 7));
}

TEST_F(SharedWorkload, WhatIsDoneInTheWarmUpIsNoEvent) {
  job_.number_ios = 3;
  job_.time_based = false;
  job_.ramp_time_ns = 1'000;
  Workload one = clone();
  EXPECT_EQ(take(one, 20).size(), 20u);  // all at time 0
  IoPlanItem item;
  int measured = 0;
  while (one.next(1'000, item)) ++measured;
  EXPECT_EQ(measured, 3);
}

TEST_F(SharedWorkload, ARateIsOverAllKinds) {
  job_.rw.writes = job_.rw.random = true;
  job_.norandommap = true;
  job_.rw_ratio = 1;
  job_.flush_all = 4;
  job_.event_rate = 1'000;
  job_.rate_process = RateProcess::kPoisson;
  Workload one = clone();
  EXPECT_TRUE(one.open_loop());
  IoPlanItem item;
  int64_t due_ns = 0;
  constexpr int kEvents = 20'000;
  for (int i = 0; i < kEvents; ++i) {
    ASSERT_FALSE(one.next(one.next_due_ns() - 1, item));
    ASSERT_TRUE(one.next(one.next_due_ns(), item));
    EXPECT_GE(item.due_ns, due_ns);
    due_ns = item.due_ns;
  }
  EXPECT_NEAR(static_cast<double>(due_ns), kEvents * 1e6, kEvents * 1e6 * 0.05);
}

TEST_F(SharedWorkload, ABlockThatIsInUseIsNotGivenOutAgain) {
  write_only();
  job_.rw.random = job_.checked_blocks = job_.norandommap = true;
  Workload one = clone();
  std::set<std::string> taken;
  IoPlanItem item;
  while (one.next(0, item)) EXPECT_TRUE(taken.insert(text(item)).second);
  EXPECT_EQ(taken.size(), 4u);  // whole blocks of both files
  EXPECT_FALSE(one.exhausted());
  shared_->release(one.block_of(item.file, item.offset));
  IoPlanItem again;
  ASSERT_TRUE(one.next(0, again));
  EXPECT_EQ(text(again), text(item));
}

TEST(CheckedBlock, TellsOtherContentsAndOtherPlaces) {
  JobSpec job;
  job.checked_blocks = true;
  Payload payload(job, 1);
  std::vector<std::byte> block(512);
  payload.fill(block, 7 * 512);
  EXPECT_TRUE(check_block(block, 7 * 512).is_sound);
  EXPECT_FALSE(check_block(block, 8 * 512).is_sound);
  block[3] ^= std::byte{1};
  EXPECT_FALSE(check_block(block, 7 * 512).is_sound);
  EXPECT_FALSE(check_block(std::vector<std::byte>(512), 0).is_sound);
}

}  // namespace
}  // namespace cephmark
