#include "run/cluster_watch.h"

#include <gtest/gtest.h>

namespace cephmark {
namespace {

Json status_with(const std::string& checks, const std::string& pg_state = "active+clean") {
  return parse_json("{\"health\": {\"status\": \"HEALTH_WARN\", \"checks\": {" + checks +
                        "}}, \"pgmap\": {\"pgs_by_state\": [{\"state_name\": \"" + pg_state +
                        "\", \"count\": 3}]}}",
                    "test");
}

const char* kSlowOps =
    "\"SLOW_OPS\": {\"summary\": {\"message\": \"12 slow ops\"}, \"muted\": false}";

TEST(ClusterWatch, ANewConditionStopsAndOneFromTheStartDoesNot) {
  const ClusterState calm = cluster_state_from(status_with(""));
  const ClusterState slow = cluster_state_from(status_with(kSlowOps));
  EXPECT_EQ(guard_verdict(calm, slow, GuardPolicy{}), "SLOW_OPS: 12 slow ops");
  EXPECT_EQ(guard_verdict(slow, slow, GuardPolicy{}), "");
  EXPECT_EQ(guard_verdict(calm, slow, GuardPolicy{.slow_ops = false}), "");
}

TEST(ClusterWatch, MutedChecksAndMissingPartsAreNotSeen) {
  const char* muted = "\"SLOW_OPS\": {\"summary\": {\"message\": \"1 slow ops\"}, \"muted\": true}";
  EXPECT_TRUE(cluster_state_from(status_with(muted)).checks.empty());
  EXPECT_EQ(cluster_state_from(Json::object()).health, "unknown");
}

TEST(ClusterWatch, NamesBackgroundWork) {
  const ClusterState state = cluster_state_from(status_with("", "active+clean+scrubbing+deep"));
  ASSERT_EQ(state.background_work.size(), 1u);
  EXPECT_EQ(state.background_work[0], "scrubbing");
}

}  // namespace
}  // namespace cephmark
