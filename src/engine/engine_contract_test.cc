// What every engine that needs no cluster must do, run over the rows of engine_table: a new row is
// tested at once.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/time.h"
#include "engine/engine_table.h"
#include "job/ceph_engines.h"
#include "support/temporary_directory.h"

namespace cephmark {
namespace {

constexpr uint64_t kBlock = 4096, kSize = 64 * kBlock;
constexpr unsigned kDepth = 8;

std::vector<std::string> local_engines() {
  std::vector<std::string> names;
  for (const EngineRow& row : engine_table())
    if (!needs_ceph(row.description.name)) names.emplace_back(row.description.name);
  return names;
}

class EngineContract : public testing::TestWithParam<std::string> {
 protected:
  JobSpec job() const {
    JobSpec job;
    job.name = "contract";
    job.ioengine = GetParam();
    job.directory = directory_.path();
    job.size = {SizeSpec::Kind::kBytes, kSize};
    job.rw.reads = job.rw.writes = true;
    job.iodepth = kDepth;
    return job;
  }

  // Opens the job's engine with one queue and one port.
  void open(const JobSpec& spec) {
    job_ = spec;
    const EngineContext context{plan_, vm_};
    engine_ = row_.create(job_, context);
    info_ = engine_->open();
    engine_->prepare(true, kNsPerSecond);
    if (row_.make_port) port_ = row_.make_port(kDepth, job_);
    memory_.reset(static_cast<std::byte*>(std::aligned_alloc(kBlock, kDepth * kBlock)));
    QueueSetup setup{.depth = kDepth, .port = port_.get(), .job = &job_};
    queue_ = engine_->make_queue(setup);
    for (unsigned i = 0; i < kDepth; ++i) {
      requests_[i] = {};
      requests_[i].slot = i;
      requests_[i].buffer = memory_.get() + i * kBlock;
      requests_[i].length = kBlock;
    }
  }

  // Submits the first `count` requests and waits until all have come back.
  void run(unsigned count) {
    std::vector<IoRequest*> batch;
    for (unsigned i = 0; i < count; ++i) {
      requests_[i].submitted_ns = 0;
      requests_[i].completed_ns = 0;
      requests_[i].result = INT64_MIN;
      batch.push_back(&requests_[i]);
    }
    unsigned sent = 0, back = 0;
    const int64_t give_up_ns = monotonic_ns() + 30 * kNsPerSecond;
    IoRequest* out[kDepth];
    while (back < count) {
      ASSERT_LT(monotonic_ns(), give_up_ns) << back << " of " << count << " requests came back";
      sent += queue_->submit(std::span(batch).subspan(sent));
      if (!port_) {
        back = sent;
        continue;
      }
      ASSERT_EQ(port_->flush(), 0);
      const int reaped = port_->reap(out);
      back += reaped;
      if (reaped == 0) port_->wait(wake_[0], monotonic_ns() + 100 * kNsPerMs);
    }
    for (unsigned i = 0; i < count; ++i) {
      EXPECT_GT(requests_[i].submitted_ns, 0);
      EXPECT_GE(requests_[i].completed_ns, requests_[i].submitted_ns);
    }
  }

