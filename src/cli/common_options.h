// CommonOptions: what every command that runs a plan takes, whatever language its jobs are in: the
// cluster, the limits of a run, safety, what comes out. A front end adds them to its own options,
// parses, calls settle(), makes its Plan, lets apply() fill in the rest, and gives `session` to
// run_session. Plain data; one thread.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/ceph_options.h"
#include "cli/session.h"
#include "job/plan.h"

namespace cephmark {

struct CommonOptions {
  CephOptions ceph;
  RunLimits limits;
  SafetyGrants grants;
  GuardPolicy guard;
  RbdCache rbd_cache = RbdCache::kOff;
  std::optional<uint64_t> seed;  ///< --seed
  std::vector<std::string> outputs;
  SessionOptions session;

  /// Adds the options to `app`, in groups. This must live until the command line has been parsed.
  void add_to(CLI::App& app);
  /// Reads the words that were given. Throws UsageError.
  void settle();
  /// Writes cluster, limits, grants, guard, cache and seed (a fresh one unless given) into a plan.
  void apply(Plan& plan) const;

 private:
  void add_limits(CLI::App& app);
  void add_safety(CLI::App& app);
  void add_outputs(CLI::App& app);

  struct Words {
    std::string open_timeout = "30s", grace = "10s", cache = "off", guard;
    uint64_t seed = 0;
    bool no_guard = false, no_keep = false;
    const CLI::Option* seed_option = nullptr;
  } words_;
};

/// "a,b": {"a", "b"}; empty parts are left out.
std::vector<std::string> split_at_commas(const std::string& text);

}  // namespace cephmark
