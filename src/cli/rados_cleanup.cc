// cephmark rados cleanup: removes the objects of runs, and of nothing else, and then their records:
// what was cut off is finished by the same command once more.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iostream>
#include <memory>

#include "base/host_name.h"
#include "base/time.h"
#include "base/units.h"
#include "cli/rados_front.h"
#include "cli/rados_target.h"
#include "cli/signals.h"
#include "output/progress.h"

namespace cephmark {
namespace {

/// Owned by the thread that asks the cluster, which may be left behind.
class RadosCleanup {
 public:
  RadosCleanup(const RadosArguments& arguments, bool compat, Headway& headway)
      : arguments_(arguments),
        compat_(compat),
        headway_(headway),
        progress_(std::cerr, progress_options(STDERR_FILENO, compat && !::isatty(STDERR_FILENO))) {}

  void run() {
    const auto cluster = connect_for(arguments_, compat_);
    const IoContext io = open_pool(*cluster, arguments_);
    const int64_t start_ns = monotonic_ns();
    if (arguments_.all_namespaces || by_prefix()) {
      clean_listed(*cluster, io);
    } else if (const auto run = run_of(io)) {
      clean_run(io, *run);
    } else if (compat_) {
      clean_this_host(io);
    }
    progress_.finish();
    if (!did_anything_) return tell("there is nothing to clean up");
    if (compat_)
      std::cout << removed_text(removed_) << "\n";
    else
      std::cout << fmt::format("removed {} objects in {:.1f} s\n", format_count(removed_),
                               static_cast<double>(monotonic_ns() - start_ns) / kNsPerSecond);
    std::cout << std::flush;
    if (SignalWatcher::received())
      throw Error("interrupted: what is left is removed by the same command once more", "",
                  ExitCode::kInterrupted);
    if (left_.left > 0)
      throw RadosFailure(
          fmt::format("{} objects are left: {}", left_.left, errno_text(left_.error)), "",
          left_.error, "the same command once more removes what is left");
  }

 private:
  bool by_prefix() const { return !arguments_.prefix.empty(); }
  void tell(const std::string& text) const {
    if (!compat_) std::cerr << text << "\n";
  }

  /// The run that is named, or the only one. Nothing: there is none, which is what was wanted.
  std::optional<BenchRun> run_of(const IoContext& io) {
    const auto seen = [this](size_t) { headway_.sign_of_life(); };
    if (arguments_.run_name) return find_bench_run(io, *arguments_.run_name, seen);
    if (compat_) return find_bench_run(io, std::string(kBenchDefaultRunName), seen);
    try {
      return choose_bench_run(io, "", seen);
    } catch (const RadosFailure&) {
      tell_of_runs_without_record(io);
      return std::nullopt;
    }
  }

  void tell_of_runs_without_record(const IoContext& io) const {
    const auto found = list_bench(io, false, [this](size_t) { headway_.sign_of_life(); });
    for (const auto& [space, listing] : found)
      for (const auto& [prefix, names] : listing.objects)
        tell(fmt::format("{} objects {}_object* have no record: --prefix {} removes them",
                         format_count(names.size()), prefix, prefix));
  }

  void clean_run(const IoContext& io, const BenchRun& run) {
    did_anything_ = true;
    const BenchRecord& record = run.stored.record;
    if (!run.prefix.empty()) {
      const uint64_t objects = record.layout.objects_of(static_cast<uint64_t>(record.ops));
      add(remove_bench_run(io, run.prefix, objects, arguments_.concurrent_ios,
                           [&](size_t done) { return show(done, objects); }));
    }
    // Last, so that what was cut off is found again.
    if (is_whole()) rados_remove(io.get(), run.name.c_str());
  }

  bool show(size_t done, size_t total) {
    headway_.sign_of_life();
    if (!headway_.left_behind()) progress_.progress("removing objects", removed_ + done, total);
    return !headway_.left_behind() && !SignalWatcher::received();
  }
  bool is_whole() const { return left_.left == 0 && !SignalWatcher::received(); }

  void add(const RemovedObjects& gone) {
    removed_ += gone.removed;
    left_.left += gone.left;
    if (gone.error) left_.error = gone.error;
  }

