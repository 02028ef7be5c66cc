// cephmark cleanup: undoes what dead runs left.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "cli/ceph_options.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "fleet/cleanup.h"

namespace cephmark {
namespace {

void print_item(const CleanupItem& item) {
  fmt::print("{}: {} {}: {}{}{}\n", item.run_id, item.kind, item.target,
             undo_outcome_name(item.outcome), item.reason.empty() ? "" : ": ", item.reason);
}

bool names_a_cluster(const CephOptions& options) {
  return options.lab || !options.target.conf.empty() || std::getenv("CEPH_CONF") ||
         std::getenv("CEPH_ARGS");
}

void print_summary(const CleanupReport& report, bool dry_run) {
  for (const auto& run : report.live_runs) fmt::print(stderr, "{}: is alive: left alone\n", run);
  for (const auto& run : report.other_hosts)
    fmt::print(stderr, "{}: left alone: name the run, or use --all-hosts, to remove what it left\n",
               run);
  for (const auto& problem : report.unreadable) fmt::print(stderr, "cephmark: {}\n", problem);
  if (report.items.empty()) fmt::print(stderr, "There is nothing to clean up.\n");
  if (dry_run && !report.items.empty())
    fmt::print(stderr, "This was a dry run: nothing was changed.\n");
}

}  // namespace

int run_cleanup_command(const std::vector<std::string>& argv) {
  CLI::App app(
      "Undoes what dead runs of cephmark left: images, objects, files, settings. Leaves live runs "
      "alone.",
      "cephmark cleanup");
  CleanupOptions options;
  CephOptions ceph;
  bool all = false;
  std::vector<std::string> pools;
  app.add_option("RUN", options.runs,
                 "only these runs, whatever their host (default: all dead runs of this host)");
  app.add_flag("--dry-run", options.dry_run, "only say what would be done");
  app.add_flag("--all", all, "all dead runs of this host (the default)");
  app.add_flag("--all-hosts", options.all_hosts, "also what runs of other hosts left in the pools");
  app.add_option("--pool", pools, "look for tagged images in this pool, repeatable (default rbd)");
  add_ceph_options(app, ceph);
  if (!parse_command_line(app, argv)) return 0;
  if (all && !options.runs.empty())
    throw UsageError("--all and the name of a run exclude each other");
  options.everything = options.runs.empty();
  options.on_item = print_item;
  options.ceph = resolve_ceph_target(ceph);

  auto report = clean_up_manifests(options);
  // Tags are looked for where the user points to a cluster; the manifests know theirs.
  if (names_a_cluster(ceph) || !pools.empty() || options.all_hosts) {
    if (pools.empty()) pools = {"rbd"};
    clean_up_tagged(Cluster::connect(options.ceph), pools, options, report);
  }
  print_summary(report, options.dry_run);
  for (const auto& run : options.runs) {
    const bool seen = std::any_of(report.items.begin(), report.items.end(),
                                  [&](const auto& item) { return item.run_id == run; }) ||
                      std::count(report.live_runs.begin(), report.live_runs.end(), run);
    if (!seen) fmt::print(stderr, "{}: nothing of that run was found\n", run);
  }
  return report.failures() ? static_cast<int>(ExitCode::kEnvironment) : 0;
}

}  // namespace cephmark
