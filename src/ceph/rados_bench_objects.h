// rados_bench_objects: what `rados bench` writes: the names and contents of its objects and the
// record that its read runs and its clean-up look for. The format is that program's own, so that
// either can read, verify and remove what the other wrote (docs/rados-bench.md). Pure; any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace cephmark {

/// What all names begin with; the only prefixes that a clean-up takes begin with it.
inline constexpr std::string_view kBenchPrefix = "benchmark_data";
/// The record's name where no --run-name is given.
inline constexpr std::string_view kBenchDefaultRunName = "benchmark_last_metadata";

/// How ops lie in objects. Both sizes in bytes; op_size_bytes <= object_size_bytes, neither 0.
struct BenchLayout {
  uint64_t object_size_bytes = 4 << 20;
  uint64_t op_size_bytes = 4 << 20;

  uint64_t ops_per_object() const { return object_size_bytes / op_size_bytes; }
  uint64_t object_of(uint64_t op) const { return op / ops_per_object(); }
  uint64_t offset_of(uint64_t op) const { return op_size_bytes * (op % ops_per_object()); }
  /// How many objects `ops` ops reach into.
  uint64_t objects_of(uint64_t ops) const {
    return ops / ops_per_object() + (ops % ops_per_object() != 0);
  }
  bool operator==(const BenchLayout&) const = default;
};

/// The metadata object: 24 bytes, little endian.
struct BenchRecord {
  static constexpr size_t kBytes = 24;

  BenchLayout layout;
  int32_t ops = 0;  ///< written; programs before Nautilus: objects
  int32_t pid = 0;  ///< in the names

  std::array<std::byte, kBytes> encode() const;
  /// Records of 16 bytes, from very old programs, lack the op size: it is the object's. Throws
  /// Error for what is none: too short, sizes of 0, an op larger than its object, a negative count.
  static BenchRecord decode(std::span<const std::byte> bytes);
  bool operator==(const BenchRecord&) const = default;
};

/// "benchmark_data_HOST_PID": of the host's name the first 29 characters, as `rados bench` does.
std::string bench_object_prefix(std::string_view host, int64_t pid);

/// "benchmark_data_HOST_PID_object*": all objects of a prefix, as manifests list them.
std::string bench_object_pattern(std::string_view prefix);
/// The prefix of such a pattern; nothing when `text` is none.
std::optional<std::string> parse_bench_pattern(std::string_view text);

/// The parts of "benchmark_data_HOST_PID_objectN". Hosts may have '_' in their names.
struct BenchName {
  std::string prefix;  ///< "benchmark_data_HOST_PID"
  std::string host;
  int64_t pid = 0;
  uint64_t object = 0;
};
/// Nothing when `name` is not such a name.
std::optional<BenchName> parse_bench_name(std::string_view name);

/// Makes the names of one prefix one after the other without allocating. One per request slot: the
/// text stays valid until the next call.
class BenchNamer {
 public:
  explicit BenchNamer(std::string_view prefix);
  const char* name_of(uint64_t object) noexcept;

 private:
  static constexpr size_t kDigits = 20;
  std::string text_;
  size_t stem_bytes_;
};

/// Contents of op i: "I'm the %16dth op!" of it, a NUL, and 'z' up to the op's size (a shorter op
/// has what fits, the last byte a NUL).
inline constexpr size_t kBenchStampBytes = 31;
/// Fills `buffer` with 'z', once; then stamp_bench_op() makes it op after op.
void fill_bench_buffer(std::span<std::byte> buffer) noexcept;
void stamp_bench_op(std::span<std::byte> buffer, uint64_t op) noexcept;
/// True when `buffer` has op `op` in full.
bool is_bench_op(std::span<const std::byte> buffer, uint64_t op) noexcept;

}  // namespace cephmark
