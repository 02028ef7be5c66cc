#include "workload/region.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/units.h"

namespace cephmark {
namespace {

using testing::HasSubstr;

JobSpec job_of(uint64_t block = 4096) {
  JobSpec job;
  job.name = "j";
  for (auto& sizes : job.block_sizes) sizes = {block, block, {}};
  return job;
}
SizeSpec bytes(uint64_t value) {
  return {SizeSpec::Kind::kBytes, value};
}
SizeSpec percent(uint64_t value) {
  return {SizeSpec::Kind::kPercent, value};
}
TargetExtent image(uint64_t size) {
  return {"image bt/vm-a", size, true, 0};
}

std::string error_of(const JobSpec& job, const TargetExtent& target, unsigned clone = 0) {
  try {
    resolve_region(job, target, clone);
  } catch (const Error& error) {
    EXPECT_FALSE(error.hint().empty()) << error.what();
    return error.what();
  }
  return "no error";
}

TEST(Region, NoSizeMeansUpToTheEnd) {
  JobSpec job = job_of();
  job.offset = bytes(kMiB);
  const Region region = resolve_region(job, image(kGiB), 0);
  EXPECT_EQ(region.start_bytes, kMiB);
  EXPECT_EQ(region.length_bytes, kGiB - kMiB);
  EXPECT_EQ(region.loop_bytes, region.length_bytes);
}

TEST(Region, PercentCountFromTheRealSize) {
  JobSpec job = job_of();
  job.size = percent(50);
  EXPECT_EQ(resolve_region(job, image(1'000'000), 0).length_bytes, 499'712u);  // down to 4 KiB
  job.offset = percent(33);
  const Region region = resolve_region(job, image(1'000'000), 0);
  EXPECT_EQ(region.start_bytes, 331'776u);  // 330,000 up to 4 KiB
  EXPECT_EQ(region.length_bytes, 499'712u);
  job.offset = percent(80);
  EXPECT_LE(resolve_region(job, image(1'000'000), 0).end_bytes(), 1'000'000u);
  job.size = percent(100);
  EXPECT_EQ(resolve_region(job, image(1'000'000), 0).end_bytes(), 1'000'000u);
}

TEST(Region, ClonesAreMovedByTheIncrement) {
  JobSpec job = job_of();
  job.offset = bytes(kMiB);
  job.size = bytes(kMiB);
  EXPECT_EQ(resolve_region(job, image(kGiB), 3).start_bytes, kMiB);  // overlapping, as fio
  job.offset_increment = bytes(10 * kMiB);
  EXPECT_EQ(resolve_region(job, image(kGiB), 3).start_bytes, 31 * kMiB);
  job.offset_increment = percent(10);
  EXPECT_EQ(resolve_region(job, image(kGiB), 2).start_bytes, kMiB + kGiB * 20 / 100);
}

TEST(Region, IoSizeIsTheAmountOnly) {
  JobSpec job = job_of();
  job.size = bytes(kMiB);
  job.io_size = bytes(10 * kMiB);
  EXPECT_EQ(resolve_region(job, image(kGiB), 0).length_bytes, kMiB);
  EXPECT_EQ(resolve_region(job, image(kGiB), 0).loop_bytes, 10 * kMiB);
  job.io_size = percent(50);
  EXPECT_EQ(resolve_region(job, image(kGiB), 0).loop_bytes, kMiB / 2);
}

TEST(Region, SizeIsSplitOverFiles) {
  JobSpec job = job_of();
  job.nrfiles = 4;
  job.size = bytes(16 * kMiB);
  const Region region = resolve_region(job, {"file /srv/x", 0, false, 0}, 0);
  EXPECT_EQ(region.files, 4u);
  EXPECT_EQ(region.length_bytes, 4 * kMiB);
  EXPECT_EQ(region.loop_bytes, 16 * kMiB);
  job.size = {};
  job.filesize = bytes(kMiB);
  EXPECT_EQ(resolve_region(job, {"file /srv/x", 0, false, 0}, 0).loop_bytes, 4 * kMiB);
}

TEST(Region, AFileMayGrowAnImageMayNot) {
  JobSpec job = job_of();
  job.size = bytes(2 * kMiB);
  EXPECT_EQ(resolve_region(job, {"file /srv/x", kMiB, false, 0}, 0).end_bytes(), 2 * kMiB);
  EXPECT_THAT(error_of(job, image(kMiB)),
              HasSubstr("image bt/vm-a has size 1 MiB (1048576 bytes), job 'j' needs 2 MiB"));
}

// RBD-02: the three cases at open, each told in full.
TEST(Region, WhatDoesNotFitIsToldInFull) {
  JobSpec job = job_of();
  job.size = bytes(64 * kMiB);
  EXPECT_EQ(error_of(job, {"image bt/zero", 0, true, 0}),
            "image bt/zero has size 0, job 'j' needs 64 MiB");
  job.offset = bytes(1000 * kMiB);
  EXPECT_THAT(error_of(job, image(kGiB)),
              HasSubstr("needs 1.04 GiB (1115684864 bytes) (offset 1048576000 + size 67108864)"));
  job.offset = bytes(kGiB);
  job.size = {};
  EXPECT_THAT(error_of(job, image(kGiB)), HasSubstr("job 'j' starts at 1 GiB"));
  job.offset = {};
  job.offset_increment = bytes(kGiB);
  EXPECT_THAT(error_of(job, image(kGiB), 1), HasSubstr("offset + 1 x offset_increment"));
  job.offset_increment = bytes(UINT64_MAX / 2);
  EXPECT_THAT(error_of(job, image(kGiB), 3), HasSubstr("beyond any target"));
  EXPECT_THAT(error_of(job_of(kMiB), image(4096)), HasSubstr("smaller than a block"));
  job = job_of();
  job.size = percent(1);
  EXPECT_THAT(error_of(job, image(8192)), HasSubstr("less than one block"));
  EXPECT_THAT(error_of(job, {"file x", 0, false, 0}), HasSubstr("does not say how large"));
  job.filesize = bytes(kGiB);
  EXPECT_THAT(error_of(job, image(kMiB)), HasSubstr("filesize="));
}

// RBD-03: no overlap and no hole, whatever the sizes.
TEST(Partition, TilesExactly) {
  for (const uint64_t size :
       {uint64_t{1}, uint64_t{4096}, 20 * kMiB, 20 * kMiB + 1, uint64_t{1'000'003}})
    for (const unsigned parts : {1u, 2u, 3u, 7u, 64u})
      for (const uint64_t block : {uint64_t{512}, 4 * kMiB, uint64_t{4097}}) {
        const auto ranges = partition(size, parts, block);
        ASSERT_FALSE(ranges.empty());
        EXPECT_LE(ranges.size(), parts);
        uint64_t at = 0;
        for (size_t i = 0; i < ranges.size(); ++i) {
          EXPECT_EQ(ranges[i].start_bytes, at);
          EXPECT_GT(ranges[i].length_bytes, 0u);
          EXPECT_EQ(ranges[i].start_bytes % block, 0u);
          at += ranges[i].length_bytes;
        }
        EXPECT_EQ(at, size);
      }
  EXPECT_TRUE(partition(0, 3, 4096).empty());
  EXPECT_EQ(partition(20 * kMiB, 3, 4 * kMiB).size(), 3u);
}

}  // namespace
}  // namespace cephmark
