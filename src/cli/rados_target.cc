#include "cli/rados_target.h"

#include <fmt/format.h>

#include <memory>

#include "base/units.h"
#include "cli/rados_front.h"
#include "fleet/bench_checks.h"
#include "fleet/bench_recovery.h"

namespace cephmark {
namespace {

constexpr const char* kNothingToRead = "Must write data before running a read benchmark!";
constexpr const char* kNothingToReuse =
    "Must write data before using reuse_bench for a write benchmark!";
/// A pool that was just made has no statistics yet: they are waited for.
constexpr int64_t kFirstStatistics_ns = 25'000'000'000;

bool writes(const RadosArguments& arguments) {
  return arguments.mode == RadosBenchMode::kWrite;
}

using Seen = std::function<void(size_t)>;

BenchRun find_or_fail(const IoContext& io, const std::string& name, const std::string& none,
                      const Seen& seen) {
  auto run = find_bench_run(io, name, seen);
  if (!run) throw RadosFailure(none, none, ENOENT, fmt::format("there is no run {} here", name));
  return *run;
}

/// The run of --prefix: by its record, else as its objects tell it.
BenchRun run_of_prefix(const RadosArguments& arguments, const IoContext& io, bool compat,
                       const std::string& none, const Seen& seen) {
  std::vector<std::string> records = {std::string(kBenchDefaultRunName)};
  if (arguments.run_name)
    records = {*arguments.run_name};
  else if (!compat)
    for (const auto& [space, listing] : list_bench(io, false, seen)) records = listing.records;
  const auto parts = parse_bench_name(BenchNamer(arguments.prefix).name_of(0));
  for (const std::string& name : records) {
    const auto stored = read_bench_record(io, name);
    if (stored && (stored->prefix.empty() ? parts && stored->record.pid == parts->pid
                                          : stored->prefix == arguments.prefix))
      return {name, *stored, arguments.prefix};
  }
  if (auto run = recover_bench_run(io, arguments.prefix, seen)) return *run;
  throw RadosFailure(none, none, ENOENT,
                     fmt::format("there are no objects {}_object*", arguments.prefix));
}

/// The run that is read or written over.
BenchRun run_before(const RadosArguments& arguments, const IoContext& io, bool compat,
                    const std::string& none, const Seen& seen) {
  if (!arguments.prefix.empty()) return run_of_prefix(arguments, io, compat, none, seen);
  if (arguments.run_name) return find_or_fail(io, *arguments.run_name, none, seen);
  if (compat) return find_or_fail(io, std::string(kBenchDefaultRunName), none, seen);
  return choose_bench_run(io, none, seen);
}

void take_run(const BenchRun& before, const RadosArguments& arguments, RadosTarget& target) {
  RadosBenchRun& run = target.run;
  run.run_name = before.name;
  run.prefix = arguments.prefix.empty() ? before.prefix : arguments.prefix;
  run.layout = before.stored.record.layout;
  run.contents = before.stored.contents.empty() ? "z" : before.stored.contents;
  run.parts = arguments.parts.any()         ? parts_text(arguments.parts)
              : before.stored.parts.empty() ? "object"
                                            : before.stored.parts;
  run.ops = target.ops_before = static_cast<uint64_t>(before.stored.record.ops);
  if (run.prefix.empty())
    throw Error(fmt::format("{}: the objects of process {} are gone", before.name,
                            before.stored.record.pid),
                fmt::format("rados -p {} cleanup --run-name {} removes the record", arguments.pool,
                            before.name));
}

void find_run_to_read(const RadosArguments& arguments, const IoContext& io, bool compat,
                      const Seen& seen, RadosTarget& target) {
  take_run(run_before(arguments, io, compat, kNothingToRead, seen), arguments, target);
  if (target.run.ops == 0)
    throw Error(
        fmt::format("run {} came to no ops: there is nothing to read", target.run.run_name));
}

void find_names_to_write(const RadosArguments& arguments, const IoContext& io, bool compat,
                         RadosTarget& target) {
  RadosBenchRun& run = target.run;
  run.layout = {arguments.object_size_bytes, arguments.op_size_bytes};
  run.contents = arguments.random_payload ? "random" : "z";
  run.parts = arguments.parts.any() ? parts_text(arguments.parts) : "object";
  run.prefix = free_bench_prefix(io);
  run.run_name = arguments.run_name ? *arguments.run_name
                 : compat           ? std::string(kBenchDefaultRunName)
                                    : bench_run_name(run.prefix);
  if (arguments.cleanup) return;  // then no record is written
  const auto there = read_bench_record(io, run.run_name);
  if (!there) return;
  if (!compat)
    throw Error(fmt::format("there is a run {} already: its objects would not be found without its "
                            "record",
                            run.run_name),
                fmt::format("another --run-name, or: rados -p {} cleanup --run-name {}",
                            arguments.pool, run.run_name));
  target.notes.push_back(fmt::format("{} describes a run before this one: it is kept as {}",
                                     run.run_name, kept_record_name(run.run_name, *there)));
}

/// How much may be written, so that nobody's cluster fills up for a benchmark.
void limit_by_room(const RadosArguments& arguments, Cluster& cluster, RadosTarget& target) {
  RadosBenchRun& run = target.run;
  const uint64_t wanted = most_ops(arguments, run.layout, UINT64_MAX);
  const auto room =
      arguments.allow_nearfull ? std::nullopt : writable_space(cluster, arguments.pool);
  run.ops = room ? most_ops(arguments, run.layout, room->bytes) : wanted;
  target.limited_by_room = run.ops < wanted;
  if (!target.limited_by_room || (arguments.max_objects == 0 && run.ops > 0)) return;
  throw Error(fmt::format("{} are to be written, and pool {} ({}) takes {} until it is nearly full",
                          format_size(std::max<uint64_t>(1, wanted) * run.layout.op_size_bytes),
                          arguments.pool, room->space.redundancy, format_size(room->bytes)),
              "fewer --max-objects; --allow-nearfull writes all the same");
}

void prepare(const RadosArguments& arguments, bool compat, Headway& headway, RadosTarget& target) {
  target.run.compat = compat;
  const auto cluster = connect_for(arguments, compat);
  const IoContext io = open_pool(*cluster, arguments);
  headway.sign_of_life();
  check_pool_serves(*cluster, arguments.pool, writes(arguments));
  const Seen seen = [&headway](size_t) { headway.sign_of_life(); };
  if (!writes(arguments)) return find_run_to_read(arguments, io, compat, seen, target);
  if (arguments.reuse_bench)
    take_run(run_before(arguments, io, compat, kNothingToReuse, seen), arguments, target);
  else
    find_names_to_write(arguments, io, compat, target);
  try {
    check_may_write(*cluster, io, arguments.pool, target.run.prefix + "_probe");
  } catch (const PoolRefusal& refusal) {
    throw RadosFailure(refusal.what(), "", refusal.error(), refusal.hint());
  }
  headway.sign_of_life(kFirstStatistics_ns);
  limit_by_room(arguments, *cluster, target);
}

}  // namespace

BenchRun choose_bench_run(const IoContext& io, const std::string& none,
                          const std::function<void(size_t)>& seen) {
  const auto found = list_bench(io, false, seen);
  if (found.empty() || found.begin()->second.records.empty())
    throw RadosFailure(none, none, ENOENT,
                       "a run with a name of its own is read with --run-name NAME");
  const std::vector<std::string>& records = found.begin()->second.records;
  if (records.size() == 1) return find_or_fail(io, records.front(), none, seen);
  std::string text = fmt::format("there are {} runs here: which one is meant?", records.size());
  for (const std::string& name : records)
    if (const auto run = find_bench_run(io, name, seen)) text += "\n  " + bench_run_text(*run);
  throw Error(text, "--run-name NAME", ExitCode::kUsage);
}

RadosTarget find_rados_target(const RadosArguments& arguments, bool compat) {
  auto target = std::make_shared<RadosTarget>();
  with_patience(fmt::format("looking at pool {}", arguments.pool),
                [arguments, compat, target](Headway& headway) {
                  prepare(arguments, compat, headway, *target);
                });
  return *target;
}

}  // namespace cephmark
