#include "ceph/bench_record.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <memory>

#include "base/error.h"

namespace cephmark {
namespace {

constexpr const char* kPrefixAttribute = "cephmark.prefix";
constexpr const char* kContentsAttribute = "cephmark.contents";
constexpr const char* kPartsAttribute = "cephmark.parts";
constexpr size_t kMaxAttribute = 4096;
constexpr int kMostNames = 1000;  ///< that one run's record is tried under

[[noreturn]] void fail(const char* what, const std::string& name, int error) {
  throw Error(fmt::format("cannot {} the run's record {}: {}", what, name, errno_text(error)));
}

std::string attribute(const IoContext& io, const std::string& object, const char* name) {
  std::string value(kMaxAttribute, '\0');
  const int r = rados_getxattr(io.get(), object.c_str(), name, value.data(), value.size());
  if (r == -ENODATA || r == -ENOENT) return "";
  if (r < 0) fail("read", object, r);
  value.resize(static_cast<size_t>(r));
  return value;
}

bool is_same_run(const StoredBenchRecord& a, const StoredBenchRecord& b) {
  return a.record == b.record && a.prefix == b.prefix;
}

}  // namespace

std::optional<StoredBenchRecord> read_bench_record(const IoContext& io, const std::string& name) {
  std::array<std::byte, 2 * BenchRecord::kBytes> bytes;
  const int r =
      rados_read(io.get(), name.c_str(), reinterpret_cast<char*>(bytes.data()), bytes.size(), 0);
  if (r == -ENOENT || r == 0) return std::nullopt;
  if (r < 0) fail("read", name, r);
  StoredBenchRecord stored;
  stored.version = rados_get_last_version(io.get());
  try {
    stored.record = BenchRecord::decode({bytes.data(), static_cast<size_t>(r)});
  } catch (const Error& error) {
    throw Error(fmt::format("object {}: {}", name, error.what()),
                "--run-name names the record of a run");
  }
  stored.prefix = attribute(io, name, kPrefixAttribute);
  stored.contents = attribute(io, name, kContentsAttribute);
  stored.parts = attribute(io, name, kPartsAttribute);
  return stored;
}

bool write_bench_record(const IoContext& io, const std::string& name,
                        const StoredBenchRecord& record) {
  const std::unique_ptr<void, void (*)(rados_write_op_t)> op(rados_create_write_op(),
                                                             rados_release_write_op);
  if (record.version > 0)
    rados_write_op_assert_version(op.get(), record.version);
  else
    rados_write_op_create(op.get(), LIBRADOS_CREATE_EXCLUSIVE, nullptr);
  const auto bytes = record.record.encode();
  rados_write_op_write_full(op.get(), reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto set = [&](const char* attribute, const std::string& value) {
    rados_write_op_setxattr(op.get(), attribute, value.data(), value.size());
  };
  set(kPrefixAttribute, record.prefix);
  set(kContentsAttribute, record.contents);
  set(kPartsAttribute, record.parts);
  const int r = rados_write_op_operate2(op.get(), io.get(), name.c_str(), nullptr,
                                        LIBRADOS_OPERATION_FULL_TRY);
  if (r == -EEXIST || r == -ERANGE || r == -EOVERFLOW || (r == -ENOENT && record.version > 0))
    return false;
  if (r < 0) fail("write", name, r);
  return true;
}

std::string kept_record_name(const std::string& name, const StoredBenchRecord& record) {
  const std::string of_prefix = record.prefix.size() > kBenchPrefix.size()
                                    ? record.prefix.substr(kBenchPrefix.size() + 1)
                                    : std::to_string(record.record.pid);
  return fmt::format("{}.{}", name, of_prefix);
}

std::string keep_bench_record(const IoContext& io, const std::string& name,
                              const StoredBenchRecord& record) {
  const std::string stem = kept_record_name(name, record);
  for (int number = 1; number < kMostNames; ++number) {
    const std::string other = number == 1 ? stem : fmt::format("{}-{}", stem, number);
    StoredBenchRecord copy = record;
    copy.version = 0;
    if (write_bench_record(io, other, copy)) return other;
    const auto there = read_bench_record(io, other);
    if (there && is_same_run(*there, record)) return other;
  }
  throw Error(fmt::format("there is no free name for the record {} of the run before", name),
              "another --run-name");
}

std::string bench_run_name(std::string_view prefix) {
  return fmt::format("{}.{}", kBenchDefaultRunName, prefix.substr(kBenchPrefix.size() + 1));
}

bool is_default_run_name(std::string_view name) {
  return name == kBenchDefaultRunName || name.starts_with(fmt::format("{}.", kBenchDefaultRunName));
}

}  // namespace cephmark
