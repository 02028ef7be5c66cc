// `cephmark rbd bench` beside the real `rbd bench` on a real cluster: the same texts and exit
// codes, every block of the image reached, and no data touched that is not ours.
#include <filesystem>
#include <regex>

#include "run_harness.h"

namespace cephmark {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using namespace testing_support;

class RbdBench : public RunTest {
 protected:
  void SetUp() override {
    RunTest::SetUp();
    link_ = path("links/rbd");
    std::filesystem::create_directory(path("links"));
    std::filesystem::create_symlink(required_variable("CEPHMARK"), link_);
  }
  CommandResult link(std::vector<std::string> words) const {
    words.insert(words.begin(), link_);
    return run_command(words);
  }
  static CommandResult real(std::vector<std::string> words) {
    words.insert(words.begin(), "rbd");
    return run_command(words);
  }
  std::string spec(int index = 0) const { return "rbd/" + image(index); }

  /// Numbers as N, rows of seconds left out: a fast run has none.
  static std::string layout(const std::string& text) {
    std::string rest = std::regex_replace(text, std::regex("(^|\n) +[0-9][^\n]*(?=\n)"), "$1");
    rest = std::regex_replace(rest, std::regex("\n+"), "\n");
    rest = std::regex_replace(rest, std::regex("[0-9]+(\\.[0-9]+)?(e[+-][0-9]+)?"), "N");
    return std::regex_replace(rest, std::regex("N ([KMG]i)?B/s"), "N B/s");
  }
  std::string contents(int index = 0) const {
    std::filesystem::remove(path("export"));
    run_or_throw({"rbd", "export", "--no-progress", spec(index), path("export")});
    return read_file(path("export"));
  }
  /// What was kept of the only run.
  RunResult kept() const {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path("data")))
      if (entry.path().extension() == ".json")
        return parse_result(read_file(entry.path()), entry.path());
    throw Error("no result was kept");
  }

  std::string link_;
};

TEST_F(RbdBench, TheTextsAreTheOriginals) {
  make_images(2, "16M");
  const std::vector<std::vector<std::string>> all = {
      {"--io-type", "write", "--io-size", "4K", "--io-threads", "3", "--io-total", "4M"},
      {"--io-type", "rw", "--rw-mix-read", "70", "--io-pattern", "rand", "--io-total", "4M"},
      {"--io-type", "read", "--io-pattern", "full-seq", "--io-size", "64K", "--io-total", "32M"}};
  for (auto words : all) {
    words.insert(words.begin(), {"bench", spec(0)});
    const CommandResult ours = link(words);
    words[1] = spec(1);
    const CommandResult theirs = real(words);
    EXPECT_EQ(ours.exit_code, 0) << ours.err;
    EXPECT_EQ(without_log_lines(ours.err), "");
    EXPECT_EQ(layout(ours.out), layout(theirs.out));
    // What does not depend on speed: the head, and how many I/Os there were.
    EXPECT_EQ(ours.out.substr(0, ours.out.find('\n')), theirs.out.substr(0, theirs.out.find('\n')));
    const auto ops = [](const std::string& text) {
      const size_t at = text.find(" ops: ");
      return text.substr(at, text.find("ops/sec") - at);
    };
    EXPECT_EQ(ops(ours.out), ops(theirs.out));
  }
}

TEST_F(RbdBench, MistakesAreToldAsTheOriginalTellsThem) {
  make_images(1, "16M");
  const std::string io = "--io-type";
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"bench", spec()},
                                             {"bench", spec(), io, "foo"},
                                             {"bench", spec(), io, "read", "--io-size", "1G"},
                                             {"bench", spec(), io, "read", "--io-size", "0"},
                                             {"bench", spec(), io, "read", "--io-threads", "0"},
                                             {"bench", spec(), io, "read", "--io-pattern", "x"},
                                             {"bench", spec(), io, "read", "--io-total"},
                                             {"bench", spec(), io, "read", "--frobnicate"},
                                             {"bench", spec(), io, "rw", "--rw-mix-read", "101"},
                                             {"bench", spec() + "@snap", io, "write"},
                                             {"bench", "rbd/nope", io, "read"},
                                             {"bench", "nopool/x", io, "read"},
                                             {"bench", "rbd/nons/x", io, "read"},
                                             {"bench", spec(), "second", io, "read"},
                                             {"bench", io, "read"}}) {
    const CommandResult ours = link(words), theirs = real(words);
    const std::string call = fmt::format("{}", fmt::join(words, " "));
    EXPECT_EQ(ours.exit_code, theirs.exit_code) << call;
    EXPECT_EQ(without_log_lines(ours.err), without_log_lines(theirs.err)) << call;
  }
}