  // What the pool's list says: in one namespace or in all.
  void clean_listed(Cluster& cluster, const IoContext& io) {
    const auto found = list(io);
    for (const auto& [space, listing] : found) {
      const IoContext inside = cluster.io(arguments_.pool, space);
      if (by_prefix())
        clean_prefix(inside, listing);
      else if (const auto run = run_of(inside))
        clean_run(inside, *run);
      else if (compat_)
        clean_orphans(inside, listing);
    }
  }

  // The original takes whatever this host's benchmarks left when there is no record.
  void clean_this_host(const IoContext& io) {
    const auto found = list(io);
    for (const auto& [space, listing] : found) clean_orphans(io, listing);
  }

  std::map<std::string, BenchListing> list(const IoContext& io) {
    size_t objects = 0;
    auto found = list_bench(io, arguments_.all_namespaces, [&](size_t seen) {
      objects = seen;
      headway_.sign_of_life();
    });
    if (compat_ && objects > 0) {
      std::cout << "Warning: using slow linear search\n" << std::flush;
      did_anything_ = true;
    }
    return found;
  }

  /// Objects of this host without a record, of processes that are gone.
  void clean_orphans(const IoContext& io, const BenchListing& listing) {
    std::vector<std::string> names;
    for (const auto& [prefix, of_prefix] : listing.objects) {
      const auto parts = parse_bench_name(of_prefix.front());
      if (prefix != bench_object_prefix(host_name(), parts->pid)) continue;
      if (is_described(io, listing, *parts)) {
        std::cerr << fmt::format("{}_object* are left alone: a record describes them\n", prefix);
      } else if (::kill(static_cast<pid_t>(parts->pid), 0) == 0 || errno != ESRCH) {
        std::cerr << fmt::format("{}_object* are left alone: process {} is alive\n", prefix,
                                 parts->pid);
      } else {
        names.insert(names.end(), of_prefix.begin(), of_prefix.end());
      }
    }
    add(remove_objects(io, names, arguments_.concurrent_ios,
                       [&](size_t done) { return show(done, names.size()); }));
  }

  static bool is_described(const IoContext& io, const BenchListing& listing,
                           const BenchName& name) {
    return std::any_of(listing.records.begin(), listing.records.end(), [&](const auto& record) {
      const auto stored = read_bench_record(io, record);
      return stored && stored->record.pid == name.pid &&
             (stored->prefix.empty() || stored->prefix == name.prefix);
    });
  }

  void clean_prefix(const IoContext& io, const BenchListing& listing) {
    std::vector<std::string> names;
    std::map<int64_t, size_t> left_of_pid;
    for (const auto& [prefix, of_prefix] : listing.objects) {
      for (const std::string& name : of_prefix)
        if (name.starts_with(arguments_.prefix))
          names.push_back(name);
        else
          ++left_of_pid[parse_bench_name(name)->pid];
    }
    if (names.empty()) return;
    did_anything_ = true;
    add(remove_objects(io, names, arguments_.concurrent_ios,
                       [&](size_t done) { return show(done, names.size()); }));
    if (!is_whole()) return;
    for (const std::string& record : listing.records)
      if (describes_what_went(io, record, names, left_of_pid))
        rados_remove(io.get(), record.c_str());
  }

  /// The record's objects were among those removed, and none of that process is left.
  bool describes_what_went(const IoContext& io, const std::string& record,
                           const std::vector<std::string>& names,
                           const std::map<int64_t, size_t>& left_of_pid) const {
    const auto stored = read_bench_record(io, record);
    if (!stored || left_of_pid.contains(stored->record.pid)) return false;
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      const auto parts = parse_bench_name(name);
      return stored->prefix.empty() ? parts->pid == stored->record.pid
                                    : parts->prefix == stored->prefix;
    });
  }

  const RadosArguments arguments_;
  const bool compat_;
  Headway& headway_;
  Progress progress_;
  size_t removed_ = 0;
  RemovedObjects left_;
  bool did_anything_ = false;
};

}  // namespace

int run_rados_cleanup(const RadosArguments& arguments, bool compat) {
  with_patience(
      fmt::format("cleaning up pool {}", arguments.pool),
      [arguments, compat](Headway& headway) { RadosCleanup(arguments, compat, headway).run(); });
  return 0;
}

}  // namespace cephmark
