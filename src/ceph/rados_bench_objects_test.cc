#include "ceph/rados_bench_objects.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

#include "base/error.h"

namespace cephmark {
namespace {

std::vector<std::byte> bytes_of(std::initializer_list<int> values) {
  std::vector<std::byte> out;
  for (int value : values) out.push_back(static_cast<std::byte>(value));
  return out;
}

// What the original does, word for word of its documentation: 'z's, then snprintf into them.
std::vector<std::byte> as_the_original(size_t op_size, int op) {
  std::vector<char> text(op_size, 'z');
  std::snprintf(text.data(), op_size, "I'm the %16dth op!", op);
  std::vector<std::byte> out(op_size);
  std::memcpy(out.data(), text.data(), op_size);
  return out;
}

TEST(BenchRecord, IsAsRadosBenchWritesIt) {
  const BenchRecord record{{262144, 65536}, 160, 0x01020304};
  const auto bytes = record.encode();
  EXPECT_EQ(std::vector(bytes.begin(), bytes.end()),
            bytes_of({0, 0, 4, 0, 0, 0, 0, 0, 160, 0, 0, 0, 4, 3, 2, 1, 0, 0, 1, 0, 0, 0, 0, 0}));
  EXPECT_EQ(BenchRecord::decode(bytes), record);
}

TEST(BenchRecord, OldOnesHaveNoOpSize) {
  const auto bytes = BenchRecord{{1 << 20, 4096}, 7, 42}.encode();
  const BenchRecord old = BenchRecord::decode({bytes.data(), 16});
  EXPECT_EQ(old, (BenchRecord{{1 << 20, 1 << 20}, 7, 42}));
}

TEST(BenchRecord, WhatIsNoneIsRefused) {
  const auto bytes = BenchRecord{{4096, 4096}, 1, 1}.encode();
  EXPECT_THROW(BenchRecord::decode({bytes.data(), 15}), Error);
  EXPECT_THROW(BenchRecord::decode(BenchRecord{{4096, 8192}, 1, 1}.encode()), Error);
  EXPECT_THROW(BenchRecord::decode(BenchRecord{{4096, 0}, 1, 1}.encode()), Error);
  EXPECT_THROW(BenchRecord::decode(BenchRecord{{4096, 4096}, -1, 1}.encode()), Error);
}

TEST(BenchLayout, OpsLieOneBehindTheOther) {
  const BenchLayout layout{10000, 4096};  // two whole ops fit
  EXPECT_EQ(layout.ops_per_object(), 2u);
  EXPECT_EQ(layout.object_of(5), 2u);
  EXPECT_EQ(layout.offset_of(5), 4096u);
  EXPECT_EQ(layout.objects_of(0), 0u);
  EXPECT_EQ(layout.objects_of(4), 2u);
  EXPECT_EQ(layout.objects_of(5), 3u);
}

TEST(BenchName, PrefixHas29CharactersOfTheHost) {
  EXPECT_EQ(bench_object_prefix("node1", 77), "benchmark_data_node1_77");
  EXPECT_EQ(bench_object_prefix("a-host-name-of-more-than-29-characters", 1),
            "benchmark_data_a-host-name-of-more-than-29-c_1");
}

TEST(BenchName, IsReadBack) {
  const auto name = parse_bench_name("benchmark_data_my_host_object3_77_object120");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->prefix, "benchmark_data_my_host_object3_77");
  EXPECT_EQ(name->host, "my_host_object3");
  EXPECT_EQ(name->pid, 77);
  EXPECT_EQ(name->object, 120u);
}

TEST(BenchName, OthersAreNone) {
  for (const char* other :
       {"", "benchmark_data", "benchmark_last_metadata", "benchmark_data_h_1", "x_h_1_object2",
        "benchmark_data_h_1_object", "benchmark_data_h_1_object2x", "benchmark_data_h_x_object2",
        "benchmark_data_1_object2", "benchmark_data_h_1_object02", "benchmark_data_h_1_object-2",
        "benchmark_dataset_h_1_object2", "benchmark_data_h_1_object99999999999999999999"})
    EXPECT_FALSE(parse_bench_name(other)) << other;
}

TEST(BenchName, PatternsAreToldFromNames) {
  EXPECT_EQ(bench_object_pattern("benchmark_data_h_1"), "benchmark_data_h_1_object*");
  EXPECT_EQ(parse_bench_pattern("benchmark_data_h_1_object*"), "benchmark_data_h_1");
  for (const char* other : {"", "*", "benchmark_data_h_1_object0", "benchmark_data_h_1_object1*",
                            "benchmark_data_object*", "other_h_1_object*"}) {
    EXPECT_FALSE(parse_bench_pattern(other).has_value()) << other;
  }
}

TEST(BenchNamer, MakesTheNames) {
  BenchNamer namer("benchmark_data_h_1");
  EXPECT_STREQ(namer.name_of(12345), "benchmark_data_h_1_object12345");
  EXPECT_STREQ(namer.name_of(7), "benchmark_data_h_1_object7");
  EXPECT_STREQ(namer.name_of(UINT64_MAX), "benchmark_data_h_1_object18446744073709551615");
}

TEST(BenchContents, AreTheOriginals) {
  for (const size_t size : {1u, 2u, 16u, 30u, 31u, 32u, 4096u, 100'001u})
    for (const int op : {0, 9, 1234567, 2147483647}) {
      std::vector<std::byte> buffer(size);
      fill_bench_buffer(buffer);
      stamp_bench_op(buffer, 2147483646);  // what was there before leaves no trace
      stamp_bench_op(buffer, op);
      ASSERT_EQ(buffer, as_the_original(size, op)) << size << " bytes, op " << op;
      EXPECT_TRUE(is_bench_op(buffer, op));
    }
}

TEST(BenchContents, EveryWrongByteIsSeen) {
  std::vector<std::byte> buffer(40'000);
  fill_bench_buffer(buffer);
  stamp_bench_op(buffer, 5);
  EXPECT_FALSE(is_bench_op(buffer, 6));
  for (const size_t at : {size_t{0}, size_t{23}, size_t{30}, size_t{31}, size_t{16'414},
                          size_t{16'415}, buffer.size() - 1}) {
    const std::byte kept = std::exchange(buffer[at], std::byte{'y'});
    EXPECT_FALSE(is_bench_op(buffer, 5)) << at;
    buffer[at] = kept;
  }
  EXPECT_TRUE(is_bench_op(buffer, 5));
}

}  // namespace
}  // namespace cephmark
