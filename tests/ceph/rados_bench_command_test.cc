// cephmark rados and a link named rados beside the real program, on one pool: texts, documents,
// exit codes, and that either reads, checks and removes what the other wrote.

#include "rados_harness.h"

namespace cephmark {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using testing_support::RadosTest;
using testing_support::without_log_lines;

class RadosCommand : public RadosTest {
 protected:
  void expect_same(const std::vector<std::string>& words) {
    const CommandResult real = theirs(words), mine = compat(words);
    auto my_lines = shape(mine.out), real_lines = shape(real.out);
    // The original prints its table on a thread of its own, which may come too late for a run that
    // is over at once.
    if (!has_table(my_lines) || !has_table(real_lines)) {
      std::erase_if(my_lines, is_of_table);
      std::erase_if(real_lines, is_of_table);
    }
    EXPECT_EQ(my_lines, real_lines) << words.back();
    EXPECT_EQ(without_log_lines(mine.err), without_log_lines(real.err)) << words.back();
    EXPECT_EQ(mine.exit_code, real.exit_code) << words.back();
  }
  static bool is_of_table(const std::string& line) {
    return line.find("sec Cur ops") != std::string::npos || line.ends_with(" ROW");
  }
  static bool has_table(const std::vector<std::string>& lines) {
    return std::any_of(lines.begin(), lines.end(), is_of_table);
  }
  /// Keys in their order, without what the original prints around its document and inside it.
  static std::vector<std::string> keys_of_theirs(const std::string& out) {
    static const std::regex key("\"([a-z_]+)\":");
    std::vector<std::string> keys;
    for (std::sregex_iterator at(out.begin(), out.end(), key), end; at != end; ++at)
      if (std::find(keys.begin(), keys.end(), (*at)[1]) == keys.end()) keys.push_back((*at)[1]);
    return keys;
  }
};

TEST_F(RadosCommand, TextsAreTheOriginals) {
  expect_same(
      {"bench", "1", "write", "-b", "4096", "-t", "4", "--show-time", "--max-objects", "40"});
  expect_same({"bench", "0", "write", "-b", "4096", "-O", "16384", "-t", "4", "--no-hints"});
  ASSERT_EQ(theirs({"bench", "1", "write", "-b", "4096", "-t", "4", "--no-cleanup", "--max-objects",
                    "40"})
                .exit_code,
            0);
  expect_same({"bench", "1", "rand", "-t", "4"});
  EXPECT_TRUE(has_table(shape(compat({"bench", "1", "rand", "-t", "4"}).out)));
  expect_same({"bench", "0", "rand", "-t", "4", "--no-verify", "--show-time"});
  expect_same({"bench", "0", "seq", "-t", "4"});
  EXPECT_THAT(compat({"cleanup"}).out, testing::MatchesRegex("Removed [0-9]+ objects\n"));
  EXPECT_TRUE(objects().empty());
}

TEST_F(RadosCommand, FailuresAreToldAsTheOriginalDoes) {
  expect_same({"bench", "1", "seq"});
  expect_same({"bench", "1", "rand", "--run-name", "nothing-of-that-name"});
  expect_same({"bench", "1", "write", "--reuse-bench"});
  expect_same({"bench", "1", "seq", "-b", "4096"});
  expect_same({"bench", "1", "write", "-o", path("file")});
  expect_same({"bench", "1", "write", "-b", "4k"});
  expect_same({"cleanup"});
  for (const auto& program : {std::string("/usr/bin/rados"), link()}) {
    const auto result = start(program, {"-p", "no-such-pool", "bench", "1", "write"});
    EXPECT_EQ(without_log_lines(result.err),
              "error opening pool no-such-pool: (2) No such file or directory\n");
    EXPECT_EQ(result.exit_code, 1);
  }
  const auto real = theirs({"cleanup", "--prefix", "foo"}),
             mine = compat({"cleanup", "--prefix", "foo"});
  EXPECT_EQ(without_log_lines(mine.err), without_log_lines(real.err));
  EXPECT_EQ(mine.exit_code, real.exit_code);
}

// In our own words: the exit codes of cephmark, and a hint.
TEST_F(RadosCommand, FailuresInOurWords) {
  const auto none = ours({"bench", "1", "seq"});
  EXPECT_EQ(none.exit_code, 3);
  EXPECT_THAT(none.err, AllOf(StartsWith("cephmark: Must write data"), HasSubstr("hint: ")));
  EXPECT_EQ(none.out, "");
  const auto option = ours({"bench", "1", "write", "--no-clenup"});
  EXPECT_EQ(option.exit_code, 2);
  EXPECT_THAT(option.err, HasSubstr("did you mean --no-cleanup?"));
}

// RAD-01: ops smaller than objects, the last object a part only.
TEST_F(RadosCommand, TheyWriteWeReadCheckAndRemove) {
  ASSERT_EQ(theirs({"bench", "1", "write", "-b", "4096", "-O", "12288", "--no-cleanup"}).exit_code,
            0);
  const auto seq = ours({"bench", "60", "seq", "-f", "json"});
  EXPECT_EQ(seq.exit_code, 0) << seq.err;
  const auto stored = read_bench_record(cluster->io(pool), "benchmark_last_metadata");
  ASSERT_TRUE(stored);
  EXPECT_EQ(parse_json(seq.out, "seq")["total_reads_made"], stored->record.ops);  // each once
  const auto rand = ours({"bench", "1", "rand", "-t", "64"});
  EXPECT_EQ(rand.exit_code, 0) << rand.err;
  const auto gone = ours({"cleanup"});
  EXPECT_EQ(gone.exit_code, 0) << gone.err;
  EXPECT_TRUE(objects().empty());
}

TEST_F(RadosCommand, WeWriteTheyReadCheckAndRemove) {
  const auto write = ours(
      {"bench", "1", "write", "-b", "4096", "-O", "12288", "--no-cleanup", "--run-name", "mine"});
  ASSERT_EQ(write.exit_code, 0) << write.err;
  for (const char* mode : {"seq", "rand"}) {
    const auto read = theirs({"bench", "1", mode, "--run-name", "mine"});
    EXPECT_EQ(read.exit_code, 0) << read.out << read.err;
    EXPECT_EQ(read.err, "");
  }
  const auto over = theirs(
      {"bench", "1", "write", "--reuse-bench", "--run-name", "mine", "-t", "1", "--no-cleanup"});
  EXPECT_EQ(over.exit_code, 0) << over.err;
  EXPECT_EQ(ours({"bench", "1", "seq", "--run-name", "mine"}).exit_code, 0);
  theirs({"cleanup", "--run-name", "mine"});
  EXPECT_EQ(ours({"cleanup", "--prefix", "benchmark_data"}).exit_code, 0);
  EXPECT_TRUE(objects().empty());
}

TEST_F(RadosCommand, AnotherHostsRunIsReadAndRemoved) {
  write_as_another_host("elsewhere", 4242, "benchmark_last_metadata", 20);
  EXPECT_NE(theirs({"bench", "1", "seq"}).exit_code, 0);  // looks under its own name
  for (const auto& read : {compat({"bench", "1", "seq"}), ours({"bench", "1", "rand"})})
    EXPECT_EQ(read.exit_code, 0) << read.err;
  write_as_another_host("third", 4242, "other", 5);
  const auto which = ours({"bench", "1", "seq", "--run-name", "other"});
  EXPECT_THAT(which.err, AllOf(HasSubstr("benchmark_data_elsewhere_4242"), HasSubstr("--prefix")));
  EXPECT_EQ(
      ours({"bench", "1", "seq", "--run-name", "other", "--prefix", "benchmark_data_third_4242"})
          .exit_code,
      0);
  EXPECT_NE(ours({"cleanup", "--run-name", "other"}).exit_code, 0);  // whose are they?
  EXPECT_EQ(count("benchmark_data_"), 25u);
  EXPECT_EQ(ours({"cleanup", "--prefix", "benchmark_data_third"}).exit_code, 0);
  EXPECT_EQ(compat({"cleanup"}).out, "Removed 20 objects\n");
  EXPECT_EQ(objects().size(), 1u);  // `other`, whose name is nobody's
}

// RAD-02: each has a name of its own; reading and removing ask which is meant.
TEST_F(RadosCommand, TwoWritersDoNotGetInEachOthersWay) {
  const std::vector<std::string> write = {"bench", "1", "write",        "-b", "4096",
                                          "-t",    "2", "--no-cleanup", "-f", "json"};
  ChildProcess first = start_ours(write, "first-"), second = start_ours(write, "second-");
  ASSERT_EQ(wait_for(first), 0);
  ASSERT_EQ(wait_for(second), 0);
  const auto which = ours({"bench", "1", "seq"});
  EXPECT_EQ(which.exit_code, 2);
  EXPECT_THAT(which.err, HasSubstr("there are 2 runs here"));
  EXPECT_EQ(ours({"cleanup"}).exit_code, 2);
  for (const char* out : {"first-out", "second-out"}) {
    const std::string name = parse_json(read_file(path(out)), out)["run_name"];
    EXPECT_THAT(which.err, HasSubstr("run " + name + ": "));
    EXPECT_EQ(ours({"bench", "5", "seq", "--run-name", name}).exit_code, 0);
    EXPECT_EQ(theirs({"bench", "5", "seq", "--run-name", name}).exit_code, 0);
    EXPECT_EQ(ours({"cleanup", "--run-name", name}).exit_code, 0);
  }
  EXPECT_TRUE(objects().empty());
}

// RAD-02 where scripts want the original's one name: the run before stays known.
TEST_F(RadosCommand, TheRecordOfTheRunBeforeIsKept) {
  const std::vector<std::string> write = {"bench", "1", "write",         "-b", "4096",
                                          "-t",    "2", "--max-objects", "6",  "--no-cleanup"};
  ASSERT_EQ(theirs(write).exit_code, 0);
  const auto again = compat(write);
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.err, HasSubstr("it is kept as benchmark_last_metadata."));
  EXPECT_EQ(count("benchmark_last_metadata"), 2u);
  EXPECT_EQ(compat({"cleanup"}).out, "Removed 6 objects\n");
  EXPECT_EQ(ours({"bench", "1", "seq"}).exit_code, 0);  // the only one that is left
  EXPECT_EQ(ours({"cleanup"}).exit_code, 0);
  EXPECT_TRUE(objects().empty());
  // With a name of one's own it is refused instead.
  ASSERT_EQ(theirs({"bench", "1", "write", "-b", "4096", "--max-objects", "4", "--no-cleanup",
                    "--run-name", "r"})
                .exit_code,
            0);
  const auto refused = ours({"bench", "1", "write", "--no-cleanup", "--run-name", "r"});
  EXPECT_EQ(refused.exit_code, 3);
  EXPECT_THAT(refused.err, HasSubstr("there is a run r already"));
}

