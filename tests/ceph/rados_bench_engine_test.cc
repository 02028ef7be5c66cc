// The rados-bench engine beside the real `rados bench` on a real pool: either reads, checks and
// removes what the other wrote.

#include <algorithm>
#include <atomic>

#include "base/subprocess.h"
#include "ceph/rados_bench_objects.h"
#include "engine/rados_call_queue.h"
#include "engine_harness.h"
#include "fleet/bench_objects.h"
#include "support/ceph_test.h"

namespace cephmark {
namespace {

using test::EngineUnderTest;
using test::error_of;
using testing::HasSubstr;

constexpr uint64_t kOp = 4096;

class RadosBenchEngine : public testing::Test {
 protected:
  static void SetUpTestSuite() { cluster = Cluster::connect({}); }
  static void TearDownTestSuite() { cluster.reset(); }

  void SetUp() override {
    auto& job = under_test.job();
    job.ioengine = "rados-bench";
    job.size = {SizeSpec::Kind::kBytes, kOps * kOp};
    job.rw = {.reads = false, .writes = true, .name = "write"};
    // Ops of 4 KiB in objects that are no multiple of it: two to an object.
    job.engine_options = {{"pool", "rbd"},
                          {"prefix", prefix},
                          {"record", record},
                          {"object_size", "10000"},
                          {"keep_objects", "1"}};
  }
  void TearDown() override {
    under_test.close();
    const IoContext io = cluster->io("rbd");
    remove_objects(io, objects());
    rados_remove(io.get(), record.c_str());
  }

  void read_instead() { under_test.job().rw = {}; }
  std::vector<std::string> objects(const std::string& of = prefix) {
    return list_bench_objects(cluster->io("rbd"), of);
  }
  void write_all() {
    under_test.open();
    for (uint64_t op = 0; op < kOps; ++op)
      ASSERT_EQ(under_test.io(Op::kWrite, op * kOp, kOp, 'z'), static_cast<int64_t>(kOp));
    under_test.close();
  }
  static CommandResult rados(std::vector<std::string> words) {
    words.insert(words.begin(), {"rados", "-p", "rbd"});
    return run_command(words);
  }

  static constexpr uint64_t kOps = 5;
  // Of a host that is not this one.
  static inline const std::string prefix =
      "benchmark_data_another-host_" + std::to_string(::getpid());
  static inline const std::string record = "bench-test-" + std::to_string(::getpid());
  static inline std::shared_ptr<Cluster> cluster;
  EngineUnderTest under_test;
};

TEST_F(RadosBenchEngine, WritesObjectsAndRecordAndChecksThem) {
  write_all();
  EXPECT_EQ(objects().size(), 3u);
  read_instead();
  under_test.open(false);
  for (uint64_t op = 0; op < kOps; ++op) {
    EXPECT_EQ(under_test.io(Op::kRead, op * kOp, kOp), static_cast<int64_t>(kOp));
    EXPECT_TRUE(is_bench_op({under_test.buffer(), kOp}, op));
  }
  EXPECT_EQ(under_test.io(Op::kRead, kOps * kOp, kOp), -EILSEQ);  // the object ends before it
  EXPECT_EQ(under_test.io(Op::kRead, 6 * kOp, kOp), -ENOENT);
}

TEST_F(RadosBenchEngine, OneWrongByteIsSeenUnlessNotAskedFor) {
  write_all();
  const IoContext io = cluster->io("rbd");
  const std::string name = prefix + "_object1";
  ASSERT_EQ(rados_write(io.get(), name.c_str(), "y", 1, kOp + 4000), 0);  // in op 3
  read_instead();
  under_test.open(false);
  EXPECT_EQ(under_test.io(Op::kRead, 2 * kOp, kOp), static_cast<int64_t>(kOp));
  EXPECT_EQ(under_test.io(Op::kRead, 3 * kOp, kOp), -EILSEQ);
  under_test.close();
  under_test.job().engine_options["verify_contents"] = "0";
  under_test.open(false);
  EXPECT_EQ(under_test.io(Op::kRead, 3 * kOp, kOp), static_cast<int64_t>(kOp));
}

TEST_F(RadosBenchEngine, AnotherRunsObjectsAndRecordAreNotWrittenOver) {
  write_all();
  EXPECT_THAT(error_of([&] { under_test.open(); }), HasSubstr("is there already, from another"));
  under_test.close();
  under_test.job().engine_options["prefix"] = prefix + "1";
  EXPECT_THAT(error_of([&] { under_test.open(); }), HasSubstr("it describes another run"));
  under_test.close();
  under_test.job().engine_options["reuse"] = "1";
  EXPECT_NO_THROW(under_test.open());
  under_test.close();
  under_test.job().engine_options["keep_objects"] = "0";
  EXPECT_THAT(error_of([&] { under_test.open(); }), HasSubstr("were there before"));
}

TEST_F(RadosBenchEngine, WhatIsNotToStayIsAnnouncedAsAPattern) {
  std::vector<std::string> announced;
  const std::function<void(const std::vector<std::string>&)> tell = [&](const auto& names) {
    announced = names;
  };
  under_test.about_to_create_objects = &tell;
  under_test.job().engine_options["keep_objects"] = "0";
  write_all();
  EXPECT_THAT(announced, testing::ElementsAre("rbd/" + prefix + "_object*"));
  uint64_t size = 0;
  time_t time;
  EXPECT_EQ(rados_stat(cluster->io("rbd").get(), record.c_str(), &size, &time), -ENOENT);
}

/// A queue that takes its time over what came back, and when each request was told.
class SlowLook final : public RadosCallQueue, public Ready {
 public:
  static constexpr int64_t kLook_ns = 100 * kNsPerMs;

