#include "fleet/bench_checks.h"

#include <gtest/gtest.h>

namespace cephmark {
namespace {

Json dump_with(const std::string& pool_flags, const std::string& flags = "sortbitwise") {
  return {
      {"flags", flags},
      {"pools",
       Json::array({{{"pool_name", "bt"}, {"pool", 2}, {"flags_names", "hashpspool" + pool_flags}},
                    {{"pool_name", "other"}, {"pool", 21}, {"flags_names", "full"}}})}};
}

Json health_with(const std::string& message) {
  return {{"checks", {{"PG_AVAILABILITY", {{"detail", Json::array({{{"message", message}}})}}}}}};
}

TEST(PoolObstacle, AFullPoolTakesNoWrites) {
  EXPECT_EQ(pool_obstacle(dump_with(",full"), Json::object(), "bt", true), "pool bt is full");
  EXPECT_EQ(pool_obstacle(dump_with(",full,full_quota"), Json::object(), "bt", true),
            "pool bt has reached its quota");
  EXPECT_EQ(pool_obstacle(dump_with(",full"), Json::object(), "bt", false), "");
  EXPECT_EQ(pool_obstacle(dump_with(",nearfull"), Json::object(), "bt", true), "");
  EXPECT_EQ(pool_obstacle(dump_with("", "sortbitwise,full"), Json::object(), "bt", true),
            "pool bt is full");
}

TEST(PoolObstacle, APausedClusterTakesNothing) {
  const Json dump = dump_with("", "pauserd,pausewr,sortbitwise");
  EXPECT_EQ(pool_obstacle(dump, Json::object(), "bt", true), "the cluster is paused (pausewr)");
  EXPECT_EQ(pool_obstacle(dump, Json::object(), "bt", false), "the cluster is paused (pauserd)");
}

TEST(PoolObstacle, InactiveGroupsOfThePoolCountThoseOfOthersDoNot) {
  const std::string inactive = "pg 2.1f is stuck inactive for 70s, current state unknown";
  EXPECT_EQ(pool_obstacle(dump_with(""), health_with(inactive), "bt", false),
            "pool bt does not serve: " + inactive);
  EXPECT_EQ(pool_obstacle(dump_with(""), health_with("pg 21.0 is down"), "bt", false), "");
}

TEST(PoolObstacle, AnswersThatLackPartsAreNoObstacle) {
  EXPECT_EQ(pool_obstacle(Json::object(), Json::object(), "bt", true), "");
  EXPECT_EQ(pool_obstacle(dump_with(""), Json::object(), "not there", true), "");
}

}  // namespace
}  // namespace cephmark
