#include "engine/rados_bench_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <limits>

#include "base/error.h"

namespace cephmark {
namespace {

/// "bench-omap-key-65536", without allocating.
class KeyName {
 public:
  KeyName(std::string_view stem, uint64_t offset) noexcept {
    char* at = std::copy(stem.begin(), stem.end(), text_);
    at = std::to_chars(at, text_ + sizeof text_ - 1, offset).ptr;
    *at = '\0';
    bytes_ = static_cast<size_t>(at - text_);
  }
  const char* text() const { return text_; }
  size_t bytes() const { return bytes_; }
  std::string_view view() const { return {text_, bytes_}; }

 private:
  char text_[48];
  size_t bytes_ = 0;
};

KeyName omap_key(uint64_t offset) noexcept {
  return {"bench-omap-key-", offset};
}
KeyName xattr_name(uint64_t offset) noexcept {
  return {"bench-xattr-key-", offset};
}

bool is_whole(std::span<const char> value, uint64_t length,
              const std::function<bool(std::span<const char>)>& is_right) {
  return value.size() == length && (!is_right || is_right(value));
}

}  // namespace

void parse_bench_parts(std::string_view text, BenchParts& parts) {
  parts.object = text.empty();
  parts.omap = parts.xattr = false;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    const std::string_view word = text.substr(0, comma);
    if (word == "object")
      parts.object = true;
    else if (word == "omap")
      parts.omap = true;
    else if (word == "xattr")
      parts.xattr = true;
    else
      throw UsageError(fmt::format("parts={}: there is no '{}'", text, word),
                       "object, omap, xattr, with commas between them");
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
}

void add_bench_writes(rados_write_op_t write, const BenchParts& parts, uint64_t offset,
                      std::span<const char> data) noexcept {
  if (parts.object) rados_write_op_write(write, data.data(), data.size(), offset);
  if (parts.omap) {
    const KeyName key = omap_key(offset);
    const char* const keys[] = {key.text()};
    const char* const values[] = {data.data()};
    const size_t key_bytes[] = {key.bytes()}, value_bytes[] = {data.size()};
    rados_write_op_omap_set2(write, keys, values, key_bytes, value_bytes, 1);
  }
  if (parts.xattr)
    rados_write_op_setxattr(write, xattr_name(offset).text(), data.data(), data.size());
}

rados_read_op_t BenchPartsRead::begin(const BenchParts& parts, uint64_t offset,
                                      std::span<char> data) noexcept {
  *this = {};
  read_ = rados_create_read_op();
  if (parts.object)
    rados_read_op_read(read_, offset, data.size(), data.data(), &bytes_, &object_error_);
  if (parts.omap && parts.own_value()) {
    const KeyName key = omap_key(offset);
    const char* const keys[] = {key.text()};
    const size_t key_bytes[] = {key.bytes()};
    rados_read_op_omap_get_vals_by_keys2(read_, keys, 1, key_bytes, &omap_, &omap_error_);
  } else if (parts.omap) {
    const uint64_t most =
        parts.omap_max_return ? parts.omap_max_return : std::numeric_limits<uint64_t>::max();
    rados_read_op_omap_get_vals2(read_, parts.omap_start_after.c_str(),
                                 parts.omap_filter_prefix.c_str(), most, &omap_, &more_,
                                 &omap_error_);
  }
  if (parts.xattr) rados_read_op_getxattrs(read_, &xattrs_, &xattr_error_);
  return read_;
}

int BenchPartsRead::finish(const BenchParts& parts, uint64_t offset, uint64_t length,
                           const std::function<bool(std::span<const char>)>& is_right) noexcept {
  int error = 0;
  const auto note = [&](int r) {
    if (error == 0) error = r;
  };
  if (parts.object) {
    note(object_error_);
    if (bytes_ != length) note(-EILSEQ);
  }
  if (parts.omap) note(omap_error_ < 0 ? omap_error_ : check_omap(parts, offset, length, is_right));
  if (parts.xattr) note(xattr_error_ < 0 ? xattr_error_ : check_xattr(offset, length, is_right));
  rados_release_read_op(read_);
  if (omap_) rados_omap_get_end(omap_);
  if (xattrs_) rados_getxattrs_end(xattrs_);
  read_ = nullptr;
  omap_ = nullptr;
  xattrs_ = nullptr;
  return error;
}

// Where the caller says what is listed, the op's own value need not be among it; when it is, it
// must be right.
int BenchPartsRead::check_omap(
    const BenchParts& parts, uint64_t offset, uint64_t length,
    const std::function<bool(std::span<const char>)>& is_right) noexcept {
  if (!omap_) return -EIO;
  const KeyName own = omap_key(offset);
  bool seen = !parts.own_value();
  for (;;) {
    char *key = nullptr, *value = nullptr;
    size_t key_bytes = 0, value_bytes = 0;
    if (const int r = rados_omap_get_next2(omap_, &key, &value, &key_bytes, &value_bytes); r < 0)
      return r;
    if (!key) return seen ? 0 : -ENODATA;
    if (std::string_view(key, key_bytes) != own.view()) continue;
    seen = true;
    if (!is_whole({value, value_bytes}, length, is_right)) return -EILSEQ;
  }
}

int BenchPartsRead::check_xattr(
    uint64_t offset, uint64_t length,
    const std::function<bool(std::span<const char>)>& is_right) noexcept {
  if (!xattrs_) return -EIO;
  const KeyName own = xattr_name(offset);
  for (;;) {
    const char *name = nullptr, *value = nullptr;
    size_t bytes = 0;
    if (const int r = rados_getxattrs_next(xattrs_, &name, &value, &bytes); r < 0) return r;
    if (!name) return -ENODATA;
    if (name == own.view()) return is_whole({value, bytes}, length, is_right) ? 0 : -EILSEQ;
  }
}

}  // namespace cephmark
