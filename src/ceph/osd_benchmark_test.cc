#include "ceph/osd_benchmark.h"

#include <gtest/gtest.h>

namespace cephmark {
namespace {

TEST(OsdBenchLimits, AreThoseOfCephsDefaults) {
  const OsdBenchLimits limits;
  EXPECT_EQ(limits.most_bytes(4096), 12'288'000u);
  EXPECT_EQ(limits.most_bytes((1 << 20) - 1), uint64_t{3000} * ((1 << 20) - 1));
  EXPECT_EQ(limits.most_bytes(1 << 20), 3'145'728'000u);
}

TEST(OsdBenchLimits, WhatFitsIsNotRefused) {
  EXPECT_FALSE(refusal_of({}, {}));
  EXPECT_FALSE(refusal_of(kMclockShape, {}));
  EXPECT_FALSE(refusal_of({3'145'728'000, 64 << 20}, {}));
}

// The OSD's own words, taken from 16.2.15.
TEST(OsdBenchLimits, ARefusalHasTheOsdsWordsAndOurs) {
  const auto small = refusal_of({12'288'001, 4096}, {});
  ASSERT_TRUE(small);
  EXPECT_EQ(small->ceph_text,
            "'count' values greater than 12288000 for a block size of 4 KiB, assuming 100 IOPS, "
            "for 30 seconds, can cause ill effects on osd.  Please adjust "
            "'osd_bench_small_size_max_iops' with a higher value if you wish to use a higher "
            "'count'.");
  EXPECT_EQ(small->hint, "a TOTAL of 12288000 or less, or larger blocks");
  const auto large = refusal_of({3'145'728'001, 4 << 20}, {});
  ASSERT_TRUE(large);
  EXPECT_NE(large->ceph_text.find("assuming 100 MiB/s, for 30 seconds"), std::string::npos);
  const auto block = refusal_of({1 << 30, 128 << 20}, {});
  ASSERT_TRUE(block);
  EXPECT_EQ(block->ceph_text,
            "block 'size' values are capped at 64 MiB. If you wish to use a higher value, please "
            "adjust 'osd_bench_max_block_size'");
}

}  // namespace
}  // namespace cephmark
