#include "compat/rados_arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace cephmark {
namespace {

RadosArguments parse(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> argv{"rados"};
  for (std::string word; in >> word;) argv.push_back(word);
  return parse_rados_arguments(argv);
}

// "1: text" of the error that the words give.
std::string error_of(const std::string& line) {
  try {
    parse(line);
  } catch (const RadosUsageError& error) {
    return std::to_string(error.exit_code()) + ": " + error.what();
  }
  return "none";
}

TEST(RadosArguments, DefaultsAreTheOriginals) {
  const RadosArguments arguments = parse("-p bt bench 10 write");
  EXPECT_EQ(arguments.action, RadosAction::kBench);
  EXPECT_EQ(arguments.mode, RadosBenchMode::kWrite);
  EXPECT_EQ(arguments.pool, "bt");
  EXPECT_EQ(arguments.seconds, 10);
  EXPECT_EQ(arguments.concurrent_ios, 16u);
  EXPECT_EQ(arguments.op_size_bytes, 4u << 20);
  EXPECT_EQ(arguments.object_size_bytes, 4u << 20);
  EXPECT_TRUE(arguments.cleanup && arguments.hints && arguments.verify);
  EXPECT_FALSE(arguments.run_name || arguments.compat || arguments.reuse_bench);
  EXPECT_FALSE(arguments.parts.any() || arguments.allow_nearfull);
}

TEST(RadosArguments, OptionsStandAnywhereAndInAllSpellings) {
  const RadosArguments arguments = parse(
      "bench --pool=bt 60 -N space write -t 8 -b=64K --object_size 256K --max-objects=40 "
      "--run-name mine --no_cleanup --no-hints --show-time -f json -o out.json -c a.conf --id u");
  EXPECT_EQ(arguments.pool, "bt");
  EXPECT_EQ(arguments.rados_namespace, "space");
  EXPECT_EQ(arguments.seconds, 60);
  EXPECT_EQ(arguments.concurrent_ios, 8u);
  EXPECT_EQ(arguments.op_size_bytes, 65536u);
  EXPECT_EQ(arguments.object_size_bytes, 262144u);
  EXPECT_EQ(arguments.max_objects, 40u);
  EXPECT_EQ(arguments.run_name, "mine");
  EXPECT_FALSE(arguments.cleanup || arguments.hints);
  EXPECT_TRUE(arguments.show_time);
  EXPECT_EQ(arguments.format, RadosBenchFormat::kJson);
  EXPECT_EQ(arguments.output_file, "out.json");
  EXPECT_EQ(arguments.ceph.conf, "a.conf");
  EXPECT_EQ(arguments.ceph.user, "u");
}

TEST(RadosArguments, ObjectSizeFollowsOpSizeAndBoundsIt) {
  EXPECT_EQ(parse("-p x bench 1 write -b 4096").object_size_bytes, 4096u);
  EXPECT_EQ(parse("-p x bench 1 write -O 1M").op_size_bytes, 1u << 20);
  const RadosArguments unlike = parse("-p x bench 1 write -b 3000 -O 10000");
  EXPECT_EQ(unlike.op_size_bytes, 3000u);
  EXPECT_EQ(unlike.object_size_bytes, 10000u);
}

TEST(RadosArguments, Units) {
  EXPECT_EQ(parse("-p x bench 1 write -b 4096B").op_size_bytes, 4096u);
  EXPECT_EQ(parse("-p x bench 1 write -b 4Ki").op_size_bytes, 4096u);
  EXPECT_EQ(parse("-p x bench 1 write -b 4KB").op_size_bytes, 4096u);
  EXPECT_EQ(parse("-p x bench 1 write -b 2M").op_size_bytes, 2u << 20);
  EXPECT_EQ(error_of("-p x bench 1 write -b 4k"),
            "234: Invalid value for block-size: strict_iecstrtoll: unit prefix not recognized");
  EXPECT_EQ(error_of("-p x bench 1 write -b 4KiB"),
            "234: Invalid value for block-size: strict_iecstrtoll: illegal prefix (length > 2)");
  EXPECT_EQ(error_of("-p x bench 1 write -b -4"),
            "234: Invalid value for block-size: strict_iecstrtoll: value should not be negative");
  EXPECT_EQ(error_of("-p x bench 1 write -b 16E"),
            "234: Invalid value for block-size: strict_iecstrtoll: value seems to be too large");
  EXPECT_EQ(
      error_of("-p x bench 1 write -t foo"),
      "234: Invalid value for concurrent-ios: strict_iecstrtoll: illegal prefix (length > 2)");
  EXPECT_EQ(error_of("-p x bench 1 write -t 0"),
            "234: Invalid value for concurrent-ios: it must be 1 or more");
  EXPECT_EQ(error_of("-p x bench 1 write -t 1M"),
            "234: Invalid value for concurrent-ios: at most 65536");
}

TEST(RadosArguments, MistakesAreToldInTheOriginalsWords) {
  EXPECT_EQ(error_of("-p x bench 5x write"), "1: Invalid value for seconds: '5x'");
  EXPECT_EQ(error_of("-p x bench 5 seq -b 4096"),
            "1: -b|--block_size option can be used only with 'write' bench test");
  EXPECT_EQ(error_of("-p x bench 5 rand --write-omap"),
            "1: --write-object, --write-omap and --write-xattr options can only be used with the "
            "'write' bench test");
  EXPECT_EQ(error_of("-p x bench 5 write -o f"),
            "1: -o|--output option can only be used with '--format' option");
  EXPECT_EQ(error_of("-p x bench 5 write --format foo"), "234: unrecognized format: foo");
  EXPECT_EQ(error_of("-p x bench 5 write --run-name"),
            "1: Option --run-name requires an argument.");
  EXPECT_EQ(error_of("-p x cleanup --prefix foo"),
            "1: Specified --prefix invalid, it must begin with \"benchmark_data\"");
  EXPECT_EQ(error_of("-p x"), "1: rados: you must give an action. Try --help");
}

TEST(RadosArguments, WhatIsMissingIsNamed) {
  EXPECT_EQ(error_of("bench 5 write"), "1: bench needs a pool: -p POOL");
  EXPECT_EQ(error_of("cleanup"), "1: cleanup needs a pool: -p POOL");
  EXPECT_EQ(error_of("-p x bench 5"), "1: bench needs SECONDS and one of write, seq, rand");
  EXPECT_EQ(error_of("-p x bench 5 read"), "1: bench: there is no 'read': write, seq or rand");
}

TEST(RadosArguments, NewerFormsAreTaken) {
  EXPECT_EQ(parse("-p x bench max write").seconds, RadosArguments::kNoLimit);
  const RadosArguments omap = parse("-p x bench 1 seq --omap");
  EXPECT_TRUE(omap.parts.omap);
  EXPECT_FALSE(omap.parts.object);
}

TEST(RadosArguments, Cleanup) {
  const RadosArguments arguments =
      parse("-p x --all cleanup --prefix benchmark_data_h_1 -t 4 --run-name r");
  EXPECT_EQ(arguments.action, RadosAction::kCleanup);
  EXPECT_TRUE(arguments.all_namespaces);
  EXPECT_EQ(arguments.prefix, "benchmark_data_h_1");
  EXPECT_EQ(arguments.concurrent_ios, 4u);
  EXPECT_EQ(arguments.run_name, "r");
}

TEST(RadosArguments, OtherSubcommandsAreTheOriginals) {
  for (const char* line : {"-p x ls", "ls -p x", "--snap bench ls", "-s cleanup -p x ls",
                           "--debug-ms 1 ls --nonsense", "--input-file bench put a b"}) {
    const RadosArguments arguments = parse(line);
    EXPECT_EQ(arguments.action, RadosAction::kOther) << line;
  }
  EXPECT_EQ(parse("-p x load-gen --run-length 5").command, "load-gen");
}

TEST(RadosArguments, SettingsOfCephsAreNoWordsOfOurs) {
  const RadosArguments arguments = parse("--debug_ms 1 -p x bench 2 write --objecter_retry=3");
  EXPECT_EQ(arguments.seconds, 2);
  EXPECT_THAT(arguments.unknown, testing::ElementsAre("--debug_ms=1", "--objecter_retry=3"));
}

TEST(RadosArguments, HelpNamesEveryOption) {
  EXPECT_EQ(parse("bench --help").action, RadosAction::kHelp);
  EXPECT_EQ(parse("-h").action, RadosAction::kHelp);
  const std::string text = rados_help();
  for (const RadosOptionHelp& option : rados_option_help())
    EXPECT_NE(text.find("--" + std::string(option.name)), std::string::npos) << option.name;
}

TEST(RadosArguments, OurOwn) {
  EXPECT_EQ(parse("-p x bench 1 write --no-compat").compat, false);
  EXPECT_EQ(parse("-p x bench 1 write --compat").compat, true);
  EXPECT_TRUE(parse("-p x bench 1 write --json-strings --payload random").random_payload);
  EXPECT_EQ(error_of("-p x bench 1 write --payload ones"), "1: --payload: there is no 'ones'");
}

}  // namespace
}  // namespace cephmark
