#include "ceph/ceph_args.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cephmark {
namespace {

TEST(CephArgs, AreReadAsCephReadsThem) {
  const CephArguments read = parse_ceph_args(
      "-c /x.conf --keyring=/k -n client.bench --rbd-cache-size 32M --debug-ms=1 -m mon:6789");
  EXPECT_EQ(read.target.conf, "/x.conf");
  EXPECT_EQ(read.target.keyring, "/k");
  EXPECT_EQ(read.target.user, "bench");
  using Pair = std::pair<std::string, std::string>;
  EXPECT_THAT(read.options,
              testing::ElementsAre(Pair{"rbd_cache_size", "32M"}, Pair{"debug_ms", "1"},
                                   Pair{"mon_host", "mon:6789"}));
}

TEST(CephArgs, OfTwoTheLaterCounts) {
  EXPECT_EQ(parse_ceph_args("--id a -n client.b").target.user, "b");
  EXPECT_EQ(parse_ceph_args("-n client.b --id=a").target.user, "a");
  EXPECT_EQ(parse_ceph_args("--conf 'two words' -c last").target.conf, "last");
}

TEST(CephArgs, NothingSaysNothing) {
  EXPECT_EQ(parse_ceph_args("").target.conf, "");
  EXPECT_TRUE(parse_ceph_args("  stray words ").options.empty());
}

}  // namespace
}  // namespace cephmark