  void SetUp() override { ASSERT_EQ(pipe(wake_), 0); }
  void TearDown() override {
    queue_.reset();
    port_.reset();
    if (engine_) engine_->close();
    ::close(wake_[0]);
    ::close(wake_[1]);
  }

  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };
  testing_support::TemporaryDirectory directory_;
  Plan plan_;
  VmPlan vm_;
  JobSpec job_;
  const EngineRow& row_ = *find_engine(GetParam());
  std::unique_ptr<Engine> engine_;
  TargetInfo info_;
  std::unique_ptr<Port> port_;
  std::unique_ptr<IoQueue> queue_;
  std::unique_ptr<std::byte, Free> memory_;
  IoRequest requests_[kDepth];
  int wake_[2] = {-1, -1};
};

TEST_P(EngineContract, DescribesItself) {
  EXPECT_FALSE(row_.description.summary.empty());
  EXPECT_EQ(row_.make_port != nullptr, row_.completion == CompletionMode::kPolled);
  EXPECT_EQ(row_.description.synchronous, row_.completion == CompletionMode::kBlocking);
  for (const EngineOption& option : row_.description.options)
    EXPECT_FALSE(option.help.empty()) << option.name;
}

TEST_P(EngineContract, EveryOpComesBackWhole) {
  open(job());
  EXPECT_EQ(info_.size_bytes, kSize);
  EXPECT_FALSE(info_.name.empty());
  for (Op op : {Op::kWrite, Op::kRead, Op::kFlush, Op::kTrim}) {
    for (unsigned i = 0; i < kDepth; ++i) {
      requests_[i].op = op;
      requests_[i].offset = op == Op::kFlush ? 0 : i * kBlock;
      requests_[i].length = op == Op::kFlush ? 0 : kBlock;
    }
    run(kDepth);
    for (const IoRequest& request : requests_)
      EXPECT_EQ(request.result, static_cast<int64_t>(request.length))
          << op_name(op) << " slot " << request.slot;
  }
}

TEST_P(EngineContract, ReadsWhatWasWritten) {
  if (GetParam() == "null") GTEST_SKIP() << "null keeps no data";
  open(job());
  for (unsigned i = 0; i < kDepth; ++i) {
    requests_[i].op = Op::kWrite;
    requests_[i].offset = i * kBlock;
    std::fill_n(requests_[i].buffer, kBlock, static_cast<std::byte>(i + 1));
  }
  run(kDepth);
  std::fill_n(memory_.get(), kDepth * kBlock, std::byte{0});
  for (IoRequest& request : requests_) request.op = Op::kRead;
  run(kDepth);
  for (unsigned i = 0; i < kDepth; ++i) {
    EXPECT_EQ(requests_[i].buffer[0], static_cast<std::byte>(i + 1));
    EXPECT_EQ(requests_[i].buffer[kBlock - 1], static_cast<std::byte>(i + 1));
  }
}

TEST_P(EngineContract, FailuresAreResultsAndTheQueueGoesOn) {
  if (GetParam() == "null") GTEST_SKIP() << "null cannot fail";
  open(job());
  requests_[0].op = Op::kRead;
  requests_[0].file = 7;  // there is no such file: EBADF, as a result
  requests_[1].op = Op::kRead;
  requests_[1].offset = kSize;  // behind the end: nothing is read
  requests_[2].op = Op::kRead;
  run(3);
  EXPECT_EQ(requests_[0].result, -EBADF);
  EXPECT_EQ(requests_[1].result, 0);
  EXPECT_EQ(requests_[2].result, static_cast<int64_t>(kBlock));
}

TEST_P(EngineContract, DirectIoOfAnOddSizeIsRefusedWithWordsBeforeAnyIo) {
  if (GetParam() == "null") GTEST_SKIP() << "null takes any size";
  JobSpec odd = job();
  odd.direct = true;
  odd.block_sizes[op_index(Op::kRead)] = {1000, 1000, {}};
  try {
    open(odd);
    FAIL() << "1000-byte direct reads were accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(),
                testing::AnyOf(testing::HasSubstr("1000 bytes"), testing::HasSubstr("EINVAL")));
    EXPECT_FALSE(error.hint().empty());
    engine_.reset();
  }
}

TEST_P(EngineContract, AWaitEndsByTheWakeDescriptor) {
  open(job());
  if (!port_) GTEST_SKIP() << "it has no port";
  ASSERT_EQ(write(wake_[1], "x", 1), 1);
  port_->wait(wake_[0],
              monotonic_ns() + 60 * kNsPerSecond);  // the test's own time limit tells a failure
}

INSTANTIATE_TEST_SUITE_P(Engines, EngineContract, testing::ValuesIn(local_engines()),
                         [](const auto& row) { return row.param; });

TEST(PsyncQueue, ARequestThatFallsShortIsTheLastOfItsBatch) {
  const testing_support::TemporaryDirectory directory;
  JobSpec job;
  job.name = "short";
  job.ioengine = "psync";
  job.directory = directory.path();
  job.size = {SizeSpec::Kind::kBytes, kSize};
  job.rw.reads = true;
  const Plan plan;
  const VmPlan vm;
  const auto engine = find_engine("psync")->create(job, EngineContext{plan, vm});
  engine->open();
  const auto queue = engine->make_queue({.depth = 1, .job = &job});
  std::vector<std::byte> memory(kBlock);
  IoRequest requests[4];
  IoRequest* batch[4];
  for (int i = 0; i < 4; ++i) {
    requests[i].length = kBlock;
    requests[i].buffer = memory.data();
    batch[i] = &requests[i];
  }
  requests[1].offset = kSize - 512;
  int accepted = queue->submit(batch);
  if (accepted == 1) accepted += queue->submit(std::span(batch).subspan(1));  // the first was slow
  EXPECT_EQ(accepted, 2);
  EXPECT_EQ(requests[1].result, 512);
  EXPECT_EQ(requests[2].submitted_ns, 0);
  engine->close();
}

