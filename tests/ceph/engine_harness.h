// engine_harness: one engine of a Ceph cluster driven by a test: plan, connections, queue, and a
// Ready that collects. CEPH_CONF names the cluster. Tests only; one thread drives, library threads
// call ready().
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>

#include "base/error.h"
#include "base/time.h"
#include "ceph/cluster.h"
#include "ceph/connection.h"
#include "ceph/image.h"
#include "engine/engine_table.h"

namespace cephmark::test {

/// An image or object name of this test process.
inline std::string own_name(const std::string& what) {
  return "ceph-test-" + std::to_string(::getpid()) + "-" + what;
}

/// The message of the Error that `action` throws, with its hint; a failure when it throws none.
template <typename Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return std::string(error.what()) + " | " + error.hint();
  }
  ADD_FAILURE() << "no error was thrown";
  return "";
}

class Collector final : public Ready {
 public:
  void ready(IoRequest& request) noexcept override {
    std::lock_guard lock(mutex_);
    EXPECT_GE(request.completed_ns, request.submitted_ns);
    ++count_;
    changed_.notify_all();
  }
  /// False when fewer than `count` came back within a minute.
  bool wait(size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::minutes(1), [&] { return count_ >= count; });
  }
  void reset() { count_ = 0; }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t count_ = 0;
};

/// A plan with one VM and one job, its connections and its opened engine.
class EngineUnderTest {
 public:
  static constexpr unsigned kDepth = 8;
  static constexpr uint64_t kBlock = 4096;

  EngineUnderTest() {
    plan.vms.resize(1);
    plan.vms[0].name = "vm-0";
    plan.vms[0].jobs.resize(1);
    job().name = "test";
    job().source = "test.fio:1";
    job().iodepth = kDepth;
    job().rw.writes = true;
    memory_.resize((kDepth + 1) * kBlock);
  }
  ~EngineUnderTest() { close(); }

  JobSpec& job() { return plan.vms[0].jobs[0]; }

  TargetInfo open(bool will_write = true) {
    pool = std::make_unique<ConnectionPool>(plan);
    pool->connect();
    context = std::make_unique<EngineContext>(
        EngineContext{plan, plan.vms[0], pool.get(), nullptr, about_to_create_objects, run_id});
    engine = find_engine(job().ioengine)->create(job(), *context);
    TargetInfo info = engine->open();
    opened_ = true;
    engine->prepare(will_write, 60 * kNsPerSecond);
    queue = engine->make_queue({.depth = kDepth, .ready = &collector, .job = &job()});
    return info;
  }

  /// One request at a time: its result.
  int64_t io(Op op, uint64_t offset, uint64_t length, char fill = 0, uint32_t file = 0) {
    IoRequest request;
    request.op = op;
    request.offset = offset;
    request.length = length;
    request.file = file;
    request.result = INT64_MIN;
    request.buffer = buffer();
    if (op == Op::kWrite) std::memset(buffer(), fill, length);
    if (op == Op::kRead) std::memset(buffer(), '?', length);
    IoRequest* batch[] = {&request};
    collector.reset();
    EXPECT_EQ(queue->submit(batch), 1);
    EXPECT_TRUE(collector.wait(1));
    return request.result;
  }
  std::byte* buffer() {
    void* place = memory_.data();
    size_t room = memory_.size();
    return static_cast<std::byte*>(std::align(kBlock, kDepth * kBlock, place, room));
  }
  std::string text(size_t length) { return std::string(reinterpret_cast<char*>(buffer()), length); }

  void close() {
    queue.reset();
    if (engine && opened_) engine->close();
    opened_ = false;
    engine.reset();
    pool.reset();
  }

  Plan plan;
  const std::function<void(const std::vector<std::string>&)>* about_to_create_objects = nullptr;
  std::string run_id;
  Collector collector;
  std::unique_ptr<ConnectionPool> pool;
  std::unique_ptr<EngineContext> context;
  std::unique_ptr<Engine> engine;
  std::unique_ptr<IoQueue> queue;

 private:
  bool opened_ = false;
  std::vector<std::byte> memory_;
};

}  // namespace cephmark::test
