#include <gtest/gtest.h>

#include "base/error.h"
#include "ceph/cluster.h"

namespace cephmark {
namespace {

Json osd_dump() {
  return parse_json(R"({"full_ratio": 0.95, "nearfull_ratio": 0.85,
    "pools": [{"pool_name": "rbd", "type": 1, "size": 3, "erasure_code_profile": ""},
              {"pool_name": "ec", "type": 3, "size": 6, "erasure_code_profile": "p"}],
    "erasure_code_profiles": {"p": {"k": "4", "m": "2"}}})",
                    "osd dump");
}

Json df(uint64_t max_avail, uint64_t quota) {
  Json stats = {
      {"stored", 100}, {"max_avail", max_avail}, {"percent_used", 0.1}, {"quota_bytes", quota}};
  return {{"stats", {{"total_bytes", 6000}}},
          {"pools",
           Json::array({{{"name", "rbd"}, {"stats", stats}}, {{"name", "ec"}, {"stats", stats}}})}};
}

TEST(PoolSpace, CountsReplicasAndStaysBelowNearfull) {
  const auto space = pool_space_from(df(1000, 0), osd_dump(), "rbd");
  EXPECT_EQ(space.raw_factor, 3);
  EXPECT_EQ(space.redundancy, "3 replicas");
  EXPECT_EQ(space.free_bytes, 1000u);
  EXPECT_NEAR(space.free_below_nearfull_bytes, 800, 1);  // 10 % of 6000 raw, three times each
}

TEST(PoolSpace, CountsErasureCoding) {
  const auto space = pool_space_from(df(1000, 0), osd_dump(), "ec");
  EXPECT_EQ(space.raw_factor, 1.5);
  EXPECT_EQ(space.redundancy, "EC 4+2");
  EXPECT_NEAR(space.free_below_nearfull_bytes, 600, 1);
}

TEST(PoolSpace, NeverGoesBelowNothingAndHeedsQuotas) {
  EXPECT_EQ(pool_space_from(df(10, 0), osd_dump(), "rbd").free_below_nearfull_bytes, 0u);
  EXPECT_EQ(pool_space_from(df(1000, 150), osd_dump(), "rbd").free_below_nearfull_bytes, 50u);
  EXPECT_EQ(pool_space_from(df(1000, 90), osd_dump(), "rbd").free_below_nearfull_bytes, 0u);
}

TEST(PoolSpace, NamesAPoolThatIsNotThere) {
  EXPECT_THROW(pool_space_from(df(1, 0), osd_dump(), "rdb"), Error);
}

}  // namespace
}  // namespace cephmark