// The options of a kernel engine change how I/O is done, not what comes of it.
class IoUringOptions : public testing::TestWithParam<std::map<std::string, std::string>> {};

TEST_P(IoUringOptions, ReadsEveryBlock) {
  const testing_support::TemporaryDirectory directory;
  JobSpec job;
  job.name = "options";
  job.ioengine = "io_uring";
  job.directory = directory.path();
  job.size = {SizeSpec::Kind::kBytes, kSize};
  job.rw.reads = job.rw.writes = true;
  job.engine_options = GetParam();
  const Plan plan;
  const VmPlan vm;
  const EngineRow& row = *find_engine("io_uring");
  const auto engine = row.create(job, EngineContext{plan, vm});
  engine->open();
  const auto port = row.make_port(2 * kDepth, job);
  void* memory = std::aligned_alloc(kBlock, 2 * kDepth * kBlock);
  std::memset(memory, 0, 2 * kDepth * kBlock);
  std::vector<IoRequest> requests(2 * kDepth);
  std::vector<std::unique_ptr<IoQueue>> queues;
  for (unsigned q = 0; q < 2; ++q) {  // two lanes on one ring
    QueueSetup setup{.depth = kDepth, .port = port.get(), .job = &job};
    for (unsigned i = 0; i < kDepth; ++i) {
      IoRequest& request = requests[q * kDepth + i];
      request.buffer = static_cast<std::byte*>(memory) + (q * kDepth + i) * kBlock;
      request.slot = i;
      request.offset = (q * kDepth + i) * kBlock;
      request.length = kBlock;
      setup.buffers.emplace_back(request.buffer, kBlock);
    }
    queues.push_back(engine->make_queue(setup));
  }
  for (const Op op : {Op::kWrite, Op::kRead, Op::kFlush}) {
    for (unsigned i = 0; i < requests.size(); ++i) {
      IoRequest& request = requests[i];
      request.op = op;
      if (op == Op::kFlush) request.length = 0;
      if (op != Op::kFlush)
        std::fill_n(request.buffer, kBlock, static_cast<std::byte>(op == Op::kWrite ? i + 1 : 0));
      IoRequest* one[1] = {&request};
      ASSERT_EQ(queues[i / kDepth]->submit(one), 1);
    }
    ASSERT_EQ(port->flush(), 0);
    size_t back = 0;
    IoRequest* out[2 * kDepth];
    const int64_t give_up_ns = monotonic_ns() + 30 * kNsPerSecond;
    while (back < requests.size() && monotonic_ns() < give_up_ns) {
      const int reaped = port->reap(out);
      for (int i = 0; i < reaped; ++i)
        EXPECT_EQ(out[i]->result, static_cast<int64_t>(out[i]->length)) << op_name(op);
      back += static_cast<size_t>(reaped);
      if (reaped == 0) port->wait(-1, monotonic_ns() + 10 * kNsPerMs);
    }
    ASSERT_EQ(back, requests.size());
    for (unsigned i = 0; op == Op::kRead && i < requests.size(); ++i)
      EXPECT_EQ(requests[i].buffer[kBlock - 1], static_cast<std::byte>(i + 1));
  }
  queues.clear();
  engine->close();
  std::free(memory);
}

using Options = std::map<std::string, std::string>;
INSTANTIATE_TEST_SUITE_P(
    Sets, IoUringOptions,
    testing::Values(Options{}, Options{{"registerfiles", "0"}}, Options{{"force_async", "1"}},
                    Options{{"force_async", "3"}, {"registerfiles", "1"}},
                    Options{{"fixedbufs", "1"}},
                    Options{{"fixedbufs", "1"}, {"registerfiles", "0"}, {"force_async", "2"}}));

TEST(IoUring, PollingWantsDirectIo) {
  JobSpec job;
  job.name = "polled";
  job.ioengine = "io_uring";
  job.engine_options = {{"hipri", "1"}};
  const Plan plan;
  const VmPlan vm;
  EXPECT_THROW(find_engine("io_uring")->create(job, EngineContext{plan, vm}), UsageError);
}

