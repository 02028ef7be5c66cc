#include "output/progress.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include <sstream>

#include "base/fd.h"
#include "base/time.h"

namespace cephmark {
namespace {

TickSample sample_of(uint64_t ios, int64_t interval_ns, PhaseKind phase = PhaseKind::kMeasure) {
  TickSample sample;
  sample.interval_ns = interval_ns;
  sample.phase = phase;
  sample.fraction_done = 0.42;
  sample.phase_left_ns = 70 * kNsPerSecond;
  sample.ios[0] = ios;
  sample.bytes[0] = ios * 4096;
  sample.vms_active = 64;
  if (ios) sample.response.add(2'000'000, ios);
  return sample;
}

TEST(Progress, TheLineTellsPhaseRatesAndErrors) {
  EXPECT_EQ(tick_text(sample_of(5120, kNsPerSecond)),
            "measure  42 %  eta 01:10  5,120 IOPS  20.00 MiB/s  p99 2 ms  0 errors  64 VMs");
}

TEST(Progress, AStepIsToldInWhatItCounts) {
  EXPECT_EQ(step_text("opening targets", 12, 1000), "opening targets: 12 of 1,000");
  EXPECT_EQ(step_text("opening targets", 0, 0), "opening targets ...");
  EXPECT_EQ(step_text("prefilling (bytes)", 0, 0), "prefilling ...");
  EXPECT_EQ(step_text("prefilling (bytes)", 3 << 20, 8 << 20), "prefilling: 3 MiB of 8 MiB (38 %)");
}

TEST(Progress, AnEmptyIntervalHasNoLatency) {
  TickSample sample = sample_of(0, kNsPerSecond);
  sample.fraction_done = -1;
  sample.phase_left_ns = -1;
  sample.errors[1] = 1;
  EXPECT_EQ(tick_text(sample), "measure  0.00 IOPS  0.00 MiB/s  p99 -  1 error  64 VMs");
}

TEST(Progress, LiveLineOverwritesItselfAndGoesAway) {
  std::ostringstream out;
  Progress progress(out, {.mode = ProgressMode::kLive, .columns = 100});
  progress.progress("opening images", 12, 64);
  progress.tick(sample_of(500, kNsPerSecond));
  progress.tick(sample_of(7, kNsPerSecond));
  EXPECT_EQ(out.str().find('\n'), std::string::npos);
  progress.finish();
  const std::string text = out.str();
  EXPECT_EQ(text.back(), '\r');
  EXPECT_NE(text.find("\ropening images: 12 of 64"), std::string::npos);
  progress.note("guard: pool nearfull");
  EXPECT_TRUE(out.str().ends_with("\rguard: pool nearfull\n"));
}

TEST(Progress, NeverWiderThanTheTerminal) {
  std::ostringstream out;
  Progress progress(out, {.mode = ProgressMode::kLive, .columns = 40});
  progress.tick(sample_of(5120, kNsPerSecond));
  EXPECT_EQ(out.str().size(), 40u);  // the carriage return and 39 characters
}

TEST(Progress, FollowsATerminalThatIsResized) {
  const UniqueFd terminal(::posix_openpt(O_RDWR | O_NOCTTY));
  ASSERT_TRUE(terminal);
  const auto resize = [&](unsigned short columns) {
    const winsize size{24, columns, 0, 0};
    ASSERT_EQ(::ioctl(terminal.get(), TIOCSWINSZ, &size), 0);
  };
  resize(100);
  std::ostringstream out;
  Progress progress(out, progress_options(terminal.get(), false));
  progress.tick(sample_of(5120, kNsPerSecond));
  EXPECT_TRUE(out.str().ends_with("64 VMs")) << out.str();
  progress.finish();
  resize(40);
  out.str("");
  progress.tick(sample_of(5120, kNsPerSecond));
  EXPECT_EQ(out.str().size(), 40u);
}

TEST(Progress, ShortTicksAreAddedUpToASecond) {
  std::ostringstream out;
  Progress progress(out, {.mode = ProgressMode::kLive, .columns = 100});
  progress.tick(sample_of(1000, kNsPerSecond / 4));
  progress.tick(sample_of(1000, kNsPerSecond / 4));
  progress.tick(sample_of(1000, kNsPerSecond / 4));
  EXPECT_EQ(out.str(), "");
  progress.tick(sample_of(1000, kNsPerSecond / 4));
  EXPECT_NE(out.str().find("4,000 IOPS"), std::string::npos);
}

TEST(Progress, PlainLinesEveryTenSeconds) {
  std::ostringstream out;
  Progress progress(out, {.mode = ProgressMode::kPlain});
  for (int i = 0; i < 25; ++i) progress.tick(sample_of(100, kNsPerSecond));
  const std::string text = out.str();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
  EXPECT_EQ(text.find('\r'), std::string::npos);
}

TEST(Progress, APlainStepIsToldWhenItBeginsAndWhileItTakesLong) {
  static int64_t now_ns = 0;
  std::ostringstream out;
  Progress progress(out, {.mode = ProgressMode::kPlain, .clock = [] { return now_ns; }});
  for (int i = 0; i <= 50; ++i) {
    progress.progress("opening images", i, 64);
    now_ns += 100 * kNsPerMs;
  }
  EXPECT_EQ(out.str(), "opening images ...\nopening images: 20 of 64\nopening images: 40 of 64\n");
  progress.progress("closing", 0, 64);
  EXPECT_TRUE(out.str().ends_with("closing ...\n"));
}

TEST(Progress, PhasesAreNotMixed) {
  std::ostringstream out;
  Progress progress(out, {.mode = ProgressMode::kPlain});
  for (int i = 0; i < 5; ++i) progress.tick(sample_of(100'000, kNsPerSecond, PhaseKind::kWarmup));
  for (int i = 0; i < 10; ++i) progress.tick(sample_of(100, kNsPerSecond));
  EXPECT_TRUE(out.str().starts_with("measure  42 %  eta 01:10  100.0 IOPS")) << out.str();
}

TEST(Progress, QuietIsQuiet) {
  std::ostringstream out;
  Progress progress(out, {.mode = ProgressMode::kQuiet});
  progress.progress("opening images", 1, 2);
  progress.note("text");
  for (int i = 0; i < 30; ++i) progress.tick(sample_of(100, kNsPerSecond));
  progress.finish();
  EXPECT_EQ(out.str(), "");
}

}  // namespace
}  // namespace cephmark