  SlowLook(const IoContext& io, ConnectionPool& pool) : RadosCallQueue(io.get(), pool, setup()) {}
  void ready(IoRequest&) noexcept override { told_ns = monotonic_ns(); }
  std::atomic<int64_t> told_ns = 0;

 private:
  QueueSetup setup() {
    QueueSetup setup;
    setup.ready = this;
    return setup;
  }
  int start(IoRequest& request, rados_completion_t completion) noexcept override {
    return rados_aio_read(io(), "not-there", completion, reinterpret_cast<char*>(request.buffer),
                          request.length, 0);
  }
  int64_t result_of(const IoRequest&, int64_t value) noexcept override {
    ::usleep(kLook_ns / kNsPerUs);
    return value;
  }
};

// RAD-03: the end of an op is stamped in the library's callback, before anybody looks at it.
TEST_F(RadosBenchEngine, LookingAtWhatCameBackIsNoLatency) {
  Plan plan;
  plan.vms.resize(1);
  plan.vms[0].jobs = {under_test.job()};
  ConnectionPool pool(plan);
  pool.connect();
  const IoContext io = pool.connection(plan.vms[0], plan.vms[0].jobs[0]).cluster().io("rbd");
  SlowLook queue(io, pool);
  std::byte bytes[16];
  IoRequest request;
  request.length = sizeof bytes;
  request.buffer = bytes;
  IoRequest* batch[] = {&request};
  ASSERT_EQ(queue.submit(batch), 1);
  ASSERT_TRUE(testing_support::eventually([&] { return queue.told_ns > 0; }));
  EXPECT_EQ(request.result, -ENOENT);
  EXPECT_GE(queue.told_ns - request.completed_ns, SlowLook::kLook_ns);
}

// `rados bench` takes the names of its own host.
TEST_F(RadosBenchEngine, RadosBenchReadsChecksAndRemovesOurs) {
  char host[256] = "";
  ASSERT_EQ(::gethostname(host, sizeof host - 1), 0);
  const std::string ours = bench_object_prefix(host, ::getpid());
  under_test.job().engine_options["prefix"] = ours;
  write_all();
  for (const char* mode : {"seq", "rand"}) {
    const auto read = rados({"bench", "1", mode, "-t", "1", "--run-name", record});
    EXPECT_EQ(read.exit_code, 0) << read.out << read.err;
    EXPECT_THAT(read.out, HasSubstr("Object size:          10000\n"));
    EXPECT_EQ((read.out + read.err).find("not correct"), std::string::npos) << read.err;
  }
  EXPECT_THAT(rados({"cleanup", "--run-name", record}).out, HasSubstr("Removed 3 objects"));
  EXPECT_TRUE(objects(ours).empty());
}

TEST_F(RadosBenchEngine, WeReadAndCheckWhatRadosBenchWrote) {
  const auto write = rados({"bench", "1", "write", "-b", "4096", "-O", "12288", "--max-objects",
                            "20", "--no-cleanup", "--run-name", record});
  ASSERT_EQ(write.exit_code, 0) << write.out << write.err;
  std::array<std::byte, BenchRecord::kBytes> bytes{};
  ASSERT_EQ(rados_read(cluster->io("rbd").get(), record.c_str(),
                       reinterpret_cast<char*>(bytes.data()), bytes.size(), 0),
            static_cast<int>(bytes.size()));
  const BenchRecord theirs = BenchRecord::decode(bytes);
  EXPECT_EQ(theirs.layout, (BenchLayout{12288, kOp}));
  ASSERT_GT(theirs.ops, 0);
  char host[256] = "";
  ASSERT_EQ(::gethostname(host, sizeof host - 1), 0);
  auto& job = under_test.job();
  job.engine_options["prefix"] = bench_object_prefix(host, theirs.pid);
  job.engine_options["object_size"] = "12288";
  read_instead();
  under_test.open(false);
  for (int op = 0; op < theirs.ops; ++op)
    ASSERT_EQ(under_test.io(Op::kRead, op * kOp, kOp), static_cast<int64_t>(kOp)) << op;
  const IoContext io = cluster->io("rbd");
  const auto names = list_bench_objects(io, job.engine_options["prefix"]);
  EXPECT_EQ(names.size(), theirs.layout.objects_of(theirs.ops));
  EXPECT_EQ(remove_objects(io, names).removed, names.size());
}

}  // namespace
}  // namespace cephmark
