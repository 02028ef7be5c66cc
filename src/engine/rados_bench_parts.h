// BenchParts: where the bytes of an op of `rados bench` go: the object's data, a value in its omap,
// an extended attribute, or several at once, under the original's names. Internal to src/engine;
// BenchPartsRead belongs to one request slot.
#pragma once

#include <rados/librados.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace cephmark {

struct BenchParts {
  bool object = true, omap = false, xattr = false;
  /// What a read takes from the omap; as long as none is given, the op's own value.
  std::string omap_start_after, omap_filter_prefix;
  uint64_t omap_max_return = 0;

  bool only_object() const { return object && !omap && !xattr; }
  bool own_value() const {
    return omap_start_after.empty() && omap_filter_prefix.empty() && omap_max_return == 0;
  }
};

/// Reads "object,omap,xattr" into the three flags. Throws UsageError.
void parse_bench_parts(std::string_view text, BenchParts& parts);

/// Adds the writes of an op's bytes at `offset` of its object. `data` must stay until the op was
/// handed to librados.
void add_bench_writes(rados_write_op_t write, const BenchParts& parts, uint64_t offset,
                      std::span<const char> data) noexcept;

/// One read of several parts, from its start to its end.
class BenchPartsRead {
 public:
  /// What is to be asked of the object; lives until finish(), as librados demands. `data` takes the
  /// object's bytes.
  rados_read_op_t begin(const BenchParts& parts, uint64_t offset, std::span<char> data) noexcept;
  /// After the completion, once: 0 when every part was read in full and `is_right` agrees with what
  /// is in the omap and the attribute, else a negative error. `is_right` empty: whatever is there
  /// is right.
  int finish(const BenchParts& parts, uint64_t offset, uint64_t length,
             const std::function<bool(std::span<const char>)>& is_right) noexcept;

 private:
  int check_omap(const BenchParts& parts, uint64_t offset, uint64_t length,
                 const std::function<bool(std::span<const char>)>& is_right) noexcept;
  int check_xattr(uint64_t offset, uint64_t length,
                  const std::function<bool(std::span<const char>)>& is_right) noexcept;

  rados_read_op_t read_ = nullptr;
  rados_omap_iter_t omap_ = nullptr;
  rados_xattrs_iter_t xattrs_ = nullptr;
  size_t bytes_ = 0;
  unsigned char more_ = 0;
  int object_error_ = 0, omap_error_ = 0, xattr_error_ = 0;
};

}  // namespace cephmark
