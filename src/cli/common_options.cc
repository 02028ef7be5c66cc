#include "cli/common_options.h"

#include <fmt/format.h>

#include <map>

#include "base/error.h"
#include "base/rng.h"
#include "base/units.h"
#include "cli/command_line.h"
#include "output/output_set.h"

namespace cephmark {
namespace {

RbdCache cache_of(const std::string& word) {
  static const std::map<std::string, RbdCache> kWords = {{"off", RbdCache::kOff},
                                                         {"writearound", RbdCache::kWriteAround},
                                                         {"writeback", RbdCache::kWriteBack},
                                                         {"as-fio", RbdCache::kAsFio},
                                                         {"conf", RbdCache::kConf}};
  const auto found = kWords.find(word);
  if (found == kWords.end())
    throw UsageError(fmt::format("--rbd-cache: there is no policy '{}'", word),
                     "off, writearound, writeback, as-fio (direct=0 means cache) or conf");
  return found->second;
}

GuardPolicy guard_of(const std::string& list) {
  if (list.empty() || list == "all") return {};
  GuardPolicy policy{false, false, false};
  for (const std::string& word : split_at_commas(list)) {
    if (word == "slow-ops")
      policy.slow_ops = true;
    else if (word == "inactive-pgs")
      policy.inactive_pgs = true;
    else if (word == "nearfull")
      policy.nearfull = true;
    else
      throw UsageError(fmt::format("--guard: there is no condition '{}'", word),
                       "slow-ops, inactive-pgs, nearfull, or all");
  }
  return policy;
}

}  // namespace

std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> parts;
  for (size_t from = 0; from <= text.size() && !text.empty();) {
    const size_t comma = std::min(text.find(',', from), text.size());
    if (comma > from) parts.push_back(text.substr(from, comma - from));
    from = comma + 1;
  }
  return parts;
}

void CommonOptions::add_to(CLI::App& app) {
  add_limits(app);
  add_safety(app);
  add_outputs(app);
  add_ceph_options(app, ceph);
}

void CommonOptions::add_limits(CLI::App& app) {
  const char* group = "How it runs";
  app.add_option("--max-cpus", limits.max_cpus, "CPUs that the run and its children may use")
      ->check(whole_number(1))
      ->type_name("N")
      ->group(group);
  app.add_option("--connections", limits.connections,
                 "librados contexts that the VMs share (default: one per VM, at most 16)")
      ->check(whole_number(1))
      ->type_name("N")
      ->group(group);
  app.add_option("--rbd-cache", words_.cache,
                 "librbd's cache: off (default), writearound, writeback, as-fio, conf")
      ->type_name("POLICY")
      ->group(group);
  words_.seed_option = app.add_option("--seed", words_.seed,
                                      "of all that is random, instead of randrepeat and randseed")
                           ->type_name("N")
                           ->group(group);
  app.add_option("--open-timeout", words_.open_timeout, "for connecting and opening (default 30s)")
      ->type_name("TIME")
      ->group(group);
  app.add_option("--grace", words_.grace,
                 "for I/O in flight at the end or after Ctrl-C (default 10s)")
      ->type_name("TIME")
      ->group(group);
}

void CommonOptions::add_safety(CLI::App& app) {
  const char* group = "Safety";
  app.add_flag("--plan", session.plan_only, "say what would be done, change nothing")->group(group);
  app.add_option("--allow-write", grants.allow_write,
                 "this target, or those that the pattern names, may be overwritten; repeatable")
      ->allow_extra_args(false)
      ->type_name("TARGET")
      ->group(group);
  app.add_flag("--open-read-only", grants.open_read_only,
               "read jobs open images read-only (then they do not hear of QoS changes)")
      ->group(group);
  app.add_option(
         "--guard", words_.guard,
         "what stops the load: slow-ops,inactive-pgs,nearfull (default: all, in a lab nothing)")
      ->type_name("LIST")
      ->group(group);
  app.add_flag("--no-guard", words_.no_guard, "nothing stops it")->group(group);
}

void CommonOptions::add_outputs(CLI::App& app) {
  const char* group = "What comes out";
  app.add_option("--output", outputs, output_option_help())
      ->allow_extra_args(false)
      ->type_name("FORMAT[:FILE]")
      ->group(group);
  app.add_flag("--quiet", session.quiet, "no progress on stderr")->group(group);
  app.add_flag("--keep-files", session.keep_files,
               "data files that the run lays out under generated names stay (as with fio)")
      ->group(group);
  app.add_flag("--no-keep", words_.no_keep, "do not keep the result for `cephmark results`")
      ->group(group);
}

void CommonOptions::settle() {
  limits.open_timeout_ns = parse_duration_ns(words_.open_timeout, "--open-timeout");
  limits.drain_grace_ns = parse_duration_ns(words_.grace, "--grace");
  rbd_cache = cache_of(words_.cache);
  if (words_.no_guard && !words_.guard.empty())
    throw UsageError("--guard and --no-guard contradict each other", "give one of them");
  // A small machine that carries a cluster and its load has slow operations without being in
  // trouble.
  const bool lab_by_default = words_.guard.empty() && uses_lab(ceph);
  guard =
      words_.no_guard || lab_by_default ? GuardPolicy{false, false, false} : guard_of(words_.guard);
  session.keep = !words_.no_keep;
  if (words_.seed_option && words_.seed_option->count() > 0) seed = words_.seed;
}

void CommonOptions::apply(Plan& plan) const {
  plan.seed = seed ? *seed : fresh_seed();
  plan.ceph = resolve_ceph_target(ceph);
  plan.rbd_cache = rbd_cache;
  plan.limits = limits;
  plan.grants = grants;
  plan.guard = guard;
}

}  // namespace cephmark
