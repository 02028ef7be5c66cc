// fleet_harness: the fixture of tests that make, examine and clean up images with the fleet's own
// functions. Each test has a state directory and a manifest of its own. CEPH_CONF names the
// cluster; the pool rbd is used, names begin with ceph-test-. Tests only.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "base/error.h"
#include "base/subprocess.h"
#include "base/time.h"
#include "base/units.h"
#include "fleet/cleanup.h"
#include "fleet/file_state.h"
#include "fleet/guard.h"
#include "fleet/volumes.h"
#include "support/temporary_directory.h"

namespace cephmark::testing_support {

class Fleet : public testing::Test {
 protected:
  static void SetUpTestSuite() { cluster = Cluster::connect({}); }
  static void TearDownTestSuite() { cluster.reset(); }

  void SetUp() override {
    ::setenv("XDG_STATE_HOME", directory_.c_str(), 1);
    context_.cluster = cluster;
    context_.parallel = 8;
    manifest_ = Manifest::create(make_run_id("test"), cluster->target(), cluster->fsid());
    context_.manifest = manifest_.get();
  }
  void TearDown() override {
    manifest_.reset();
    for (const auto& name : list_images(*cluster, "rbd", ""))
      if (name.starts_with(prefix_)) run_command({"rbd", "rm", "--no-progress", "rbd/" + name});
    ::unsetenv("XDG_STATE_HOME");
  }

  ImageSpec spec(const std::string& name) const { return {"rbd", "", prefix_ + name, ""}; }
  std::vector<ImageSpec> specs(int count) const {
    std::vector<ImageSpec> out;
    for (int i = 0; i < count; ++i) out.push_back(spec(std::to_string(i)));
    return out;
  }
  ImageState state(const ImageSpec& image) const {
    auto watchers = watcher_knowledge(cluster->fsid());
    watchers.own.insert(cluster->instance_id());
    return examine_image(cluster, image, watchers);
  }
  static void rbd(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "rbd");
    run_or_throw(arguments);
  }
  ImageSpec image_of_somebody_else(const std::string& name, bool with_data) {
    create_image(*cluster, spec(name), {.size_bytes = 16 * kMiB});
    if (with_data) Image::open(cluster, spec(name), false)->write(kMiB, std::string(4096, 'x'));
    return spec(name);
  }
  template <typename Action>
  static std::string refusal(Action action) {
    try {
      action();
    } catch (const Error& error) {
      return std::string(error.what()) + " | " + error.hint();
    }
    ADD_FAILURE() << "nothing was refused";
    return "";
  }
  /// Bytes that `rbd diff` lists as data.
  static uint64_t diff_bytes(const ImageSpec& image) {
    uint64_t bytes = 0;
    for (const auto& extent :
         parse_json(run_or_throw({"rbd", "diff", "--format", "json", image.text()}), "rbd diff"))
      if (extent.at("exists") == "true" || extent.at("exists") == true)
        bytes += extent.at("length").get<uint64_t>();
    return bytes;
  }
  /// Starts cephmark and kills it with SIGKILL once `now` says so. False when it ended before.
  bool kill_when(std::vector<std::string> arguments, const std::function<bool()>& now) {
    const char* program = std::getenv("CEPHMARK");
    if (!program) return false;
    arguments.insert(arguments.begin(), program);
    std::vector<char*> argv;
    for (auto& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    pid_t child = 0;
    if (::posix_spawn(&child, program, nullptr, nullptr, argv.data(), environ)) return false;
    const int64_t deadline = monotonic_ns() + 120 * kNsPerSecond;
    int status = 0;
    while (monotonic_ns() < deadline && !now()) {
      if (::waitpid(child, &status, WNOHANG) == child) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    ::kill(child, SIGKILL);
    ::waitpid(child, &status, 0);
    return WIFSIGNALED(status);
  }
  static CleanupReport clean(int64_t dead_watcher_wait_ns = kDeadWatcherWait_ns) {
    CleanupOptions options;
    options.everything = true;
    options.dead_watcher_wait_ns = dead_watcher_wait_ns;
    return clean_up_manifests(options);
  }

  inline static std::shared_ptr<Cluster> cluster;
  TemporaryDirectory scratch_;
  const std::string directory_ = scratch_.path();
  std::string prefix_ = "ceph-test-" + std::to_string(::getpid()) + "-";
  std::unique_ptr<Manifest> manifest_;
  VolumeContext context_;
};

}  // namespace cephmark::testing_support
