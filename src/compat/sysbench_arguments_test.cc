#include "compat/sysbench_arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cephmark {
namespace {

using Place = SysbenchRefusal::Place;

std::vector<std::string> warnings;

SysbenchArguments parsed(std::vector<std::string> words) {
  words.insert(words.begin(), "sysbench");
  warnings.clear();
  return parse_sysbench_arguments(words, warnings);
}

struct Refusal {
  std::string text;
  Place place;
};

template <typename Action>
Refusal refusal_of(Action action) {
  try {
    action();
  } catch (const SysbenchRefusal& refusal) {
    return {refusal.what(), refusal.place()};
  }
  return {"accepted", Place::kStdout};
}
Refusal refused(const std::vector<std::string>& words) {
  return refusal_of([&] { parsed(words); });
}
Refusal run_refused(const std::vector<std::string>& words) {
  return refusal_of([&] { check_sysbench_run(parsed(words)); });
}

TEST(SysbenchArguments, DefaultsAreSysbenchs) {
  const auto a = parsed({"fileio", "prepare"});
  EXPECT_EQ(a.action, SysbenchAction::kPrepare);
  EXPECT_EQ(a.file.num, 128);
  EXPECT_EQ(a.file.total_bytes, 2147483648u);
  EXPECT_EQ(a.file.block_bytes, 16384u);
  EXPECT_EQ(a.file.fsync_freq, 100);
  EXPECT_TRUE(a.file.fsync_end);
  EXPECT_EQ(a.time_s, 10);
  EXPECT_EQ(a.percentile, 95);
  EXPECT_THAT(warnings, testing::IsEmpty());
}

TEST(SysbenchArguments, OptionsStandAnywhereAndTakeUnderscoresAndUnits) {
  const auto a = parsed({"--file_num=4", "--threads=3", "fileio", "--file-block-size=4K", "run",
                         "--file-total-size=1G", "--file-extra-flags=dsync,direct",
                         "--file-fsync-end=off", "--file-fsync-all", "--rate=50"});
  EXPECT_EQ(a.action, SysbenchAction::kRun);
  EXPECT_EQ(a.file.num, 4);
  EXPECT_EQ(a.threads, 3);
  EXPECT_EQ(a.file.block_bytes, 4096u);
  EXPECT_EQ(a.file.total_bytes, uint64_t{1} << 30);
  EXPECT_TRUE(a.file.dsync && a.file.direct && !a.file.sync);
  EXPECT_FALSE(a.file.fsync_end);
  EXPECT_TRUE(a.file.fsync_all);
  EXPECT_EQ(a.rate, 50);
}

TEST(SysbenchArguments, TheOldFormWarns) {
  const auto a = parsed({"--test=fileio", "--max-time=5", "--num-threads=2", "run"});
  EXPECT_EQ(a.action, SysbenchAction::kRun);
  EXPECT_EQ(a.time_s, 5);
  EXPECT_EQ(a.threads, 2);
  ASSERT_EQ(warnings.size(), 3u);
  EXPECT_THAT(warnings[0], testing::StartsWith("WARNING: the --test option is deprecated."));
  EXPECT_EQ(warnings[1], "WARNING: --max-time is deprecated, use --time instead");
}

TEST(SysbenchArguments, OtherTestsAreNotRead) {
  EXPECT_EQ(parsed({"cpu", "--cpu-max-prime=9", "run"}).action, SysbenchAction::kOtherTest);
  EXPECT_EQ(parsed({"--test=oltp", "--mysql-user=x", "run"}).action, SysbenchAction::kOtherTest);
}

TEST(SysbenchArguments, MistakesAreToldInSysbenchsWordsAndPlaces) {
  const auto expect = [](const Refusal& refusal, const char* text, Place place) {
    EXPECT_EQ(refusal.text, text);
    EXPECT_EQ(refusal.place, place) << text;
  };
  expect(refused({"--foo", "fileio", "run"}), "invalid option: --foo", Place::kStderrBanner);
  expect(refused({"fileio", "--file-fsync-all=yes", "run"}), "invalid option: --file-fsync-all=yes",
         Place::kStderrBanner);
  expect(refused({"fileio"}),
         "The 'fileio' test requires a command argument. See 'sysbench fileio help'",
         Place::kStderrBanner);
  expect(refused({"fileio", "foo"}), "Unknown command: foo", Place::kStderrBanner);
  expect(refused({"fileio", "prepare", "run"}), "Unrecognized command line argument: run",
         Place::kStderr);
  expect(refused({"fileio", "--threads=1x", "run"}), "Invalid value for the 'threads' option: '1x'",
         Place::kStderr);
  expect(refused({"fileio", "--file-num=abc", "run"}),
         "Invalid value for the 'file_num' option: 'abc'", Place::kStderrBanner);
  expect(refused({"fileio", "--file-num=0", "prepare"}), "FATAL: Invalid value for file-num: 0",
         Place::kStdoutBanner);
  expect(refused({"fileio", "--file-total-size=xyz", "prepare"}),
         "FATAL: Invalid value for file-total-size: 0", Place::kStdoutBanner);
  expect(refused({"fileio", "--file-extra-flags=foo", "prepare"}),
         "FATAL: Invalid value for file-extra-flags: foo", Place::kStdoutBanner);
  expect(refused({"fileio", "--threads=0", "run"}), "FATAL: Invalid value for --threads: 0.\n",
         Place::kStdout);
  expect(refused({"fileio", "--percentile=101", "run"}),
         "FATAL: Invalid value for --percentile: 101", Place::kStdout);
}

TEST(SysbenchArguments, OnlyRunLooksAtTheMode) {
  EXPECT_EQ(parsed({"fileio", "--file-test-mode=xx", "prepare"}).file.test_mode, "xx");
  EXPECT_EQ(run_refused({"fileio", "--file-test-mode=xx", "run"}).text,
            "FATAL: Invalid IO operations mode: xx.");
  const Refusal missing = run_refused({"fileio", "run"});
  EXPECT_EQ(missing.text, "FATAL: Missing required argument: --file-test-mode\n");
  EXPECT_EQ(missing.place, Place::kStdoutBannerHelp);
  EXPECT_EQ(run_refused({"fileio", "--file-test-mode=rndrw", "--file-rw-ratio=-1", "run"}).text,
            "FATAL: Invalid value for --file-rw-ratio: -1.000000.");
  EXPECT_EQ(run_refused({"fileio", "--file-test-mode=rndrw", "--file-io-mode=foo", "run"}).text,
            "FATAL: unknown I/O mode: foo");
  EXPECT_THAT(run_refused({"fileio", "--file-test-mode=rndrd", "--file-num=2",
                           "--file-total-size=1M", "--file-block-size=2M", "run"})
                  .text,
              testing::HasSubstr("Block size 2MiB is larger than a file of 512KiB"));
}

TEST(SysbenchArguments, SizesAreRoundedAsPrepareDoes) {
  const auto a = parsed({"fileio", "--file-num=3", "--file-total-size=1M", "prepare"});
  EXPECT_EQ(a.file.file_bytes(), 349525u);
  EXPECT_EQ(a.file.prepared_bytes(), 360448u);
  EXPECT_EQ(sysbench_size_text(2097152 / 3), "682.67KiB");
  EXPECT_EQ(sysbench_size_text(5000), "4.8828KiB");
  EXPECT_EQ(sysbench_size_text(2147483648), "2GiB");
}

}  // namespace
}  // namespace cephmark