// RAD-05: one document on stdout whatever happens around it; numbers, or strings on request.
TEST_F(RadosCommand, DocumentsHaveTheOriginalsKeysAndNothingAroundThem) {
  const std::vector<std::vector<std::string>> runs = {
      {"bench", "1", "write", "-b", "4096", "-t", "4", "--max-objects", "40", "-f", "json"},
      {"bench", "1", "write", "-b", "4096", "-t", "4", "--max-objects", "40", "-f", "json-pretty",
       "--no-cleanup"},
      {"bench", "1", "seq", "-f", "json"},
      {"bench", "1", "rand", "-f", "json-pretty"}};
  for (const auto& words : runs) {
    const auto real = theirs(words), mine = compat(words);
    ASSERT_EQ(mine.exit_code, 0) << mine.err;
    const Json document = parse_json(mine.out, "bench");
    EXPECT_EQ(keys_of_theirs(mine.out), keys_of_theirs(real.out));
    EXPECT_TRUE(document["bandwidth"].is_number());
    EXPECT_TRUE(document["datas"][0]["sec"].is_number());
    auto strings = words;
    strings.push_back("--json-strings");
    const Json old = parse_json(compat(strings).out, "bench");
    for (const auto& [key, value] : old.items()) {
      EXPECT_TRUE(value.is_string() || key == "datas") << key;
    }
  }
  const auto xml = ours({"bench", "1", "seq", "-f", "xml", "-o", path("report.xml")});
  EXPECT_EQ(xml.exit_code, 2) << "there are several runs by now";
  const auto one = compat({"bench", "1", "seq", "-f", "xml", "-o", path("report.xml")});
  EXPECT_EQ(one.exit_code, 0) << one.err;
  EXPECT_EQ(one.out, "");
  EXPECT_THAT(read_file(path("report.xml")), StartsWith("<bench><datas><data>"));
}

