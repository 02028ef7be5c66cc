#include "fleet/run_ledger.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/error.h"
#include "base/fd.h"
#include "base/units.h"
#include "fleet/allocation.h"
#include "fleet/cleanup.h"
#include "support/temporary_directory.h"

namespace cephmark {
namespace {

namespace fs = std::filesystem;

class Ledger : public testing::Test {
 protected:
  void SetUp() override {
    ::setenv("XDG_STATE_HOME", (directory_ + "/state").c_str(), 1);
    manifest_ = Manifest::create(make_run_id("test"));
  }
  void TearDown() override {
    manifest_.reset();
    ::unsetenv("XDG_STATE_HOME");
  }
  JobSpec reader(const std::string& filename = "") const {
    JobSpec job;
    job.name = "lay";
    job.ioengine = "psync";
    job.directory = directory_;
    if (!filename.empty()) job.filenames = {filename};
    job.rw.reads = true;
    job.size = {SizeSpec::Kind::kBytes, kMiB};
    return job;
  }
  std::string path(const std::string& name) const { return directory_ + "/" + name; }

  testing_support::TemporaryDirectory scratch_;
  const std::string directory_ = scratch_.path();
  std::unique_ptr<Manifest> manifest_;
};

TEST_F(Ledger, AFileIsInTheManifestBeforeItExistsAndKnownByItsInodeAfter) {
  RunLedger ledger(*manifest_);
  bool asked = false;
  const FileGuard guard = ledger.file_guard([&](const FileAccess& access) {
    asked = true;
    EXPECT_TRUE(access.generated);
    EXPECT_FALSE(access.exists);
    EXPECT_EQ(manifest_->open_count(), 0u);  // a refusal leaves nothing in the manifest
  });
  FileTarget::open(reader(), guard);
  EXPECT_TRUE(asked);
  ASSERT_EQ(manifest_->open_count(), 1u);
  const ManifestEntry entry = manifest_->content().open[0];
  EXPECT_EQ(entry.target, path("lay.0.0"));
  EXPECT_TRUE(entry.notes.count("inode"));
  EXPECT_TRUE(ledger.settle(nullptr, KeepFiles::kNamed).empty());
  EXPECT_FALSE(fs::exists(path("lay.0.0")));
  EXPECT_EQ(manifest_->open_count(), 0u);
}

TEST_F(Ledger, WhatStaysIsStruckOut) {
  RunLedger ledger(*manifest_);
  FileTarget::open(reader("mine.dat"), ledger.file_guard({}));
  FileTarget::open(reader(), ledger.file_guard({}));
  EXPECT_TRUE(ledger.settle(nullptr, KeepFiles::kNamed).empty());
  EXPECT_TRUE(fs::exists(path("mine.dat")));
  EXPECT_FALSE(fs::exists(path("lay.0.0")));
  EXPECT_EQ(manifest_->open_count(), 0u);

  FileTarget::open(reader(), ledger.file_guard({}));
  EXPECT_TRUE(ledger.settle(nullptr, KeepFiles::kAll).empty());
  EXPECT_TRUE(fs::exists(path("lay.0.0")));
  // It was there before the next run: that one does not remove it.
  FileTarget::open(reader(), ledger.file_guard({}));
  ledger.settle(nullptr, KeepFiles::kNone);
  EXPECT_TRUE(fs::exists(path("lay.0.0")));
}

TEST_F(Ledger, ARunWithoutAResultKeepsNothingItMade) {
  RunLedger ledger(*manifest_);
  FileTarget::open(reader("mine.dat"), ledger.file_guard({}));
  ledger.settle(nullptr, KeepFiles::kNone);
  EXPECT_FALSE(fs::exists(path("mine.dat")));
}

TEST_F(Ledger, AnotherFileOfThatNameIsLeftAlone) {
  RunLedger ledger(*manifest_);
  FileTarget::open(reader(), ledger.file_guard({}));
  fs::rename(path("lay.0.0"), path("elsewhere"));
  write_file_atomically(path("lay.0.0"), "of somebody else");
  ledger.settle(nullptr, KeepFiles::kNamed);
  EXPECT_EQ(read_file(path("lay.0.0")), "of somebody else");
}

TEST_F(Ledger, ObjectsAreLeftToCleanupWithoutACluster) {
  RunLedger ledger(*manifest_);
  ledger.announce_objects({"rbd/a", "rbd/b"});
  EXPECT_EQ(ledger.settle(nullptr, KeepFiles::kNamed).size(), 2u);
  EXPECT_EQ(manifest_->open_count(), 2u);
  for (const auto& entry : manifest_->content().open) manifest_->strike_out(entry.id);
}

TEST_F(Ledger, AFileThatADeadRunLeftCountsAsOurs) {
  {
    RunLedger ledger(*manifest_);
    FileTarget::open(reader("mine.dat"), ledger.file_guard({}));
  }
  EXPECT_TRUE(files_of_dead_runs().empty());  // its run is alive
  const std::string file = manifest_->content().path;
  std::string text = read_file(file);
  const std::string pid = "\"pid\":" + std::to_string(::getpid());
  ASSERT_NE(text.find(pid), std::string::npos);
  text.replace(text.find(pid), pid.size(), "\"pid\":999999999");
  manifest_.reset();
  write_file_atomically(file, text);
  EXPECT_TRUE(files_of_dead_runs().count(path("mine.dat")));
  fs::remove(path("mine.dat"));
  EXPECT_TRUE(files_of_dead_runs().empty());
}

TEST_F(Ledger, RunsOfOneProcessAreToldApartByTheirIds) {
  const RunIdentity mine = manifest_->identity();
  EXPECT_TRUE(run_is_under_way(mine));
  const auto other = Manifest::create(make_run_id("other"));
  EXPECT_TRUE(run_is_under_way(other->identity()));
  EXPECT_FALSE(run_is_under_way(current_run_identity("ended-long-ago")));
  RunIdentity dead = mine;
  dead.pid_start += 1;
  EXPECT_FALSE(run_is_under_way(dead));
}

// K8S-01 for files: one quarter is written, four jobs read all of it.
TEST_F(Ledger, HolesOfFilesAreFound) {
  JobSpec job = reader("sparse");
  job.size = {SizeSpec::Kind::kBytes, 8 * kMiB};
  Plan plan;
  plan.vms.push_back({"vm", 0, "h", "", {job}});
  EXPECT_TRUE(read_allocations(plan, nullptr).empty());  // it is going to be laid out
  write_file_atomically(path("sparse"), std::string(2 * kMiB, 'x'));
  fs::resize_file(path("sparse"), 8 * kMiB);
  auto found = read_allocations(plan, nullptr);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[path("sparse")].region_bytes, 8 * kMiB);
  EXPECT_EQ(found[path("sparse")].allocated_bytes, 2 * kMiB);
  EXPECT_TRUE(found[path("sparse")].whole);
  plan.vms[0].jobs[0].size = {SizeSpec::Kind::kBytes, 2 * kMiB};
  found = read_allocations(plan, nullptr);
  EXPECT_EQ(found[path("sparse")].allocated_bytes, found[path("sparse")].region_bytes);
  EXPECT_FALSE(found[path("sparse")].whole);
}

// What the guard's look has told is not asked again.
TEST_F(Ledger, AnImageThatWasLookedAtIsNotOpenedAgain) {
  JobSpec job;
  job.name = "r";
  job.ioengine = "rbd";
  job.engine_options = {{"pool", "rbd"}, {"rbdname", "vm"}};
  job.rw.reads = true;
  Plan plan;
  plan.vms.push_back({"vm", 0, "h", "", {job}});
  std::vector<ImageState> looked(1);
  looked[0].spec = parse_image_spec("rbd/vm");
  looked[0].size_bytes = 8 * kMiB;
  EXPECT_TRUE(read_allocations(plan, nullptr, looked).empty());  // it was not measured
  for (const uint64_t allocated : {uint64_t{0}, 2 * kMiB, 8 * kMiB}) {
    looked[0].allocated_bytes = allocated;
    const auto found = read_allocations(plan, nullptr, looked);
    ASSERT_EQ(found.size(), 1u) << allocated;
    EXPECT_EQ(found.at("rbd/vm").allocated_bytes, allocated);
    EXPECT_EQ(found.at("rbd/vm").region_bytes, 8 * kMiB);
    EXPECT_TRUE(found.at("rbd/vm").whole);
  }
  // A part of it is read, and a part is written: which one?
  plan.vms[0].jobs[0].size = {SizeSpec::Kind::kBytes, 4 * kMiB};
  looked[0].allocated_bytes = 2 * kMiB;
  EXPECT_TRUE(read_allocations(plan, nullptr, looked).empty());
  looked[0].allocated_bytes = 0;
  EXPECT_EQ(read_allocations(plan, nullptr, looked).at("rbd/vm").region_bytes, 4 * kMiB);
}

}  // namespace
}  // namespace cephmark
