// rados_harness: runs our `rados` (a link) and the real one on a pool of the test program's own in
// the shared lab. Tests only; one test at a time.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <regex>
#include <string>
#include <vector>

#include "base/child_process.h"
#include "base/fd.h"
#include "base/json.h"
#include "ceph/bench_record.h"
#include "ceph/cluster.h"
#include "fleet/bench_objects.h"
#include "support/ceph_test.h"

namespace cephmark::testing_support {

class RadosTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    pool = "bench-test-" + std::to_string(::getpid());
    make_pool(pool, {});
    cluster = Cluster::connect({});
  }
  static void TearDownTestSuite() {
    cluster.reset();
    drop_pool(pool);
  }

  void SetUp() override {
    std::filesystem::create_symlink(required_variable("CEPHMARK"), link());
    ::setenv("XDG_STATE_HOME", (scratch.path() + "/state").c_str(), 1);
    ::setenv("XDG_DATA_HOME", (scratch.path() + "/data").c_str(), 1);
  }
  void TearDown() override {
    for (const auto& [name, space] : objects()) {
      const IoContext io = cluster->io(pool, space);
      rados_remove(io.get(), name.c_str());
    }
  }

  static void make_pool(const std::string& name, const std::vector<std::string>& how) {
    std::vector<std::string> words = {"ceph", "osd", "pool", "create", name, "8"};
    words.insert(words.end(), how.begin(), how.end());
    run_or_throw(words);
    run_or_throw({"ceph", "osd", "pool", "application", "enable", name, "bench"});
  }
  static void drop_pool(const std::string& name) {
    run_command({"ceph", "osd", "pool", "delete", name, name, "--yes-i-really-really-mean-it"});
  }

  std::string path(const std::string& name) const { return scratch.path() + "/" + name; }
  std::string link() const { return path("rados"); }

  std::vector<std::string> words(std::vector<std::string> more) const {
    more.insert(more.begin(), {"-p", pool});
    return more;
  }
  CommandResult start(const std::string& program, std::vector<std::string> more) const {
    more.insert(more.begin(), program);
    return run_command(more, {.timeout_ns = 300 * kNsPerSecond, .directory = scratch.path()});
  }
  CommandResult theirs(std::vector<std::string> more) const {
    return start("/usr/bin/rados", words(std::move(more)));
  }
  /// By the link: to the letter.
  CommandResult compat(std::vector<std::string> more) const {
    return start(link(), words(std::move(more)));
  }
  CommandResult ours(std::vector<std::string> more) const {
    more = words(std::move(more));
    more.insert(more.begin(), "rados");
    return cephmark(more, {.directory = scratch.path()});
  }
  /// In the background, with its streams in the files `out` and `err`.
  ChildProcess start_ours(std::vector<std::string> more, const std::string& files = "") const {
    more = words(std::move(more));
    more.insert(more.begin(), {required_variable("CEPHMARK"), "rados"});
    ChildOptions options;
    options.out_path = path(files + "out");
    options.err_path = path(files + "err");
    return ChildProcess::start(more, options);
  }
  static int wait_for(ChildProcess& child) {
    EXPECT_TRUE(eventually([&] { return !child.running(); }, 300 * kNsPerSecond));
    return child.running() ? -1 : child.exit_code();
  }

  /// Name and namespace of all that is in the pool.
  static std::vector<std::pair<std::string, std::string>> objects() {
    std::vector<std::pair<std::string, std::string>> all;
    const IoContext io = cluster->io(pool);
    rados_ioctx_set_namespace(io.get(), LIBRADOS_ALL_NSPACES);
    rados_list_ctx_t list = nullptr;
    if (rados_nobjects_list_open(io.get(), &list) < 0) return all;
    const char *name = nullptr, *space = nullptr;
    while (rados_nobjects_list_next(list, &name, nullptr, &space) == 0)
      all.emplace_back(name, space ? space : "");
    rados_nobjects_list_close(list);
    return all;
  }
  static size_t count(const std::string& begin) {
    size_t found = 0;
    for (const auto& [name, space] : objects()) found += name.starts_with(begin);
    return found;
  }
  static void put(const std::string& name, const std::string& bytes,
                  const std::string& space = "") {
    const IoContext io = cluster->io(pool, space);
    ASSERT_EQ(rados_write_full(io.get(), name.c_str(), bytes.data(), bytes.size()), 0);
  }

  /// What the original on another machine would have left: objects of its name, a record with its
  /// process id only.
  static void write_as_another_host(const std::string& host, int pid, const std::string& record,
                                    int ops, uint64_t op_bytes = 4096) {
    std::vector<std::byte> bytes(op_bytes);
    fill_bench_buffer(bytes);
    BenchNamer namer(bench_object_prefix(host, pid));
    for (int op = 0; op < ops; ++op) {
      stamp_bench_op(bytes, op);
      put(namer.name_of(op), {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    }
    const auto encoded = BenchRecord{{op_bytes, op_bytes}, ops, pid}.encode();
    put(record, {reinterpret_cast<const char*>(encoded.data()), encoded.size()});
  }

  /// Numbers, times and process ids blotted out; rows of the table, and what repeats, once.
  static std::vector<std::string> shape(const std::string& text) {
    static const std::regex number(R"(-?\d+(\.\d+)?(e[+-]?\d+)?)"), blanks(" +"),
        time(R"(\d{4}-\d\d-\d\dT[\d:.]+[+-]\d{4})"), row("( [#-]){8}$"), unknown("n/a");
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
      line = std::regex_replace(line, time, "TIME");
      line = std::regex_replace(line, number, "#");
      line = std::regex_replace(line, unknown, "#");  // where the original has made a number up
      line = std::regex_replace(line, blanks, " ");
      line = std::regex_replace(line, row, " ROW");  // with '-' where nothing ended
      if (lines.empty() || lines.back() != line) lines.push_back(line);
    }
    return lines;
  }

  static inline std::string pool;
  static inline std::shared_ptr<Cluster> cluster;
  TemporaryDirectory scratch;
};

}  // namespace cephmark::testing_support
