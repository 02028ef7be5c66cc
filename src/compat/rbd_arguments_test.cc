#include "compat/rbd_arguments.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace cephmark {
namespace {

RbdArguments read_rbd(std::vector<std::string> words) {
  words.insert(words.begin(), "rbd");
  return parse_rbd_arguments(words);
}

struct RbdMistake {
  std::string text;
  int exit_code = 0;
};
RbdMistake rbd_mistake(std::vector<std::string> words) {
  try {
    read_rbd(std::move(words));
  } catch (const RbdRefusal& refusal) {
    return {refusal.what(), refusal.exit_code()};
  }
  return {};
}

TEST(RbdArguments, DefaultsAreRbds) {
  const RbdArguments a = read_rbd({"bench", "b1", "--io-type", "write"});
  EXPECT_EQ(a.action, RbdAction::kBench);
  EXPECT_EQ(a.image_spec, "b1");
  EXPECT_EQ(a.type, RbdBenchType::kWrite);
  EXPECT_EQ(a.pattern, RbdBenchPattern::kSequential);
  EXPECT_EQ(a.io_size_bytes, 4096u);
  EXPECT_EQ(a.io_total_bytes, uint64_t{1} << 30);
  EXPECT_EQ(a.io_threads, 16u);
  EXPECT_EQ(a.rw_mix_read, 50u);
  EXPECT_FALSE(a.compat.has_value());
}

TEST(RbdArguments, OptionsStandAnywhereInBothForms) {
  const RbdArguments a =
      read_rbd({"--pool=p", "-c", "/x.conf", "bench", "--io-type=rw", "--io-size", "64K", "--image",
                "img", "--io-pattern", "full-seq", "--io-total=1Gi", "--io-threads", "3",
                "--rw-mix-read", "70", "-nclient.bench", "--pattern-byte", "7"});
  EXPECT_EQ(a.pool, "p");
  EXPECT_EQ(a.ceph.conf, "/x.conf");
  EXPECT_EQ(a.ceph.user, "bench");
  EXPECT_EQ(a.image, "img");
  EXPECT_EQ(a.io_size_bytes, 65536u);
  EXPECT_EQ(a.io_total_bytes, uint64_t{1} << 30);
  EXPECT_EQ(a.io_threads, 3u);
  EXPECT_EQ(a.rw_mix_read, 70u);
  EXPECT_EQ(a.pattern, RbdBenchPattern::kFullSequential);
  EXPECT_EQ(a.payload.kind, RbdBenchPayload::Kind::kByte);
  EXPECT_EQ(a.payload.byte, 7);
}

TEST(RbdArguments, OptionsOfCephAreKeptInTheirOrder) {
  const RbdArguments a = read_rbd({"bench", "--io-type", "read", "--rbd-cache=false", "--debug-ms",
                                   "1", "--rbd_balance_parent_reads", "b1", "-m", "host"});
  using Option = std::pair<std::string, std::string>;
  EXPECT_EQ(a.ceph_options, (std::vector<Option>{{"rbd_cache", "false"},
                                                 {"debug_ms", "1"},
                                                 {"rbd_balance_parent_reads", "true"},
                                                 {"mon_host", "host"}}));
  EXPECT_EQ(a.image_spec, "b1");
}

TEST(RbdArguments, OtherCommandsAreNotReadFurther) {
  EXPECT_EQ(read_rbd({"ls", "--frobnicate", "-Z"}).action, RbdAction::kOther);
  EXPECT_EQ(read_rbd({"help", "bench"}).action, RbdAction::kOther);
  EXPECT_EQ(read_rbd({"-p", "bench", "ls"}).action, RbdAction::kOther);  // a pool called bench
  EXPECT_EQ(read_rbd({"-s", "8M", "create", "b1"}).action, RbdAction::kOther);
  EXPECT_EQ(read_rbd({"-l", "ls"}).action, RbdAction::kOther);
  EXPECT_EQ(rbd_mistake({"-Z", "bench", "b1", "--io-type", "read"}).exit_code, 1);
  EXPECT_EQ(rbd_mistake({"bench", "b1", "--io-type", "read", "-Z"}).text,
            "unrecognised option '-Z'");
  EXPECT_EQ(read_rbd({}).action, RbdAction::kHelp);
}

TEST(RbdArguments, MistakesAreToldAsRbdTellsThem) {
  const auto is = [](const RbdMistake& m, const std::string& text, int code) {
    EXPECT_EQ(m.text, text);
    EXPECT_EQ(m.exit_code, code);
  };
  is(rbd_mistake({"bench", "b1"}), "--io-type must be specified.", EINVAL);
  is(rbd_mistake({"bench", "b1", "--io-type", "foo"}),
     "the argument for option '--io-type' is invalid", 1);
  is(rbd_mistake({"bench", "--io-type", "read"}), "image name was not specified", EINVAL);
  is(rbd_mistake({"bench", "b1", "b2", "--io-type", "read"}), "too many arguments", 1);
  is(rbd_mistake({"bench", "b1@s", "--io-type", "write"}),
     "snapshot name specified for a command that doesn't use it", EINVAL);
  is(rbd_mistake({"bench", "b1", "--io-type", "write", "--io-size", "0"}),
     "--io-size should be greater than zero.", EINVAL);
  is(rbd_mistake({"bench", "b1", "--io-type", "write", "--io-threads", "0"}),
     "--io-threads should be greater than zero.", EINVAL);
  is(rbd_mistake({"bench", "b1", "--io-type", "rw", "--rw-mix-read", "101"}),
     "--rw-mix-read should not be larger than 100.", EINVAL);
  is(rbd_mistake({"bench", "b1", "--io-type", "read", "--io-total", "1x"}),
     "the argument for option '--io-total' is invalid", 1);
  is(rbd_mistake({"bench", "b1", "--io-type", "read", "--io-total"}),
     "the required argument for option '--io-total' is missing", 1);
  is(rbd_mistake({"bench", "b1", "--io-type", "read", "--io-threads", "x"}),
     "the argument ('x') for option '--io-threads' is invalid", 1);
  // The original ends in an abort here, after a minute of allocating.
  EXPECT_EQ(
      rbd_mistake({"bench", "b1", "--io-type", "read", "--io-threads", "4294967295"}).exit_code,
      EINVAL);
  for (const char* size : {"", "K", "-1", "1KiB", "1Bi", "99999999999999999999", "9E", "1 K"})
    EXPECT_EQ(rbd_mistake({"bench", "b1", "--io-type", "read", "--io-total", size}).exit_code, 1)
        << size;
}

}  // namespace
}  // namespace cephmark
