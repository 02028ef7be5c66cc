// The names; reading and writing is tested on a cluster (tests/ceph/rados_bench_command_test.cc).
#include "ceph/bench_record.h"

#include <gtest/gtest.h>

namespace cephmark {
namespace {

TEST(BenchRunName, BeginsAsTheOriginalsOne) {
  EXPECT_EQ(bench_run_name("benchmark_data_vm-1_77"), "benchmark_last_metadata.vm-1_77");
  EXPECT_TRUE(is_default_run_name("benchmark_last_metadata"));
  EXPECT_TRUE(is_default_run_name("benchmark_last_metadata.vm-1_77"));
  EXPECT_FALSE(is_default_run_name("benchmark_last_metadata2"));
  EXPECT_FALSE(is_default_run_name("mine"));
}

TEST(BenchRunName, ARecordIsKeptUnderANameThatIsFoundAgain) {
  StoredBenchRecord stored;
  stored.record.pid = 4711;
  const std::string name(kBenchDefaultRunName);
  EXPECT_EQ(kept_record_name(name, stored), "benchmark_last_metadata.4711");
  stored.prefix = "benchmark_data_vm_4711";
  EXPECT_EQ(kept_record_name(name, stored), "benchmark_last_metadata.vm_4711");
  EXPECT_TRUE(is_default_run_name(kept_record_name(name, stored)));
  EXPECT_EQ(kept_record_name("mine", stored), "mine.vm_4711");
}

}  // namespace
}  // namespace cephmark
