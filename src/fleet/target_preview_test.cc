#include "fleet/target_preview.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/units.h"

namespace cephmark {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TargetPreview preview_of(uint64_t new_bytes) {
  TargetPreview preview;
  preview.fsid = "335c9316";
  preview.cluster_name = "ceph";
  preview.reached_by = "conf /etc/ceph/ceph.conf (--conf), user client.admin";
  PoolPreview pool;
  pool.space.pool = "rbd";
  pool.space.redundancy = "3 replicas";
  pool.space.raw_factor = 3;
  pool.space.nearfull_ratio = 0.85;
  pool.space.free_below_nearfull_bytes = 4 * kGiB;
  pool.images = 2;
  pool.new_bytes = new_bytes;
  preview.pools.push_back(pool);
  return preview;
}

TEST(TargetPreview, NamesTheClusterAndWhatIsWritten) {
  EXPECT_THAT(
      preview_text(preview_of(2 * kGiB)),
      AllOf(HasSubstr("cluster  ceph, fsid 335c9316, conf /etc/ceph/ceph.conf (--conf), user"),
            HasSubstr("rbd (3 replicas): 2 images, at most 2 GiB new (6 GiB raw)"),
            Not(HasSubstr("does not fit"))));
}

TEST(TargetPreview, SaysWhenThePoolCannotTakeAllOfIt) {
  EXPECT_THAT(preview_text(preview_of(5 * kGiB)),
              HasSubstr("it does not fit: 4 GiB are free below nearfull (85 %)"));
}

}  // namespace
}  // namespace cephmark
