#include "run/steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "base/error.h"
#include "base/time.h"

namespace cephmark {
namespace {

class Heard : public Observer {
 public:
  void progress(const std::string&, uint64_t done, uint64_t total) override {
    last = {done, total};
  }
  void note(const std::string&) override {}
  void tick(const TickSample&) override {}
  std::pair<uint64_t, uint64_t> last;
};

TEST(Steps, AllAreDoneAndProgressIsTold) {
  auto count = std::make_shared<std::atomic<int>>(0);
  std::vector<Step> steps;
  for (int i = 0; i < 100; ++i) steps.push_back({"x", [count] { ++*count; }, {}, 0});
  Heard heard;
  bool left_behind = false;
  run_steps("counting", std::move(steps), 8, heard, {}, left_behind);
  EXPECT_EQ(*count, 100);
  EXPECT_EQ(heard.last, std::make_pair(uint64_t{100}, uint64_t{100}));
  EXPECT_FALSE(left_behind);
}

TEST(Steps, ALateOneIsNamedLeftBehindAndCleansUp) {
  auto gate = std::make_shared<std::promise<void>>();
  auto open = std::make_shared<std::shared_future<void>>(gate->get_future());
  auto cleaned = std::make_shared<std::promise<void>>();
  std::vector<Step> steps;
  steps.push_back(
      {"rbd/slow", [open] { open->wait(); }, [cleaned] { cleaned->set_value(); }, 50 * kNsPerMs});
  Heard heard;
  bool left_behind = false;
  try {
    run_steps("opening", std::move(steps), 4, heard, {}, left_behind);
    FAIL() << "the limit was not kept";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("rbd/slow did not come back within 50"));
  }
  EXPECT_TRUE(left_behind);
  gate->set_value();
  EXPECT_EQ(cleaned->get_future().wait_for(std::chrono::seconds(60)), std::future_status::ready);
}

TEST(Steps, AFailureIsItsOwnErrorAndStopsTheRest) {
  std::vector<Step> steps;
  auto begun = std::make_shared<std::atomic<int>>(0);
  for (int i = 0; i < 50; ++i)
    steps.push_back({"x",
                     [begun] {
                       ++*begun;
                       throw Error("no such image", "create it");
                     },
                     {},
                     0});
  Heard heard;
  bool left_behind = false;
  EXPECT_THROW(run_steps("opening", std::move(steps), 1, heard, {}, left_behind), Error);
  EXPECT_EQ(*begun, 1);
}

TEST(Steps, AStopRequestEndsTheWait) {
  auto gate = std::make_shared<std::promise<void>>();
  auto open = std::make_shared<std::shared_future<void>>(gate->get_future());
  std::vector<Step> steps;
  steps.push_back({"x", [open] { open->wait(); }, {}, 0});
  Heard heard;
  bool left_behind = false;
  std::stop_source stop;
  stop.request_stop();
  try {
    run_steps("opening", std::move(steps), 1, heard, stop.get_token(), left_behind);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kInterrupted);
  }
  gate->set_value();
}

}  // namespace
}  // namespace cephmark
