#include "fleet/bench_runs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.h"
#include "base/host_name.h"
#include "base/rng.h"
#include "base/units.h"

namespace cephmark {
namespace {

/// Size in bytes; nothing when it is not there.
std::optional<uint64_t> size_of(const IoContext& io, const std::string& object) {
  uint64_t size = 0;
  time_t modified = 0;
  const int r = rados_stat(io.get(), object.c_str(), &size, &modified);
  if (r == -ENOENT) return std::nullopt;
  if (r < 0) throw Error(fmt::format("cannot look at object {}: {}", object, errno_text(r)));
  return size;
}

std::string first_object(const std::string& prefix) {
  return BenchNamer(prefix).name_of(0);
}

}  // namespace

std::optional<std::string> find_bench_prefix(const IoContext& io, const StoredBenchRecord& stored,
                                             const std::function<void(size_t)>& seen) {
  if (!stored.prefix.empty()) return stored.prefix;
  const int64_t pid = stored.record.pid;
  const std::string own = bench_object_prefix(host_name(), pid);
  if (size_of(io, first_object(own))) return own;
  std::vector<std::string> of_that_pid;
  const auto found = list_bench(io, false, seen);
  for (const auto& [space, listing] : found)
    for (const auto& [prefix, names] : listing.objects)
      if (parse_bench_name(names.front())->pid == pid) of_that_pid.push_back(prefix);
  if (of_that_pid.size() > 1)
    throw Error(fmt::format("the record names process {} only, and objects of {} hosts fit it: {}",
                            pid, of_that_pid.size(), fmt::join(of_that_pid, ", ")),
                "--prefix names one of them");
  if (of_that_pid.empty()) return std::nullopt;
  return of_that_pid.front();
}

std::optional<BenchRun> find_bench_run(const IoContext& io, const std::string& name,
                                       const std::function<void(size_t)>& seen) {
  auto stored = read_bench_record(io, name);
  if (!stored) return std::nullopt;
  BenchRun run{name, *stored, ""};
  if (const auto prefix = find_bench_prefix(io, *stored, seen)) run.prefix = *prefix;
  return run;
}

std::string free_bench_prefix(const IoContext& io) {
  // Above any process id of Linux (2^22), and within the record's 32 bits.
  constexpr uint64_t kFirst = uint64_t{1} << 23, kEnd = uint64_t{1} << 31;
  std::string prefix = bench_object_prefix(host_name(), ::getpid());
  while (size_of(io, first_object(prefix)))
    prefix = bench_object_prefix(host_name(),
                                 static_cast<int64_t>(kFirst + fresh_seed() % (kEnd - kFirst)));
  return prefix;
}

std::string bench_run_text(const BenchRun& run) {
  const BenchRecord& record = run.stored.record;
  return fmt::format("run {}: {} ops of {} in objects of {}, {}", run.name, record.ops,
                     format_size(record.layout.op_size_bytes),
                     format_size(record.layout.object_size_bytes),
                     run.prefix.empty() ? "whose objects are gone" : run.prefix);
}

}  // namespace cephmark
