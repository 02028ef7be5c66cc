// run_harness: drives `cephmark run` on the shared lab as a person would: job files in a folder of
// its own, results and state there too. Where a test cannot go on (no images, a run that did not
// come to measuring) a helper throws Error, which ends the test with these words alone. Tests only;
// one test at a time.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/child_process.h"
#include "base/fd.h"
#include "base/json.h"
#include "ceph/image.h"
#include "fleet/manifest.h"
#include "lab/lab.h"
#include "result/codec.h"
#include "support/ceph_test.h"

namespace cephmark::testing_support {

class RunTest : public testing::Test {
 protected:
  void SetUp() override {
    state_home_ = scratch_.path() + "/state";
    ::setenv("XDG_STATE_HOME", state_home_.c_str(), 1);
    ::setenv("XDG_DATA_HOME", (scratch_.path() + "/data").c_str(), 1);
  }
  void TearDown() override {
    paused_.reset();
    try {
      drop_watchers();
      for (const auto& name : images()) run_command({"rbd", "rm", "--no-progress", "rbd/" + name});
    } catch (const Error& error) {
      EXPECT_TRUE(HasFailure()) << error.what();  // what broke the cluster for the test was told
    }
  }

  /// Pauses all OSDs; they go on when the test ends or resume_osds() is called.
  void pause_osds() { paused_ = std::make_unique<PausedLab>(); }
  void resume_osds() { paused_.reset(); }

  std::string path(const std::string& name) const { return scratch_.path() + "/" + name; }

  /// A job file of one section for the images called VM-INDEX; further lines are added to it.
  std::string job(const std::string& lines, const std::string& name = "job.fio") const {
    write_file_atomically(path(name),
                          "[job]\nioengine=rbd\npool=rbd\nrbdname={{.Name}}\nbs=4k\n" + lines);
    return path(name);
  }
  std::string vm_name() const { return prefix_ + "{{.Index}}"; }
  std::string image(int index) const { return prefix_ + std::to_string(index); }

  std::vector<std::string> run_words(std::vector<std::string> words) const {
    words.insert(words.begin(), "run");
    words.insert(words.end(), {"--vm-name", vm_name(), "--no-guard"});
    if (std::find(words.begin(), words.end(), "--vms") == words.end())
      words.insert(words.end(), {"--vms", "1"});
    if (std::find(words.begin(), words.end(), "--results-dir") == words.end())
      words.push_back("--no-files");
    return words;
  }
  CommandResult run(std::vector<std::string> words) const {
    return cephmark(run_words(std::move(words)), {.directory = scratch_.path()});
  }
  /// The same in the background, with its streams in the files `out` and `err`.
  ChildProcess start(std::vector<std::string> words) const {
    words = run_words(std::move(words));
    words.insert(words.begin(), required_variable("CEPHMARK"));
    ChildOptions options;
    options.out_path = path("out");
    options.err_path = path("err");
    return ChildProcess::start(words, options);
  }
  static int wait_for(ChildProcess& child, int64_t timeout_ns = 120 * kNsPerSecond) {
    EXPECT_TRUE(eventually([&] { return !child.running(); }, timeout_ns)) << "it never ended";
    if (child.running()) return -1;
    return child.exit_code();
  }
  std::string text(const std::string& name) const { return read_file(path(name)); }
  /// Strict: twofold keys and NaN are errors, and so is whatever the schema's reader does not know.
  RunResult result(const std::string& name) const { return parse_result(text(name), name); }
  /// The same of a run that measured: what ended before that fails the test with what it said.
  RunResult result_of(const CommandResult& ended, const std::string& name) const {
    if (ended.exit_code != 0) throw Error("the run failed: " + ended.err);
    return result(name);
  }

  void make_images(int count, const std::string& size = "64M") const {
    const auto made = cephmark({"volumes", "create", "--quiet", "--vms", std::to_string(count),
                                "--vm-name", vm_name(), "--size", size});
    if (made.exit_code != 0) throw Error("no images: " + made.err);
  }
  void prefill(int count) const {
    const auto done = cephmark(
        {"volumes", "prefill", "--quiet", "--vms", std::to_string(count), "--vm-name", vm_name()});
    if (done.exit_code != 0) throw Error("no prefill: " + done.err);
  }
  /// Images of this test that there are.
  std::vector<std::string> images() const {
    std::vector<std::string> mine;
    for (const auto& name : parse_json(run_or_throw({"rbd", "ls", "--format", "json"}), "rbd ls"))
      if (name.get<std::string>().starts_with(prefix_)) mine.push_back(name);
    return mine;
  }
  size_t watchers(int index) const {
    const auto status = run_command({"rbd", "status", "--format", "json", "rbd/" + image(index)});
    if (status.exit_code != 0) return 0;
    return parse_json(status.out, "rbd status").at("watchers").size();
  }
  /// Shuts dead clients out, whose watches would else stand for half a minute.
  void drop_watchers() const {
    for (const auto& name : images()) {
      const Json status =
          parse_json(run_or_throw({"rbd", "status", "--format", "json", "rbd/" + name}), "status");
      for (const auto& watcher : status.at("watchers"))
        run_command({"ceph", "osd", "blocklist", "add", watcher.at("address"), "60"});
    }
  }
  bool has_data(int index) const {
    const auto diff = run_command({"rbd", "diff", "--format", "json", "rbd/" + image(index)});
    return diff.exit_code == 0 && !parse_json(diff.out, "rbd diff").empty();
  }
  /// Waits until the run writes to an image that was empty before.
  void wait_for_writes(ChildProcess& child, int index = 0) const {
    if (!eventually([&] { return has_data(index) || !child.running(); }))
      throw Error("nothing was written");
    if (!child.running()) throw Error("it ended before it wrote: " + text("err"));
  }
  size_t manifests() const { return list_manifests().size(); }

  TemporaryDirectory scratch_;
  std::string state_home_;
  std::string prefix_ = "run-test-" + std::to_string(::getpid()) + "-";

 private:
  struct PausedLab {
    PausedLab() {
      for (int osd = 0; osd < lab.osd_count(); ++osd) lab.pause_osd(osd);
    }
    ~PausedLab() {
      for (int osd = 0; osd < lab.osd_count(); ++osd) lab.resume_osd(osd);
    }
    Lab lab = Lab::open(required_variable("CEPHMARK_LAB_DIR"));
  };
  std::unique_ptr<PausedLab> paused_;
};

}  // namespace cephmark::testing_support