// The original never reaches what does not divide among its threads.
TEST_F(RbdBench, SequentialWritesReachEveryBlockOnce) {
  make_images(1, "8M");
  const auto ended = link({"bench", spec(), "--io-type", "write", "--io-threads", "7", "--io-size",
                           "48K", "--io-total", "8160K", "--pattern-byte", "7"});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  const std::string data = contents();
  const size_t whole = (8 << 20) / (48 << 10) * (48 << 10);
  EXPECT_EQ(data.substr(0, whole), std::string(whole, '\x07'));
  EXPECT_THAT(ended.out, HasSubstr(" ops: 170 "));
}

TEST_F(RbdBench, OurOwnTextHasLatenciesAndDataThatDoesNotCompress) {
  make_images(1, "16M");
  const auto ended = cephmark({"rbd", "bench", spec(), "--io-type", "write", "--io-total", "4M"},
                              {.directory = scratch_.path()});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, AllOf(HasSubstr("p99.99"), HasSubstr("\nwrite "),
                               HasSubstr("until all was flushed")));
  write_file_atomically(path("data.bin"), contents().substr(0, 256 << 10));
  run_or_throw({"gzip", "-k", path("data.bin")});
  EXPECT_GT(std::filesystem::file_size(path("data.bin.gz")), 250u << 10);
}

TEST_F(RbdBench, ARunTimeEndsIt) {
  make_images(1, "16M");
  const auto ended = link({"bench", spec(), "--io-type", "read", "--run-time", "2s"});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, AllOf(HasSubstr("elapsed: 2 "), testing::Not(HasSubstr(" bytes "))));
  EXPECT_GE(kept().measured_ns, 2 * kNsPerSecond);
}

TEST_F(RbdBench, OptionsOfCephCount) {
  make_images(1, "16M");
  ASSERT_EQ(link({"bench", spec(), "--io-type", "read", "--io-total", "1M", "--rbd-cache=false"})
                .exit_code,
            0);
  EXPECT_THAT(kept().vms[0].targets[0].facts.at("cache"), HasSubstr("off"));
}

// This outranks what the original does.
TEST_F(RbdBench, AnImageWithDataOfOthersIsNotWrittenTo) {
  run_or_throw({"rbd", "create", "-s", "8M", spec()});
  run_or_throw({"rbd", "bench", spec(), "--io-type", "write", "--io-total", "64K"});
  const std::string before = contents();
  const std::vector<std::string> words = {"bench", spec(),       "--io-type",
                                          "write", "--io-total", "8M"};
  const auto refused = link(words);
  EXPECT_NE(refused.exit_code, 0);
  EXPECT_THAT(refused.err, HasSubstr("--allow-write"));
  EXPECT_EQ(contents(), before);
  auto allowed = words;
  allowed.insert(allowed.end(), {"--allow-write", spec()});
  EXPECT_EQ(link(allowed).exit_code, 0);
  EXPECT_NE(contents(), before);
}

TEST_F(RbdBench, EverythingElseGoesToTheRealProgram) {
  make_images(1, "8M");
  EXPECT_EQ(link({"ls"}).out, real({"ls"}).out);
  EXPECT_EQ(link({"help", "bench"}).out, real({"help", "bench"}).out);
  EXPECT_EQ(link({"frobnicate"}).exit_code, real({"frobnicate"}).exit_code);
}

TEST_F(RbdBench, TheOldNameWarns) {
  make_images(1, "8M");
  const auto ended = link({"bench-write", spec(), "--io-total", "64K"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.err, "rbd: bench-write is deprecated, use rbd bench --io-type write ...\n");
}

}  // namespace
}  // namespace cephmark
