// cephmark rados where something is in its way: pools that are full or do not serve, keys that may
// not, no room, interruptions; and what a clean-up leaves alone.

#include "rados_harness.h"

namespace cephmark {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing_support::eventually;
using testing_support::RadosTest;

class RadosFaults : public RadosTest {
 protected:
  /// A key with these caps for the OSDs; its name is to be given with -n, its file with -k.
  std::string key(const std::string& user, const std::string& osd_caps) const {
    run_command({"ceph", "auth", "del", user});
    run_or_throw({"ceph", "auth", "get-or-create", user, "mon", "allow r", "osd", osd_caps, "-o",
                  path("key")});
    return path("key");
  }
  static void quota(const std::string& what, const std::string& value) {
    run_or_throw({"ceph", "osd", "pool", "set-quota", pool, what, value});
  }
};

// Small enough for a lab, and told from the first second.
constexpr int64_t kSoon_ns = 25 * kNsPerSecond;

// RAD-10: who may not, and what it takes.
TEST_F(RadosFaults, AKeyThatMayNotWrite) {
  const std::string user = "client.rados-faults-ro", file = key(user, "allow r");
  const int64_t start_ns = monotonic_ns();
  const auto mine = ours({"-n", user, "-k", file, "bench", "60", "write"});
  EXPECT_LT(monotonic_ns() - start_ns, kSoon_ns);
  EXPECT_EQ(mine.exit_code, 3);
  EXPECT_THAT(mine.err, AllOf(HasSubstr("user " + user + " may not write to pool " + pool),
                              HasSubstr("osd 'allow rw pool=" + pool + "'")));
  const auto same = compat({"-n", user, "-k", file, "bench", "60", "write"});
  EXPECT_EQ(same.err,
            "error during benchmark: (1) Operation not permitted\n"
            "error 1: (1) Operation not permitted\n");
  EXPECT_EQ(same.exit_code, 1);
  EXPECT_TRUE(objects().empty());
  const auto nobody = ours({"-n", "client.nobody-of-that-name", "bench", "1", "write"});
  EXPECT_EQ(nobody.exit_code, 3);
  EXPECT_THAT(nobody.err, HasSubstr("client.nobody-of-that-name"));
  run_command({"ceph", "auth", "del", user});
}

// RAD-07: refused before where the amount is known, else stopped in time.
TEST_F(RadosFaults, RoomIsLookedAtFirst) {
  quota("max_bytes", "4194304");
  const auto too_much = ours({"bench", "60", "write", "-b", "1M", "--max-objects", "10"});
  EXPECT_EQ(too_much.exit_code, 3);
  EXPECT_THAT(too_much.err, AllOf(HasSubstr("10 MiB are to be written"),
                                  HasSubstr("takes 3.60 MiB until it is nearly full")));
  EXPECT_TRUE(objects().empty());
  const auto limited = ours({"bench", "60", "write", "-b", "64K", "-t", "2"});
  EXPECT_EQ(limited.exit_code, 0) << limited.err;
  EXPECT_THAT(limited.err, HasSubstr("stopped after 3.56 MiB: more would make the cluster nearly"));
  EXPECT_THAT(limited.out, HasSubstr("57 writes of 64 KiB"));
  quota("max_bytes", "0");
  EXPECT_TRUE(objects().empty());
}

TEST_F(RadosFaults, AFullPoolIsToldAtOnceAndCanBeCleanedUp) {
  ASSERT_EQ(ours({"bench", "1", "write", "-b", "4096", "--max-objects", "8", "--no-cleanup",
                  "--run-name", "r"})
                .exit_code,
            0);
  quota("max_objects", "2");
  ASSERT_TRUE(eventually([] {
    return run_or_throw({"ceph", "osd", "dump"}).find("full_quota") != std::string::npos;
  }));
  const int64_t start_ns = monotonic_ns();
  const auto write = ours({"bench", "60", "write", "--allow-nearfull"});
  EXPECT_LT(monotonic_ns() - start_ns, kSoon_ns);
  EXPECT_EQ(write.exit_code, 3);
  EXPECT_THAT(write.err, HasSubstr("pool " + pool + " has reached its quota"));
  EXPECT_EQ(ours({"bench", "1", "seq", "--run-name", "r"}).exit_code, 0);
  const auto gone = ours({"cleanup", "--run-name", "r"});  // librados alone would wait for ever
  EXPECT_EQ(gone.exit_code, 0) << gone.err;
  EXPECT_TRUE(objects().empty());
  quota("max_objects", "0");
  EXPECT_TRUE(eventually([] {
    return run_or_throw({"ceph", "osd", "dump"}).find("full_quota") == std::string::npos;
  }));
}

TEST_F(RadosFaults, GroupsThatDoNotServeAreToldAtOnce) {
  const std::string broken = pool + "-broken", profile = broken + "-profile";
  run_or_throw({"ceph", "osd", "erasure-code-profile", "set", profile, "k=9", "m=3",
                "crush-failure-domain=osd"});
  make_pool(broken, {"8", "erasure", profile});  // twelve OSDs for each, which no lab has
  EXPECT_TRUE(eventually([&] {
    return run_or_throw({"ceph", "health", "detail"}).find("pg ") != std::string::npos;
  }));
  const int64_t start_ns = monotonic_ns();
  const auto write = start(link(), {"-p", broken, "--no-compat", "bench", "60", "write"});
  EXPECT_LT(monotonic_ns() - start_ns, 2 * kSoon_ns);
  EXPECT_NE(write.exit_code, 0);
  EXPECT_THAT(write.err, HasSubstr(broken));
  drop_pool(broken);
  run_command({"ceph", "osd", "erasure-code-profile", "rm", profile});
}

TEST_F(RadosFaults, AnInterruptedRunCanBeReadAndRemoved) {
  ChildProcess child = start_ours({"bench", "600", "write", "-b", "4096", "-O", "16384",
                                   "--no-cleanup", "--run-name", "cut-off"});
  ASSERT_TRUE(eventually([&] { return count("benchmark_data_") > 20 || !child.running(); }));
  child.signal(SIGINT);
  EXPECT_EQ(wait_for(child), 130);
  EXPECT_THAT(read_file(path("out")), HasSubstr("writes of 4 KiB"));  // the result so far
  const auto mine = ours({"bench", "60", "seq", "--run-name", "cut-off"});
  EXPECT_EQ(mine.exit_code, 0) << mine.err;
  const auto real = theirs({"bench", "60", "seq", "--run-name", "cut-off"});
  EXPECT_EQ(real.exit_code, 0) << real.err;
  EXPECT_EQ(ours({"cleanup", "--run-name", "cut-off"}).exit_code, 0);
  EXPECT_TRUE(objects().empty());
}

TEST_F(RadosFaults, WhatWasKilledIsInTheManifest) {
  ChildProcess child = start_ours({"bench", "600", "write", "-b", "4096"});
  ASSERT_TRUE(eventually([&] { return count("benchmark_data_") > 20 || !child.running(); }));
  child.signal(SIGKILL);
  wait_for(child);
  EXPECT_GT(objects().size(), 0u);
  const auto gone = testing_support::cephmark({"cleanup"});
  EXPECT_EQ(gone.exit_code, 0) << gone.err;
  EXPECT_TRUE(objects().empty());
}

// A killed run has no record: its objects tell how large its ops are and how many are there.
TEST_F(RadosFaults, WhatWasKilledWithoutARecordCanBeReadAndRemoved) {
  for (const char* payload : {"z", "random"}) {
    ChildProcess child = start_ours({"bench", "600", "write", "-b", "3000", "-O", "10000",
                                     "--no-cleanup", "--payload", payload});
    ASSERT_TRUE(eventually([&] { return count("benchmark_data_") > 30 || !child.running(); }));
    child.signal(SIGKILL);
    wait_for(child);
    ASSERT_EQ(count("benchmark_last_metadata"), 0u);
    std::string prefix;
    for (const auto& [name, space] : objects()) prefix = parse_bench_name(name)->prefix;
    const auto read = ours({"bench", "60", "seq", "--prefix", prefix, "-f", "json"});
    EXPECT_EQ(read.exit_code, 0) << read.err;
    const Json report = parse_json(read.out, "seq");
    EXPECT_EQ(report["read_size"], 3000);
    EXPECT_GT(report["total_reads_made"], 60);  // three to an object, less what was in flight
    EXPECT_EQ(ours({"cleanup", "--prefix", prefix}).exit_code, 0);
    EXPECT_TRUE(objects().empty());
  }
}

// RAD-11: removal is told, is no part of the result, and goes on where it was cut off.
TEST_F(RadosFaults, ACleanUpThatWasCutOffIsFinishedByTheNext) {
  ASSERT_EQ(ours({"bench", "60", "write", "-b", "512", "-t", "64", "--max-objects", "3000",
                  "--no-cleanup", "--run-name", "many"})
                .exit_code,
            0);
  size_t there = 3000;
  for (const int signal : {SIGINT, SIGKILL}) {
    ChildProcess child = start_ours({"cleanup", "--run-name", "many", "-t", "1"});
    ASSERT_TRUE(
        eventually([&] { return count("benchmark_data_") + 50 < there || !child.running(); }));
    child.signal(signal);
    EXPECT_EQ(wait_for(child), 128 + signal) << read_file(path("err"));
    there = count("benchmark_data_");
    ASSERT_GT(there, 50u);
    EXPECT_EQ(count("many"), 1u) << "the record goes last";
  }
  const auto rest = ours({"cleanup", "--run-name", "many"});
  EXPECT_EQ(rest.exit_code, 0) << rest.err;
  EXPECT_THAT(rest.err, HasSubstr("removing objects"));
  EXPECT_TRUE(objects().empty());
}

// Only what has the whole name of a benchmark's object goes.
TEST_F(RadosFaults, WhatIsNoBenchmarksObjectStays) {
  const std::vector<std::string> names = {"benchmark_data",
                                          "benchmark_data_notes",
                                          "benchmark_data_h_1_object",
                                          "benchmark_data_h_1_object07",
                                          "benchmark_data_h_1_object5.bak",
                                          "rbd_data.1"};
  for (const std::string& name : names) put(name, "precious");
  write_as_another_host("h", 1, "r", 3);
  for (const auto& cleanup :
       {ours({"cleanup", "--prefix", "benchmark_data"}), ours({"cleanup"}), compat({"cleanup"})})
    EXPECT_EQ(cleanup.exit_code, 0) << cleanup.err;
  EXPECT_EQ(objects().size(), names.size() + 1);
  put("not-a-record", "precious");
  const auto refused = ours({"cleanup", "--run-name", "not-a-record"});
  EXPECT_EQ(refused.exit_code, 3);
  EXPECT_THAT(refused.err, HasSubstr("not a record of rados bench"));
  EXPECT_EQ(objects().size(), names.size() + 2);
}

// As the original does without a record: what this host left; but nobody's who is at work.
TEST_F(RadosFaults, WithoutARecordThisHostsLeftoversGo) {
  char host[256] = "";
  ASSERT_EQ(::gethostname(host, sizeof host - 1), 0);
  constexpr int kNoProcess = 1 << 24;
  write_as_another_host(host, kNoProcess, "benchmark_last_metadata.gone", 3);
  write_as_another_host(host, kNoProcess + 1, "benchmark_last_metadata.kept", 2);
  write_as_another_host(host, ::getpid(), "benchmark_last_metadata.alive", 4);
  const IoContext io = cluster->io(pool);
  ASSERT_EQ(rados_remove(io.get(), "benchmark_last_metadata.gone"), 0);
  ASSERT_EQ(rados_remove(io.get(), "benchmark_last_metadata.alive"), 0);
  const auto cleanup = compat({"cleanup"});
  EXPECT_EQ(cleanup.exit_code, 0) << cleanup.err;
  EXPECT_EQ(cleanup.out, "Warning: using slow linear search\nRemoved 3 objects\n");
  EXPECT_THAT(cleanup.err, AllOf(HasSubstr("a record describes them"), HasSubstr("is alive")));
  EXPECT_EQ(count("benchmark_data_"), 6u);
}

}  // namespace
}  // namespace cephmark
