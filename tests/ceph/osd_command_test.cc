// `cephmark osd bench` beside the real `ceph tell osd.N bench` on a real cluster.
#include <regex>

#include "run_harness.h"

namespace cephmark {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using namespace testing_support;

class OsdCommand : public RunTest {
 protected:
  static CommandResult osd(std::vector<std::string> words) {
    words.insert(words.begin(), "osd");
    return cephmark(words);
  }
  static std::string masked(const std::string& text) {
    return std::regex_replace(text, std::regex("(: )[0-9.e+-]+"), "$1N");
  }
  static std::string config_dump() { return run_or_throw({"ceph", "config", "dump"}); }
};

TEST_F(OsdCommand, CompatPrintsWhatCephTellPrints) {
  const std::vector<std::string> shape = {"1048576", "4096"};
  for (const std::string target : {"osd.1", "osd.*"}) {
    std::vector<std::string> ours = {"bench", "--compat", target},
                             theirs = {"ceph", "tell", target, "bench"};
    ours.insert(ours.end(), shape.begin(), shape.end());
    theirs.insert(theirs.end(), shape.begin(), shape.end());
    const auto told = osd(ours);
    EXPECT_EQ(told.exit_code, 0) << told.err;
    EXPECT_EQ(told.err, "");
    EXPECT_EQ(masked(told.out), masked(run_or_throw(theirs)));
    EXPECT_THAT(told.out,
                AllOf(HasSubstr("\"bytes_written\": 1048576"), HasSubstr("\"blocksize\": 4096")));
  }
}

TEST_F(OsdCommand, WhatAnOsdRefusesIsToldAsCephTellTellsIt) {
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"osd.0", "12288001", "4096"}, {"osd.0", "3145728001"}, {"osd.99"}}) {
    std::vector<std::string> ours = {"bench", "--compat"};
    ours.insert(ours.end(), words.begin(), words.end());
    std::vector<std::string> theirs = {"ceph", "tell", words[0], "bench"};
    theirs.insert(theirs.end(), words.begin() + 1, words.end());
    const auto told = osd(ours), real = run_command(theirs);
    EXPECT_EQ(told.err, without_log_lines(real.err));
    EXPECT_EQ(told.exit_code, real.exit_code);
    EXPECT_EQ(told.out, "");
  }
  const auto told = osd({"bench", "osd.0", "12288001", "4096"});
  EXPECT_EQ(told.exit_code, 2);
  EXPECT_THAT(told.err, AllOf(HasSubstr("osd_bench_duration"), HasSubstr("12288000 or less")));
}

TEST_F(OsdCommand, AllOsdsStandInOneTableAndNothingIsChanged) {
  const std::string before = config_dump();
  const auto told =
      osd({"bench", "all", "2097152", "4096", "1048576", "4", "--repeat", "2", "--output", "json"});
  ASSERT_EQ(told.exit_code, 0) << told.err;
  const Json document = parse_json(told.out, "osd bench");
  const Json& osds = document.at("osds");
  ASSERT_EQ(osds.size(), 3u);
  for (const Json& row : osds) {
    EXPECT_EQ(row.at("iops").at("runs").size(), 2u);
    EXPECT_GT(row.at("iops").at("median").get<double>(), 0);
    EXPECT_TRUE(row.at("bytes_per_s").is_null());
    const std::string id = std::to_string(row.at("id").get<int>());
    const std::string option = row.at("mclock_capacity_option");
    // The daemon's own word, by way of the real program.
    const Json stored = parse_json(
        run_or_throw({"ceph", "tell", "osd." + id, "config", "get", option}), "config get");
    EXPECT_EQ(row.at("mclock_capacity_iops").get<double>(),
              std::stod(stored.at(option).get<std::string>()));
  }
  const auto table = osd({"bench", "all", "1048576", "4096", "--repeat", "2"});
  EXPECT_THAT(table.out, AllOf(HasSubstr("4K IOPS"), HasSubstr("osd.0"), HasSubstr("osd.2"),
                               HasSubstr("+/-")));
  EXPECT_EQ(config_dump(), before);
}

TEST_F(OsdCommand, AnOsdThatIsPausedDoesNotHoldACtrlC) {
  pause_osds();
  ChildOptions options;
  options.out_path = path("out");
  options.err_path = path("err");
  ChildProcess child =
      ChildProcess::start({required_variable("CEPHMARK"), "osd", "bench", "osd.0"}, options);
  ASSERT_TRUE(eventually([&] { return text("err").find("Each is busy") != std::string::npos; }))
      << text("err");
  ::kill(child.pid(), SIGINT);
  EXPECT_EQ(wait_for(child), 130) << text("err");
}

class OsdProbe : public OsdCommand {
 protected:
  static CommandResult probe(std::vector<std::string> words) {
    words.insert(words.begin(), {"probe", "--pool", "rbd", "--no-keep", "--no-guard"});
    return osd(words);
  }
  static uint64_t writes_of(int osd) {
    const Json dump = Json::parse(
        run_or_throw({"ceph", "tell", "osd." + std::to_string(osd), "perf", "dump", "osd"}));
    return dump.at("osd").at("op_w").get<uint64_t>();
  }
};

// The witness is each OSD's own counter of the writes it took as a primary.
TEST_F(OsdProbe, EveryOsdIsMetByItselfAndNothingIsLeft) {
  std::vector<uint64_t> before;
  for (int id = 0; id < 3; ++id) before.push_back(writes_of(id));
  const auto ended = probe({"--runtime", "1s", "--output", "json:" + path("o.json")});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  const RunResult told = result("o.json");
  ASSERT_EQ(told.vms.size(), 3u);
  for (int id = 0; id < 3; ++id) {
    const JobResult& writes = told.vms[static_cast<size_t>(id)].jobs[0];
    EXPECT_EQ(told.plan.vms[static_cast<size_t>(id)].name, "osd." + std::to_string(id));
    ASSERT_NE(writes.find(Op::kWrite), nullptr);
    const uint64_t ours = writes.issued;
    EXPECT_GT(ours, 0u);
    // And the few by which the object of the reads was written in full.
    const uint64_t theirs = writes_of(id) - before[static_cast<size_t>(id)];
    EXPECT_GE(theirs, ours);
    EXPECT_LE(theirs, ours + 10);
  }
  EXPECT_THAT(run_or_throw({"rados", "-p", "rbd", "ls"}),
              testing::Not(HasSubstr("cephmark-probe")));
}

TEST_F(OsdProbe, TheSlowOsdIsNamed) {
  const auto delay = [](const char* probability) {
    run_or_throw({"ceph", "tell", "osd.1", "config", "set",
                  "osd_debug_inject_dispatch_delay_duration", "0.1"});
    run_or_throw({"ceph", "tell", "osd.1", "config", "set",
                  "osd_debug_inject_dispatch_delay_probability", probability});
  };
  delay("1");
  const auto ended = probe({"--runtime", "2s"});
  delay("0");
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("osd.1 is slow: its median read takes"));
  EXPECT_THAT(ended.out, testing::Not(HasSubstr("osd.0 is slow: its median read")));
}

TEST_F(OsdProbe, APoolThatIsNotThereIsTold) {
  const auto ended = osd({"probe", "--pool", "nopool"});
  EXPECT_EQ(ended.exit_code, 3);
  EXPECT_THAT(ended.err, HasSubstr("nopool"));
}

}  // namespace
}  // namespace cephmark