TEST_F(RadosCommand, ADepthAboveTheOpsIsFine) {
  ASSERT_EQ(
      theirs({"bench", "1", "write", "-b", "4096", "-t", "3", "--max-objects", "3", "--no-cleanup"})
          .exit_code,
      0);
  EXPECT_NE(theirs({"bench", "1", "seq", "-t", "64"}).exit_code, 0);
  for (const char* mode : {"seq", "rand"}) {
    const auto read = compat({"bench", "1", mode, "-t", "64"});
    EXPECT_EQ(read.exit_code, 0) << read.err;
    EXPECT_THAT(read.out, Not(HasSubstr("e+308")));
  }
}

TEST_F(RadosCommand, ReuseWritesOverTheRunBefore) {
  ASSERT_EQ(ours({"bench", "1", "write", "-b", "4096", "-O", "8192", "--max-objects", "10",
                  "--no-cleanup", "--run-name", "r"})
                .exit_code,
            0);
  const auto again = ours({"bench", "1", "write", "--reuse-bench", "--max-objects", "4",
                           "--no-cleanup", "--run-name", "r"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(count("benchmark_data_"), 10u);
  // What the shorter run did not come to is still there, and known.
  EXPECT_EQ(read_bench_record(cluster->io(pool), "r")->record.ops, 20);
  const auto last =
      compat({"bench", "1", "write", "--reuse-bench", "--max-objects", "4", "--run-name", "r"});
  EXPECT_THAT(last.out, HasSubstr("Removed 10 objects\n")) << last.err;
  EXPECT_TRUE(objects().empty());
}

TEST_F(RadosCommand, NamespacesAndAllOfThem) {
  const auto write = [&](const std::string& space) {
    return ours({"-N", space, "bench", "1", "write", "-b", "4096", "--max-objects", "5",
                 "--no-cleanup"})
        .exit_code;
  };
  ASSERT_EQ(write("one"), 0);
  ASSERT_EQ(write("two"), 0);
  EXPECT_EQ(ours({"-N", "one", "bench", "1", "seq"}).exit_code, 0);
  EXPECT_EQ(ours({"bench", "1", "seq"}).exit_code, 3);
  EXPECT_EQ(ours({"-N", "one", "cleanup"}).exit_code, 0);
  EXPECT_EQ(objects().size(), 6u);
  EXPECT_EQ(write(""), 0);
  EXPECT_EQ(ours({"--all", "cleanup"}).exit_code, 0);
  EXPECT_TRUE(objects().empty());
}

TEST_F(RadosCommand, OmapAndAttributesBothWays) {
  for (const char* part : {"--write-omap", "--write-xattr"}) {
    const std::vector<std::string> write = {"bench", "1",    "write",         "-b", "4096",
                                            "-O",    "8192", "--max-objects", "8",  "-t",
                                            "2",     part,   "--no-cleanup"};
    const std::string read = part == std::string("--write-omap") ? "--omap" : "--xattr";
    ASSERT_EQ(theirs(write).exit_code, 0);
    const auto seq = ours({"bench", "5", "seq", read});
    EXPECT_EQ(seq.exit_code, 0) << read << seq.err;
    EXPECT_NE(ours({"bench", "5", "seq", "--object"}).exit_code, 0) << "their objects are empty";
    EXPECT_EQ(compat({"cleanup"}).exit_code, 0);
    ASSERT_EQ(ours(write).exit_code, 0);
    EXPECT_EQ(ours({"bench", "5", "seq"}).exit_code, 0) << "our record knows where the bytes are";
    EXPECT_EQ(ours({"cleanup"}).exit_code, 0);
  }
  EXPECT_TRUE(objects().empty());
}

TEST_F(RadosCommand, OmapReadsTakeALimit) {
  ASSERT_EQ(ours({"bench", "1", "write", "-b", "4096", "-O", "16384", "--max-objects", "4",
                  "--write-omap", "--no-cleanup"})
                .exit_code,
            0);
  const auto some = ours({"bench", "5", "seq", "--omap", "--omap-read-max-return", "2",
                          "--omap-read-filter-prefix", "bench-omap"});
  EXPECT_EQ(some.exit_code, 0) << some.err;
  EXPECT_THAT(some.out, HasSubstr("16 reads of 4 KiB"));
}

// RAD-08: what does not compress is checked by us; the original cannot know it.
TEST_F(RadosCommand, RandomPayloadIsCheckedToo) {
  run_or_throw({"ceph", "osd", "pool", "set", pool, "compression_mode", "force"});
  const auto z = ours({"bench", "1", "write", "-b", "64K", "--max-objects", "20"});
  EXPECT_THAT(z.err, HasSubstr("compressed-payload: pool " + pool)) << z.out;
  const auto random = ours({"bench", "1", "write", "-b", "64K", "--max-objects", "20", "--payload",
                            "random", "--no-cleanup", "--run-name", "r"});
  EXPECT_EQ(random.exit_code, 0) << random.err;
  EXPECT_THAT(random.err, Not(HasSubstr("compressed-payload")));
  run_or_throw({"ceph", "osd", "pool", "set", pool, "compression_mode", "none"});
  EXPECT_EQ(ours({"bench", "5", "seq", "--run-name", "r"}).exit_code, 0);
  EXPECT_NE(theirs({"bench", "5", "seq", "--run-name", "r"}).exit_code, 0);
  EXPECT_EQ(theirs({"bench", "5", "seq", "--run-name", "r", "--no-verify"}).exit_code, 0);
  const std::string first = objects().front().first;
  ASSERT_EQ(rados_write(cluster->io(pool).get(),
                        first == "r" ? objects()[1].first.c_str() : first.c_str(), "?", 1, 5000),
            0);
  const auto wrong = compat({"bench", "5", "seq", "--run-name", "r"});
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_THAT(wrong.err, HasSubstr(" is not correct!\nerror during benchmark: (5) Input/output"));
  EXPECT_EQ(ours({"bench", "5", "seq", "--run-name", "r", "--no-verify"}).exit_code, 0);
}

}  // namespace
}  // namespace cephmark