TEST(Libaio, MoreThanTheKernelAllowsIsRefusedBeforeAnythingIsOpened) {
  Plan plan;
  plan.vms.resize(1);
  JobSpec job;
  job.name = "deep";
  job.ioengine = "libaio";
  job.iodepth = 32768;
  job.numjobs = 1'000'000;
  plan.vms[0].jobs.push_back(job);
  try {
    find_engine("libaio")->create(job, EngineContext{plan, plan.vms[0]});
    FAIL() << "32 thousand million requests were accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("32768000000 requests"));
    EXPECT_THAT(error.what(), testing::HasSubstr("fs.aio-max-nr"));
    EXPECT_THAT(error.hint(), testing::HasSubstr("sysctl -w fs.aio-max-nr="));
  }
}

// File targets.

class FileTargets : public testing::Test {
 protected:
  JobSpec job(bool writes) const {
    JobSpec job;
    job.name = "target";
    job.directory = directory_.path();
    job.rw.reads = !writes;
    job.rw.writes = writes;
    return job;
  }
  std::string make_file(const std::string& name, uint64_t bytes) const {
    std::string path = directory_.path() + "/" + name;
    std::ofstream(path) << std::string(bytes, 'x');
    return path;
  }
  testing_support::TemporaryDirectory directory_;
};

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return std::string(error.what()) + " | " + error.hint();
  }
  return "no error";
}

TEST_F(FileTargets, NamesAreThoseOfFio) {
  JobSpec spec = job(false);
  spec.directory = "/d";
  spec.numjobs = 2;
  spec.nrfiles = 2;
  EXPECT_THAT(FileTarget::paths(spec), testing::ElementsAre("/d/target.0.0", "/d/target.0.1",
                                                            "/d/target.1.0", "/d/target.1.1"));
  spec.filenames = {"a", "/b"};
  EXPECT_THAT(FileTarget::paths(spec), testing::ElementsAre("/d/a", "/b", "/d/a", "/b"));
}

TEST_F(FileTargets, AFileToReadIsLaidOutInFull) {
  JobSpec spec = job(false);
  spec.size = {SizeSpec::Kind::kBytes, 3 * 1024 * 1024 + 4096};
  spec.nrfiles = 2;
  const FileTarget target = FileTarget::open(spec, {});
  ASSERT_EQ(target.files().size(), 2u);
  for (const OpenFile& file : target.files()) {
    EXPECT_EQ(file.size_bytes, spec.size.value / 2);
    EXPECT_EQ(std::filesystem::file_size(file.path), spec.size.value / 2);
  }
}

TEST_F(FileTargets, WhatExistsIsNeitherExtendedNorOverwritten) {
  const std::string path = make_file("kept", 8192);
  JobSpec reader = job(false);
  reader.filenames = {path};
  reader.size = {SizeSpec::Kind::kBytes, 1 << 20};
  EXPECT_THAT(message_of([&] { FileTarget::open(reader, {}); }),
              testing::HasSubstr("which has 8 KiB"));
  JobSpec writer = job(true);
  writer.filenames = {path};
  writer.size = {SizeSpec::Kind::kBytes, 8192};
  EXPECT_THAT(message_of([&] { FileTarget::open(writer, {}); }),
              testing::HasSubstr("was there before this run"));
  EXPECT_EQ(std::filesystem::file_size(path), 8192u);
}

TEST_F(FileTargets, AGuardIsAskedAndMayAllow) {
  const std::string path = make_file("given", 8192);
  JobSpec writer = job(true);
  writer.filenames = {path};
  std::vector<FileAccess> asked;
  FileTarget::open(writer, [&](const FileAccess& access) { asked.push_back(access); });
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_TRUE(asked[0].exists);
  EXPECT_TRUE(asked[0].writes);
  EXPECT_FALSE(asked[0].own_name);
}

TEST_F(FileTargets, NothingIsCreatedInKernelDirectories) {
  JobSpec spec = job(true);
  spec.size = {SizeSpec::Kind::kBytes, 4096};
  std::filesystem::create_directory_symlink("/dev", directory_.path() + "/link");
  for (const std::string& path :
       {std::string("/dev/sdq9"), std::string("/proc/cephmark-x"), std::string("/sys/cephmark-x"),
        directory_.path() + "/link/sdq9"}) {
    spec.filenames = {path};
    EXPECT_THAT(message_of([&] { FileTarget::open(spec, {}); }),
                testing::HasSubstr("never created under"));
  }
  spec.filenames = {"/dev/"};
  EXPECT_NE(message_of([&] { FileTarget::open(spec, {}); }), "no error");
}

TEST_F(FileTargets, AMissingFileWithoutSizeIsExplained) {
  JobSpec spec = job(false);
  EXPECT_THAT(message_of([&] { FileTarget::open(spec, {}); }), testing::HasSubstr("size="));
}

}  // namespace
}  // namespace cephmark
