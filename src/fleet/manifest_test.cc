// Crash points: a child process dies at each step of making and undoing; what is left must be found
// and undone.
#include "fleet/manifest.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <functional>

#include "base/error.h"
#include "fleet/cleanup.h"
#include "support/temporary_directory.h"

namespace cephmark {
namespace {

namespace fs = std::filesystem;

class ManifestTest : public testing::Test {
 protected:
  ManifestTest() { ::setenv("XDG_STATE_HOME", directory_.c_str(), 1); }
  ~ManifestTest() override { ::unsetenv("XDG_STATE_HOME"); }
  std::string path(const std::string& name) const { return directory_ + "/" + name; }
  /// Runs `work` in a child that then dies without any tear-down, as by kill -9.
  static void die_after(const std::function<void()>& work) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      work();
      ::_exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  static size_t manifests() { return list_manifests().size(); }
  static CleanupReport clean(bool dry_run = false) {
    CleanupOptions options;
    options.dry_run = dry_run;
    options.everything = true;
    return clean_up_manifests(options);
  }
  testing_support::TemporaryDirectory scratch_;
  const std::string directory_ = scratch_.path();
};

void make_file(const std::string& path) {
  write_file_atomically(path, "data");
}

TEST_F(ManifestTest, AnOrderlyRunLeavesNothing) {
  auto manifest = Manifest::create("orderly");
  const int id = manifest->begin(ResourceKind::kFile, path("a"));
  EXPECT_EQ(manifests(), 1u);
  manifest->strike_out(id);
  manifest.reset();
  EXPECT_EQ(manifests(), 0u);
  EXPECT_TRUE(fs::is_empty(manifest_directory()));
}

TEST_F(ManifestTest, KilledBetweenWritingAndMaking) {
  die_after([&] { Manifest::create("run").release()->begin(ResourceKind::kFile, path("a")); });
  ASSERT_EQ(manifests(), 1u);
  const auto report = clean();
  ASSERT_EQ(report.items.size(), 1u);
  EXPECT_EQ(report.items[0].outcome, UndoOutcome::kGone);
  EXPECT_EQ(manifests(), 0u);
}

TEST_F(ManifestTest, KilledAfterMaking) {
  die_after([&] {
    auto* manifest = Manifest::create("run").release();
    manifest->begin(ResourceKind::kFile, path("a"));
    make_file(path("a"));
  });
  EXPECT_EQ(clean(true).items.at(0).outcome, UndoOutcome::kWouldUndo);
  EXPECT_TRUE(fs::exists(path("a"))) << "a dry run changes nothing";
  EXPECT_EQ(clean().items.at(0).outcome, UndoOutcome::kUndone);
  EXPECT_FALSE(fs::exists(path("a")));
  EXPECT_EQ(manifests(), 0u);
  EXPECT_TRUE(clean().items.empty()) << "a second clean-up finds nothing";
}

TEST_F(ManifestTest, KilledBetweenUndoingAndStrikingOut) {
  die_after([&] {
    auto* manifest = Manifest::create("run").release();
    manifest->begin(ResourceKind::kFile, path("a"));
    make_file(path("a"));
    fs::remove(path("a"));
  });
  EXPECT_EQ(clean().items.at(0).outcome, UndoOutcome::kGone);
  EXPECT_EQ(manifests(), 0u);
}

TEST_F(ManifestTest, ALineThatWasCutOffIsIgnoredAndMended) {
  die_after([&] {
    auto* manifest = Manifest::create("run").release();
    manifest->begin(ResourceKind::kFile, path("a"));
    make_file(path("a"));
    make_file(path("b"));
  });
  const std::string name = manifest_directory() + "/run.jsonl";
  const UniqueFd fd(::open(name.c_str(), O_WRONLY | O_APPEND));
  const std::string torn = R"({"add":2,"kind":"file","target":")" + path("b");
  ASSERT_EQ(::write(fd.get(), torn.data(), torn.size()), static_cast<ssize_t>(torn.size()));
  EXPECT_EQ(load_manifest(name).open.size(), 1u);
  const auto taken = Manifest::take_over(name);
  taken->note(1, "key", "value");
  EXPECT_EQ(load_manifest(name).open.at(0).notes.at("key"), "value");
}

TEST_F(ManifestTest, ALiveRunsThingsAreLeftAlone) {
  const auto manifest = Manifest::create("alive");
  manifest->begin(ResourceKind::kFile, path("a"));
  make_file(path("a"));
  const auto report = clean();
  EXPECT_TRUE(report.items.empty());
  EXPECT_THAT(report.live_runs, testing::ElementsAre("alive"));
  EXPECT_TRUE(fs::exists(path("a")));
}

TEST_F(ManifestTest, AFileThatIsAnotherOneNowIsKept) {
  die_after([&] {
    auto* manifest = Manifest::create("run").release();
    const int id = manifest->begin(ResourceKind::kFile, path("a"));
    make_file(path("a"));
    note_file(*manifest, id, path("a"));
    make_file(path("keep"));  // somebody else's file, moved over ours
    fs::rename(path("keep"), path("a"));
  });
  const auto report = clean();
  EXPECT_EQ(report.items.at(0).outcome, UndoOutcome::kKept);
  EXPECT_TRUE(fs::exists(path("a")));
  EXPECT_EQ(manifests(), 0u) << "there is nothing left for us to do";
}

TEST_F(ManifestTest, ThingsAreUndoneInReverseOrderAndADirectoryOnlyWhenEmpty) {
  die_after([&] {
    auto* manifest = Manifest::create("run").release();
    manifest->begin(ResourceKind::kDirectory, path("d"));
    fs::create_directory(path("d"));
    manifest->begin(ResourceKind::kFile, path("d/f"));
    make_file(path("d/f"));
  });
  const auto report = clean();
  ASSERT_EQ(report.items.size(), 2u);
  EXPECT_EQ(report.items[0].target, path("d/f"));
  EXPECT_FALSE(fs::exists(path("d")));
}

TEST_F(ManifestTest, WhatCannotBeUndoneStaysInTheManifest) {
  die_after([&] {
    auto* manifest = Manifest::create("run").release();
    manifest->begin(ResourceKind::kFile, path("a"));
    fs::create_directory(path("a"));  // unlink() of a directory fails
    manifest->begin(ResourceKind::kFile, path("b"));
    make_file(path("b"));
  });
  const auto report = clean();
  EXPECT_EQ(report.failures(), 1);
  EXPECT_FALSE(fs::exists(path("b"))) << "the others are undone all the same";
  ASSERT_EQ(manifests(), 1u);
  fs::remove(path("a"));
  EXPECT_EQ(clean().failures(), 0);
  EXPECT_EQ(manifests(), 0u);
}

TEST_F(ManifestTest, ARunOfAnotherHostIsLeftUnlessNamed) {
  die_after([&] {
    ::setenv("CEPHMARK_HOST", "elsewhere", 1);
    auto* manifest = Manifest::create("remote").release();
    manifest->begin(ResourceKind::kFile, path("a"));
    make_file(path("a"));
  });
  EXPECT_TRUE(clean().items.empty());
  EXPECT_TRUE(fs::exists(path("a")));
  CleanupOptions options;
  options.runs = {"remote"};
  // A file of another host is not this host's file of the same name.
  EXPECT_EQ(clean_up_manifests(options).items.at(0).outcome, UndoOutcome::kFailed);
  EXPECT_TRUE(fs::exists(path("a")));
}

TEST_F(ManifestTest, TwoCleanUpsAtOnceUndoEachThingOnce) {
  die_after([&] {
    auto* manifest = Manifest::create("run").release();
    for (int i = 0; i < 50; ++i) {
      manifest->begin(ResourceKind::kFile, path(std::to_string(i)));
      make_file(path(std::to_string(i)));
    }
  });
  const pid_t child = ::fork();
  if (child == 0) ::_exit(clean().failures());
  EXPECT_EQ(clean().failures(), 0);
  int status = 1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(clean().failures(), 0);
  EXPECT_EQ(manifests(), 0u);
  EXPECT_FALSE(fs::exists(path("49")));
}

TEST(RunIdentity, TellsAliveDeadAndElsewhere) {
  auto identity = current_run_identity("x");
  EXPECT_EQ(liveness_of(identity), Liveness::kAlive);
  identity.pid_start += 1;
  EXPECT_EQ(liveness_of(identity), Liveness::kDead) << "the pid was given to another process";
  identity = current_run_identity("x");
  identity.boot_id = "another boot";
  EXPECT_EQ(liveness_of(identity), Liveness::kDead);
  identity.host = "elsewhere";
  EXPECT_EQ(liveness_of(identity), Liveness::kOtherHost);
  identity = run_identity_from(to_json(current_run_identity("x")));
  EXPECT_EQ(liveness_of(identity), Liveness::kAlive);
}

}  // namespace
}  // namespace cephmark
