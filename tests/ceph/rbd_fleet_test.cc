// Many images at once through the rbd engine: opened in parallel, each does I/O, all are closed
// (RBD-01: four worked and five hung).

#include <array>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

#include "engine_harness.h"

namespace cephmark {
namespace {

using test::Collector;
using test::own_name;

class RbdFleet : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    cluster_ = Cluster::connect({});
    plan_.vms.resize(GetParam());
    for (int i = 0; i < GetParam(); ++i) {
      VmPlan& vm = plan_.vms[i];
      vm.name = own_name("vm-" + std::to_string(i));
      vm.index = i;
      vm.jobs.resize(1);
      vm.jobs[0].name = "fleet";
      vm.jobs[0].ioengine = "rbd";
      vm.jobs[0].rw.writes = true;
      vm.jobs[0].iodepth = 4;
      vm.jobs[0].engine_options = {{"pool", "rbd"}, {"rbdname", vm.name}};
    }
    each([&](int i) {
      create_image(*cluster_, {"rbd", "", plan_.vms[i].name, ""}, {.size_bytes = 8 << 20});
      made_[i] = true;
    });
  }
  void TearDown() override {
    each([&](int i) {
      if (made_[i]) remove_image(*cluster_, {"rbd", "", plan_.vms[i].name, ""});
    });
  }

  // On up to 32 threads, as the runner opens. Throws the first Error once all have ended.
  template <typename Work>
  void each(Work work) {
    std::atomic<int> next{0};
    std::mutex mutex;
    std::exception_ptr failure;
    std::vector<std::jthread> threads;
    for (int t = 0; t < std::min(32, GetParam()); ++t)
      threads.emplace_back([&] {
        for (int i; (i = next++) < GetParam();) {
          try {
            work(i);
          } catch (const Error&) {
            std::lock_guard lock(mutex);
            if (!failure) failure = std::current_exception();
          }
        }
      });
    for (auto& thread : threads) thread.join();
    if (failure) std::rethrow_exception(failure);
  }

  std::shared_ptr<Cluster> cluster_;
  Plan plan_;
  std::array<bool, 64> made_{};
};

TEST_P(RbdFleet, AllImagesOpenWriteAndCloseOnAFewConnections) {
  plan_.limits.connections = 4;
  ConnectionPool pool(plan_);
  EXPECT_EQ(pool.size(), std::min(4, GetParam()));
  pool.connect();
  std::vector<std::unique_ptr<Engine>> engines(GetParam());
  each([&](int i) {
    engines[i] = find_engine("rbd")->create(plan_.vms[i].jobs[0], {plan_, plan_.vms[i], &pool});
    engines[i]->open();
    engines[i]->prepare(true, 60 * kNsPerSecond);
  });
  Collector collector;
  std::vector<std::unique_ptr<IoQueue>> queues;
  std::vector<IoRequest> requests(GetParam());
  std::vector<char> block(4096, 'f');
  for (int i = 0; i < GetParam(); ++i) {
    queues.push_back(
        engines[i]->make_queue({.depth = 4, .ready = &collector, .job = &plan_.vms[i].jobs[0]}));
    requests[i].op = Op::kWrite;
    requests[i].length = block.size();
    requests[i].buffer = reinterpret_cast<std::byte*>(block.data());
    IoRequest* batch[] = {&requests[i]};
    EXPECT_EQ(queues[i]->submit(batch), 1);
  }
  ASSERT_TRUE(collector.wait(GetParam()));
  for (const auto& request : requests) EXPECT_EQ(request.result, 4096);
  queues.clear();
  each([&](int i) { engines[i]->close(); });
  each([&](int i) {
    EXPECT_TRUE(
        Image::open(cluster_, {"rbd", "", plan_.vms[i].name, ""}, true)->watchers().empty());
  });
  EXPECT_TRUE(pool.shut_down(60 * kNsPerSecond));
}

INSTANTIATE_TEST_SUITE_P(Sizes, RbdFleet, testing::Values(1, 2, 4, 5, 8, 16, 64),
                         testing::PrintToStringParamName());

TEST(ConnectionPool, ScalesTheBudgetOfAContextByWhatSharesIt) {
  Plan plan;
  plan.limits.connections = 1;
  plan.vms.resize(64);
  for (auto& vm : plan.vms) {
    vm.jobs.resize(1);
    vm.jobs[0].ioengine = "rbd";
    vm.jobs[0].iodepth = 64;
    for (auto& sizes : vm.jobs[0].block_sizes) sizes.max_bytes = 64 << 10;
  }
  ConnectionPool pool(plan);
  EXPECT_EQ(pool.size(), 1);
  pool.connect();
  const auto facts = pool.facts();
  EXPECT_GE(std::stoull(facts.at("objecter_inflight_ops")), 64u * 64 * 2);
  EXPECT_GE(std::stoull(facts.at("objecter_inflight_op_bytes")), 2ull * 64 * 64 * (64 << 10));
  EXPECT_THAT(facts.at("reached by"), testing::HasSubstr("client.admin"));
}

TEST(ConnectionPool, HasOneContextPerVmUpToSixteen) {
  Plan plan;
  plan.vms.resize(20);
  for (auto& vm : plan.vms) {
    vm.jobs.resize(1);
    vm.jobs[0].ioengine = "rbd";
  }
  EXPECT_EQ(ConnectionPool(plan).size(), 16);
  plan.vms.resize(3);
  EXPECT_EQ(ConnectionPool(plan).size(), 3);
}

}  // namespace
}  // namespace cephmark
