#include "cli/headway.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "base/error.h"
#include "base/time.h"

namespace cephmark {
namespace {

using testing::HasSubstr;

constexpr int64_t kMs = 1'000'000;

void sleep_ms(int ms) {
  std::this_thread::sleep_for(std::chrono::milliseconds(ms));
}

TEST(Headway, PassesOnWhatTheStepDid) {
  Headway headway;
  int done = 0;
  headway.run("counting", [&] { ++done; }, {}, {});
  EXPECT_EQ(done, 1);
  EXPECT_THROW(headway.run("failing", [] { throw UsageError("no"); }, {}, {}), UsageError);
  headway.run("counting again", [&] { ++done; }, {}, {});
  EXPECT_EQ(done, 2);
  EXPECT_FALSE(headway.left_behind());
}

TEST(Headway, GivesUpAStepThatIsSilentAndNamesIt) {
  Headway headway;
  auto over = std::make_shared<std::atomic<bool>>(false);
  try {
    headway.run("opening rbd/a",
                [over] {
                  while (!*over) sleep_ms(5);
                },
                {.silence_ns = 80 * kMs}, {});
    FAIL() << "it was not given up";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("opening rbd/a: nothing came from the cluster for"));
    EXPECT_EQ(error.code(), ExitCode::kEnvironment);
  }
  EXPECT_TRUE(headway.left_behind());
  *over = true;
}

TEST(Headway, WithoutALimitOfSilenceAStepIsOnlyGivenUpAfterAStop) {
  Headway headway;
  auto over = std::make_shared<std::atomic<bool>>(false);
  std::stop_source stop;
  std::thread stopper([&] {
    sleep_ms(150);
    stop.request_stop();
  });
  try {
    headway.run(
        "looking at the targets",
        [over] {
          while (!*over) sleep_ms(5);
        },
        {.silence_ns = 0, .after_stop_ns = 10 * kMs}, stop.get_token());
    ADD_FAILURE() << "it was not given up";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "interrupted while looking at the targets");
    EXPECT_EQ(error.code(), ExitCode::kInterrupted);
  }
  *over = true;
  stopper.join();
}

TEST(Headway, SignsOfLifeKeepAStepGoing) {
  Headway headway;
  int steps = 0;
  headway.run("making images",
              [&] {
                for (; steps < 10; ++steps) {
                  sleep_ms(60);
                  headway.sign_of_life();
                }
              },
              {.silence_ns = 500 * kMs}, {});
  EXPECT_EQ(steps, 10);
}

TEST(Headway, AnnouncedSilenceIsWaitedFor) {
  Headway headway;
  bool done = false;
  headway.run("waiting for a dead watcher",
              [&] {
                headway.sign_of_life(60 * kNsPerSecond);
                sleep_ms(200);
                done = true;
              },
              {.silence_ns = 50 * kMs}, {});
  EXPECT_TRUE(done);
}

TEST(Headway, AfterAStopTheStepMayTakeBackWhatItDid) {
  Headway headway;
  std::stop_source stop;
  stop.request_stop();
  bool taken_back = false;
  headway.run(
      "making images",
      [&] {
        sleep_ms(100);
        taken_back = true;
      },
      {.after_stop_ns = 60 * kNsPerSecond}, stop.get_token());
  EXPECT_TRUE(taken_back);
}

TEST(Headway, AStopEndsTheWaitForAClusterThatDoesNotAnswer) {
  Headway headway;
  std::stop_source stop;
  auto over = std::make_shared<std::atomic<bool>>(false);
  stop.request_stop();
  try {
    headway.run(
        "looking at the images",
        [over] {
          while (!*over) sleep_ms(5);
        },
        {.silence_ns = 3600 * kNsPerSecond, .after_stop_ns = 100 * kMs}, stop.get_token());
    FAIL() << "it was not given up";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("interrupted while looking at the images"));
    EXPECT_EQ(error.code(), ExitCode::kInterrupted);
  }
  *over = true;
}

}  // namespace
}  // namespace cephmark
