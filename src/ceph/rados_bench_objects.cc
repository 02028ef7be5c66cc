#include "ceph/rados_bench_objects.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <type_traits>

#include "base/error.h"

namespace cephmark {
namespace {

constexpr size_t kHostChars = 29;
constexpr std::string_view kObjectWord = "_object";

template <typename T>
void put_little(std::byte* at, T value) {
  auto bits = static_cast<std::make_unsigned_t<T>>(value);
  for (size_t i = 0; i < sizeof value; ++i) at[i] = static_cast<std::byte>(bits >> (8 * i) & 0xff);
}

template <typename T>
T get_little(const std::byte* at) {
  std::make_unsigned_t<T> bits = 0;
  for (size_t i = 0; i < sizeof(T); ++i)
    bits |= std::make_unsigned_t<T>(std::to_integer<uint8_t>(at[i])) << (8 * i);
  return static_cast<T>(bits);
}

// Digits only: names are told apart by them, so "07" and "+7" are none.
template <typename T>
bool read_number(std::string_view text, T& out) {
  if (text.empty() || text.front() < '0' || text.front() > '9') return false;
  if (text.size() > 1 && text.front() == '0') return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

// The stamp with its NUL: 8 + 16 + 6 characters, more when the number has more than 16 digits.
struct Stamp {
  static constexpr std::string_view kBefore = "I'm the ", kAfter = "th op!";
  static constexpr size_t kWidth = 16, kMaxDigits = 20;
  char text[kBefore.size() + kMaxDigits + kAfter.size() + 1];
  size_t bytes = 0;  // with the NUL

  explicit Stamp(uint64_t op) noexcept {
    char digits[kMaxDigits];
    const size_t count = std::to_chars(digits, digits + sizeof digits, op).ptr - digits;
    char* at = std::copy(kBefore.begin(), kBefore.end(), text);
    for (size_t i = count; i < kWidth; ++i) *at++ = ' ';
    at = std::copy(digits, digits + count, at);
    at = std::copy(kAfter.begin(), kAfter.end(), at);
    *at++ = '\0';
    bytes = at - text;
  }
  // Into an op of `size` bytes, as snprintf would: cut off, with the NUL last.
  size_t cut_to(size_t size) noexcept {
    if (bytes <= size) return bytes;
    if (size > 0) text[size - 1] = '\0';
    return size;
  }
};

constexpr size_t kZBlockBytes = 16 << 10;  // stays in a core's first cache
const std::array<char, kZBlockBytes>& z_block() {
  static const auto block = [] {
    std::array<char, kZBlockBytes> filled;
    filled.fill('z');
    return filled;
  }();
  return block;
}

}  // namespace

std::array<std::byte, BenchRecord::kBytes> BenchRecord::encode() const {
  std::array<std::byte, kBytes> out;
  put_little<uint64_t>(&out[0], layout.object_size_bytes);
  put_little<int32_t>(&out[8], ops);
  put_little<int32_t>(&out[12], pid);
  put_little<uint64_t>(&out[16], layout.op_size_bytes);
  return out;
}

BenchRecord BenchRecord::decode(std::span<const std::byte> bytes) {
  constexpr size_t kOldBytes = 16;
  if (bytes.size() < kOldBytes)
    throw Error(
        fmt::format("not a record of rados bench: {} bytes, it has {}", bytes.size(), kBytes));
  BenchRecord record;
  record.layout.object_size_bytes = get_little<uint64_t>(&bytes[0]);
  record.ops = get_little<int32_t>(&bytes[8]);
  record.pid = get_little<int32_t>(&bytes[12]);
  record.layout.op_size_bytes =
      bytes.size() >= kBytes ? get_little<uint64_t>(&bytes[16]) : record.layout.object_size_bytes;
  const BenchLayout& layout = record.layout;
  if (layout.op_size_bytes == 0 || layout.op_size_bytes > layout.object_size_bytes ||
      record.ops < 0)
    throw Error(fmt::format("not a record of rados bench: objects of {} bytes, ops of {}, {} ops",
                            layout.object_size_bytes, layout.op_size_bytes, record.ops));
  return record;
}

std::string bench_object_prefix(std::string_view host, int64_t pid) {
  return fmt::format("{}_{}_{}", kBenchPrefix, host.substr(0, kHostChars), pid);
}

std::optional<BenchName> parse_bench_name(std::string_view name) {
  BenchName out;
  const size_t word = name.rfind(kObjectWord);
  if (word == std::string_view::npos || !name.starts_with(kBenchPrefix)) return {};
  if (!read_number(name.substr(word + kObjectWord.size()), out.object)) return {};
  const std::string_view prefix = name.substr(0, word);
  const size_t before_host = kBenchPrefix.size(), before_pid = prefix.rfind('_');
  if (before_pid == std::string_view::npos || before_pid <= before_host ||
      prefix[before_host] != '_')
    return {};
  if (!read_number(prefix.substr(before_pid + 1), out.pid)) return {};
  out.prefix = prefix;
  out.host = prefix.substr(before_host + 1, before_pid - before_host - 1);
  return out;
}

std::string bench_object_pattern(std::string_view prefix) {
  return fmt::format("{}{}*", prefix, kObjectWord);
}

std::optional<std::string> parse_bench_pattern(std::string_view text) {
  if (!text.ends_with('*')) return {};
  const auto name = parse_bench_name(fmt::format("{}0", text.substr(0, text.size() - 1)));
  if (!name || bench_object_pattern(name->prefix) != text) return {};
  return name->prefix;
}

BenchNamer::BenchNamer(std::string_view prefix)
    : text_(fmt::format("{}{}", prefix, kObjectWord)), stem_bytes_(text_.size()) {
  text_.resize(stem_bytes_ + kDigits + 1);
}

const char* BenchNamer::name_of(uint64_t object) noexcept {
  char* const digits = text_.data() + stem_bytes_;
  *std::to_chars(digits, digits + kDigits, object).ptr = '\0';
  return text_.c_str();
}

void fill_bench_buffer(std::span<std::byte> buffer) noexcept {
  std::memset(buffer.data(), 'z', buffer.size());
}

void stamp_bench_op(std::span<std::byte> buffer, uint64_t op) noexcept {
  Stamp stamp(op);
  std::memcpy(buffer.data(), stamp.text, stamp.cut_to(buffer.size()));
}

bool is_bench_op(std::span<const std::byte> buffer, uint64_t op) noexcept {
  Stamp stamp(op);
  const size_t stamped = stamp.cut_to(buffer.size());
  if (std::memcmp(buffer.data(), stamp.text, stamped) != 0) return false;
  for (size_t at = stamped; at < buffer.size();) {
    const size_t bytes = std::min(buffer.size() - at, kZBlockBytes);
    if (std::memcmp(buffer.data() + at, z_block().data(), bytes) != 0) return false;
    at += bytes;
  }
  return true;
}

}  // namespace cephmark
