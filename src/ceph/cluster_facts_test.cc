#include "ceph/cluster_facts.h"

#include <gtest/gtest.h>

namespace cephmark {
namespace {

const char* const kOneVersion = R"json({
  "mon": {"ceph version 16.2.15 (618f44) pacific (stable)" : 1
}
, "mds" : {}, "overall" : {
  "ceph version 16.2.15 (618f44) pacific (stable)" : 5
}
})json";
const char* const kTwoVersions = R"json({
  "mon": {"ceph version 18.2.7 (a) reef (stable)": 3
}
, "osd" : {
  "ceph version 16.2.15 (6) pacific (stable)" : 2,
  "ceph version 18.2.7 (a) reef (stable)" : 1
},
          "overall" : {
  "ceph version 16.2.15 (6) pacific (stable)" : 2, "ceph version 18.2.7 (a) reef (stable)" : 4
}
})json";

TEST(ClusterFacts, OneVersionOrWhoDiffers) {
  EXPECT_EQ(versions_text(parse_json(kOneVersion, "test")), "16.2.15 pacific");
  EXPECT_EQ(versions_text(parse_json(kTwoVersions, "test")),
            "mon: 18.2.7 reef (3); osd: 16.2.15 pacific (2), 18.2.7 reef (1)");
  EXPECT_EQ(versions_text(Json()), "");
}

TEST(ClusterFacts, APoolAsPeopleReadIt) {
  const Json dump = parse_json(R"({
    "pools": [
      {"pool_name": "rbd", "type": 1, "size": 3, "min_size": 2, "pg_num": 32, "options": {},
       "application_metadata": {"rbd": {}}},
      {"pool_name": "ec", "type": 3, "size": 6, "min_size": 5, "pg_num": 8,
       "erasure_code_profile": "p", "options": {"compression_mode": "aggressive"},
       "application_metadata": {}}],
    "erasure_code_profiles": {"p": {"k": "4", "m": "2"}}})",
                               "test");
  EXPECT_EQ(pool_text(dump, "rbd"),
            "3 replicas (min_size 2), 32 PGs, no compression set, application rbd");
  EXPECT_EQ(pool_text(dump, "ec"),
            "EC 4+2 (min_size 5), 8 PGs, compression aggressive, no application");
  EXPECT_EQ(pool_text(dump, "other"), "");
  EXPECT_EQ(pool_text(Json(), "rbd"), "");
}

TEST(ClusterFacts, FillIsThePoolsOwn) {
  const Json df =
      parse_json(R"({"pools": [{"name": "rbd", "stats": {"percent_used": 0.125}}]})", "test");
  EXPECT_DOUBLE_EQ(pool_fill(df, "rbd"), 0.125);
  EXPECT_LT(pool_fill(df, "other"), 0);
  EXPECT_LT(pool_fill(Json(), "rbd"), 0);
}

}  // namespace
}  // namespace cephmark
