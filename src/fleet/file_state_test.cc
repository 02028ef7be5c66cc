#include "fleet/file_state.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/error.h"
#include "base/fd.h"
#include "support/temporary_directory.h"

namespace cephmark {
namespace {

namespace fs = std::filesystem;

class FileState : public testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& content) {
    write_file_atomically(directory_ + "/" + name, content);
    return directory_ + "/" + name;
  }
  static Verdict write_verdict(const PathState& state, bool granted = false) {
    const auto states = state.report.states();
    return decide_all(state.kind, states, Action::kWriteJob, {granted}).verdict;
  }
  testing_support::TemporaryDirectory scratch_;
  const std::string directory_ = scratch_.path();
};

TEST_F(FileState, AFileThatWasThereIsRefusedUnlessNamed) {
  const auto state = examine_path(file("letters", "dear"));
  EXPECT_EQ(state.kind, TargetKind::kFile);
  EXPECT_EQ(write_verdict(state), Verdict::kRefused);
  EXPECT_EQ(write_verdict(state, true), Verdict::kAllowed);
}

TEST_F(FileState, ANewFileAndAnEmptyOneAndGeneratedNamesMayBeWritten) {
  EXPECT_EQ(write_verdict(examine_path(directory_ + "/new")), Verdict::kAllowed);
  EXPECT_EQ(write_verdict(examine_path(file("empty", ""))), Verdict::kAdopted);
  EXPECT_EQ(write_verdict(examine_path(file("test_file.12", "x"))), Verdict::kAllowed);
  const std::string generated = file("write-4K.0.3", "x");
  EXPECT_EQ(write_verdict(examine_path(generated, {.job_name = "write-4K"})), Verdict::kAllowed);
  EXPECT_EQ(write_verdict(examine_path(generated, {.job_name = "other"})), Verdict::kRefused);
}

TEST_F(FileState, WhatTheManifestListsIsOurs) {
  const std::string path = file("ours", "x");
  PathKnowledge knowledge;
  knowledge.is_ours = [&](const std::string& resolved) { return resolved == resolve_path(path); };
  EXPECT_EQ(write_verdict(examine_path(path, knowledge)), Verdict::kAllowed);
}

TEST_F(FileState, NothingIsMadeInDevNotEvenThroughALink) {
  const auto typo = examine_path("/dev/cephmark-no-such-device");
  EXPECT_EQ(typo.kind, TargetKind::kSystemPath);
  EXPECT_EQ(write_verdict(typo, true), Verdict::kRefused);
  fs::create_symlink("/dev", directory_ + "/innocent");
  const auto linked = examine_path(directory_ + "/innocent/sdq9");
  EXPECT_EQ(linked.kind, TargetKind::kSystemPath);
  EXPECT_EQ(write_verdict(linked, true), Verdict::kRefused);
  fs::create_symlink("/dev/sdq9", directory_ + "/dangling");
  EXPECT_EQ(write_verdict(examine_path(directory_ + "/dangling"), true), Verdict::kRefused);
  EXPECT_EQ(write_verdict(examine_path("/dev/"), true), Verdict::kRefused);
  EXPECT_EQ(examine_path("/dev/null").kind, TargetKind::kSystemPath);
  EXPECT_THROW(examine_path(""), UsageError);
}

TEST_F(FileState, FilesInMemoryLieUnderDevShm) {
  EXPECT_FALSE(is_system_path("/dev/shm/disk"));
  EXPECT_TRUE(is_system_path("/dev/shm"));
  EXPECT_TRUE(is_system_path("/dev/shmem"));
  const auto fresh = examine_path("/dev/shm/cephmark-no-such-file");
  EXPECT_EQ(fresh.kind, TargetKind::kFile);
  EXPECT_EQ(write_verdict(fresh), Verdict::kAllowed);
  EXPECT_EQ(write_verdict(examine_path("/dev/shm/../cephmark-typo")), Verdict::kRefused);
}

TEST_F(FileState, ADirectoryIsNoTarget) {
  const auto state = examine_path(directory_);
  EXPECT_EQ(state.kind, TargetKind::kDirectory);
  EXPECT_EQ(write_verdict(state, true), Verdict::kRefused);
}

TEST_F(FileState, AnOsdsBlockFileIsRefusedAlways) {
  const auto state = examine_path(file("block", "bluestore block device\n0000\n"));
  EXPECT_TRUE(state.report.has(TargetState::kBlueStoreLabel));
  EXPECT_EQ(write_verdict(state, true), Verdict::kRefused);
}

TEST(GeneratedNames, AreRecognizedExactly) {
  EXPECT_TRUE(is_generated_name("test_file.0", ""));
  EXPECT_FALSE(is_generated_name("test_file.", ""));
  EXPECT_FALSE(is_generated_name("test_file.1x", ""));
  EXPECT_FALSE(is_generated_name("my_test_file.1", ""));
  EXPECT_TRUE(is_generated_name("a.b.0.1", "a.b"));
  EXPECT_FALSE(is_generated_name("a.b.0.1", "a"));
  EXPECT_FALSE(is_generated_name("a.0", "a"));
}

TEST(Patterns, MatchWholeTexts) {
  EXPECT_TRUE(pattern_matches("rbd/vm-*", "rbd/vm-12"));
  EXPECT_TRUE(pattern_matches("*", "anything/at all"));
  EXPECT_TRUE(pattern_matches("/dev/sd?", "/dev/sdb"));
  EXPECT_TRUE(pattern_matches("a*b*c", "aXbYbZc"));
  EXPECT_FALSE(pattern_matches("/dev/sd?", "/dev/sdb1"));
  EXPECT_FALSE(pattern_matches("vm", "vm-1"));
  EXPECT_FALSE(pattern_matches("", "x"));
}

}  // namespace
}  // namespace cephmark
