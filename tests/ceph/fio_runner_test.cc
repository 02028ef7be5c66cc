// A fleet of two images, run by real fio processes through librbd. CEPH_CONF names the cluster.
#include "run/fio_runner.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <filesystem>

#include "base/fd.h"
#include "base/json.h"
#include "engine_harness.h"
#include "support/temporary_directory.h"

namespace cephmark {
namespace {

using test::error_of;
using test::own_name;
using testing::HasSubstr;

class Quiet : public Observer {
 public:
  void progress(const std::string&, uint64_t, uint64_t) override {}
  void note(const std::string&) override {}
  void tick(const TickSample&) override {}
};

class FioFleet : public testing::Test {
 protected:
  static constexpr uint64_t kImageBytes = 8 << 20;

  void SetUp() override {
    cluster = Cluster::connect({});
    for (int i = 0; i < 2; ++i) {
      const ImageSpec image{"rbd", "", own_name(fmt::format("fio-{}", i)), ""};
      create_image(*cluster, image, {.size_bytes = kImageBytes});
      images.push_back(image);
      plan.vms.push_back(vm_on(image.name, i));
      settings.files.push_back(
          {fmt::format("{}/job_{}", directory, i), fmt::format("{}/result_{}", directory, i)});
    }
  }
  void TearDown() override {
    for (const auto& image : images) remove_image(*cluster, image);
  }

  static VmPlan vm_on(const std::string& image, int index) {
    VmPlan vm;
    vm.name = fmt::format("vm-{}", index);
    vm.index = index;
    JobSpec job;
    job.name = "write-4K";
    job.ioengine = "rbd";
    job.engine_options = {{"clientname", "admin"}, {"pool", "rbd"}, {"rbdname", image}};
    job.rw.reads = false;
    job.rw.writes = true;
    vm.jobs = {job};
    vm.job_text = fmt::format(
        "[write-4K]\nioengine=rbd\nclientname=admin\npool=rbd\nrbdname={}\niodepth=32\nrw=write "
        "#sequential\nbs=4K\n",
        image);
    return vm;
  }

  testing_support::TemporaryDirectory scratch_;
  const std::string directory = scratch_.path();
  std::shared_ptr<Cluster> cluster;
  std::vector<ImageSpec> images;
  Plan plan;
  FioRunnerSettings settings;
  Quiet observer;
};

TEST_F(FioFleet, EveryVmWritesItsWholeImage) {
  const RunResult result = FioRunner(settings).run(plan, {}, observer);
  ASSERT_EQ(result.error, "");
  constexpr uint64_t kWrites = kImageBytes / 4096;
  EXPECT_EQ(result.total(Op::kWrite).ios, 2 * kWrites);
  EXPECT_EQ(result.total(Op::kWrite).bytes, 2 * kImageBytes);
  EXPECT_EQ(result.fleet_response.count(), 2 * kWrites);
  EXPECT_TRUE(result.exact_percentiles);
  EXPECT_EQ(result.connections, 2);
  for (size_t vm = 0; vm < 2; ++vm) {
    const JobResult& job = result.vms[vm].jobs[0];
    EXPECT_EQ(job.find(Op::kWrite)->ios, kWrites);
    EXPECT_GT(job.measured_ns(), 0);
    uint64_t written = 0;
    const auto image = Image::open(cluster, images[vm], true);
    for (const auto& extent : image->written()) written += extent.length;
    EXPECT_EQ(written, kImageBytes);
    // Our quantiles are fio's own percentiles.
    const Json document = parse_json(read_file(settings.files[vm].result_file), "result");
    const Json latency = document["jobs"][0]["write"]["clat_ns"];
    for (const auto& [percent, value] : latency["percentile"].items())
      EXPECT_EQ(
          Histogram::bucket_of(job.find(Op::kWrite)->service.quantile_ns(std::stod(percent) / 100)),
          Histogram::bucket_of(std::min(value.get<int64_t>(), latency["max"].get<int64_t>())))
          << "p" << percent;
  }
}

TEST_F(FioFleet, AMissingImageFailsItsVmOnly) {
  plan.vms[1] = vm_on(own_name("nothing"), 1);
  const RunResult result = FioRunner(settings).run(plan, {}, observer);
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.vms[0].jobs[0].failure, "");
  EXPECT_THAT(result.vms[1].jobs[0].failure, HasSubstr("exit code 1: rbd_open failed."));
  EXPECT_NO_THROW(parse_json(read_file(settings.files[1].result_file), "result"));
}

TEST_F(FioFleet, AKeyringOfOurOwnIsUsed) {
  // The key of the cluster itself, by another path: fio has no option for it.
  const std::string key = directory + "/keyring";
  write_file_atomically(key, read_file(cluster->option("keyring")), 0600);
  plan.ceph.keyring = key;
  EXPECT_EQ(FioRunner(settings).run(plan, {}, observer).error, "");
  plan.ceph.keyring = directory + "/nowhere";
  const RunResult refused = FioRunner(settings).run(plan, {}, observer);
  EXPECT_THAT(refused.error, HasSubstr("none of the 2 fio processes could run"));
}

}  // namespace
}  // namespace cephmark
