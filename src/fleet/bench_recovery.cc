#include "fleet/bench_recovery.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "ceph/bench_contents.h"
#include "ceph/rados_bench_objects.h"

namespace cephmark {
namespace {

/// Larger than any depth: what was in flight when the run was killed lies this near to its end.
constexpr uint64_t kLookedAt = 4096;
constexpr size_t kChunkBytes = 4 << 20;

using Stamp = std::array<std::byte, kBenchStampBytes>;

Stamp stamp_of(uint64_t op) {
  Stamp stamp;
  stamp_bench_op(stamp, op);
  return stamp;
}

/// Up to `bytes` of an object from `offset` on; empty when it is not there.
std::vector<std::byte> read_at(const IoContext& io, const std::string& object, uint64_t offset,
                               size_t bytes) {
  std::vector<std::byte> data(bytes);
  const int r =
      rados_read(io.get(), object.c_str(), reinterpret_cast<char*>(data.data()), bytes, offset);
  if (r < 0 && r != -ENOENT)
    throw Error(fmt::format("cannot read object {}: {}", object, errno_text(r)));
  data.resize(static_cast<size_t>(std::max(r, 0)));
  return data;
}

std::vector<std::byte> read_whole(const IoContext& io, const std::string& object) {
  std::vector<std::byte> data;
  for (;;) {
    const auto more = read_at(io, object, data.size(), kChunkBytes);
    data.insert(data.end(), more.begin(), more.end());
    if (more.size() < kChunkBytes) return data;
  }
}

/// Where op 1 begins; the whole object when that has one op.
uint64_t op_size_in(std::span<const std::byte> first_object) {
  const Stamp second = stamp_of(1);
  const auto found =
      std::search(first_object.begin() + 1, first_object.end(), second.begin(), second.end());
  return static_cast<uint64_t>(found - first_object.begin());
}

/// How many objects stand there without a gap.
uint64_t objects_in_a_row(const std::vector<std::string>& names) {
  std::vector<uint64_t> numbers;
  for (const std::string& name : names) numbers.push_back(parse_bench_name(name)->object);
  std::sort(numbers.begin(), numbers.end());
  uint64_t count = 0;
  while (count < numbers.size() && numbers[count] == count) ++count;
  return count;
}

/// The first op near the end that is not there.
uint64_t whole_ops(const IoContext& io, const std::string& prefix, const BenchLayout& layout,
                   uint64_t most) {
  BenchNamer namer(prefix);
  const uint64_t from = most > kLookedAt ? most - kLookedAt : 0;
  for (uint64_t op = from; op < most; ++op) {
    const Stamp expected = stamp_of(op);
    const size_t bytes = std::min<uint64_t>(expected.size(), layout.op_size_bytes);
    const auto there =
        read_at(io, namer.name_of(layout.object_of(op)), layout.offset_of(op), bytes);
    if (there.size() < bytes || !std::equal(there.begin(), there.end() - 1, expected.begin()))
      return op;
  }
  return most;
}

}  // namespace

std::optional<BenchRun> recover_bench_run(const IoContext& io, const std::string& prefix,
                                          const std::function<void(size_t)>& seen) {
  const auto first = read_whole(io, BenchNamer(prefix).name_of(0));
  if (first.empty()) return std::nullopt;
  const uint64_t op_size = op_size_in(first);
  BenchRun run;
  run.prefix = prefix;
  run.stored.prefix = prefix;
  run.stored.record.layout = {std::max<uint64_t>(op_size, first.size()), op_size};
  const std::span<const std::byte> first_op(first.data(), op_size);
  run.stored.contents =
      bench_contents_name(is_random_op(first_op, bench_seed(prefix), 0) ? BenchContents::kRandom
                                                                        : BenchContents::kOriginal);
  const auto found = list_bench(io, false, seen);
  uint64_t objects = 0;
  for (const auto& [space, listing] : found)
    if (const auto mine = listing.objects.find(prefix); mine != listing.objects.end())
      objects = objects_in_a_row(mine->second);
  const BenchLayout& layout = run.stored.record.layout;
  const uint64_t ops = whole_ops(io, prefix, layout, objects * layout.ops_per_object());
  run.stored.record.ops =
      static_cast<int32_t>(std::min<uint64_t>(ops, std::numeric_limits<int32_t>::max()));
  run.stored.record.pid = static_cast<int32_t>(
      parse_bench_name(BenchNamer(prefix).name_of(0)).value_or(BenchName{}).pid);
  return run;
}

}  // namespace cephmark
