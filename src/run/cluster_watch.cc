#include "run/cluster_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <future>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "base/error.h"
#include "base/time.h"
#include "ceph/cluster_facts.h"
#include "ceph/osd_counters.h"

namespace cephmark {
namespace {

constexpr auto kPoll = std::chrono::milliseconds(1000);
constexpr auto kPatience = std::chrono::seconds(2);

struct GuardedCheck {
  std::string_view check;
  bool GuardPolicy::*named_by;
};
constexpr GuardedCheck kGuarded[] = {
    {"SLOW_OPS", &GuardPolicy::slow_ops},         {"PG_AVAILABILITY", &GuardPolicy::inactive_pgs},
    {"OSD_NEARFULL", &GuardPolicy::nearfull},     {"POOL_NEARFULL", &GuardPolicy::nearfull},
    {"OSD_BACKFILLFULL", &GuardPolicy::nearfull}, {"OSD_FULL", &GuardPolicy::nearfull},
    {"POOL_FULL", &GuardPolicy::nearfull},        {"POOL_BACKFILLFULL", &GuardPolicy::nearfull},
    {"POOL_NEAR_FULL", &GuardPolicy::nearfull},  // of a quota
};

bool has_check(const ClusterState& state, std::string_view name) {
  return std::any_of(state.checks.begin(), state.checks.end(),
                     [&](const auto& check) { return check.first == name; });
}

// Calls that need the cluster may never return; then their thread is left behind. True: `call`
// ended in time.
template <typename Call>
bool within(std::chrono::seconds limit, Call call) {
  auto done = std::make_shared<std::promise<void>>();
  auto ended = done->get_future();
  std::thread([done, call]() mutable {
    call();
    done->set_value();
  }).detach();
  return ended.wait_for(limit) == std::future_status::ready;
}

}  // namespace

ClusterState cluster_state_from(const Json& status) {
  ClusterState state;
  const Json health = status.value("health", Json::object());
  state.health = health.value("status", "unknown");
  const Json checks = health.value("checks", Json::object());
  for (const auto& [name, check] : checks.items()) {
    if (check.value("muted", false)) continue;
    state.checks.emplace_back(name, check.value("summary", Json::object()).value("message", ""));
  }
  const Json pgs = status.value("pgmap", Json::object()).value("pgs_by_state", Json::array());
  std::set<std::string> work;
  for (const Json& entry : pgs)
    for (const char* word : {"scrubbing", "recovering", "recovery_wait", "backfilling",
                             "backfill_wait", "snaptrim", "peering", "remapped"})
      if (entry.value("state_name", "").find(word) != std::string::npos) work.insert(word);
  state.background_work.assign(work.begin(), work.end());
  return state;
}

std::string guard_verdict(const ClusterState& start, const ClusterState& now,
                          const GuardPolicy& policy) {
  for (const auto& [name, summary] : now.checks)
    for (const GuardedCheck& guarded : kGuarded)
      if (name == guarded.check && policy.*guarded.named_by && !has_check(start, name))
        return fmt::format("{}: {}", name, summary);
  return "";
}

// Lives as long as any thread that looks at the cluster, which may be longer than the watch.
struct ClusterWatch::Shared {
  std::shared_ptr<Cluster> cluster;
  GuardPolicy policy;
  std::stop_source stop;
  ClusterState start, end;
  std::vector<std::string> pools;
  std::map<std::string, std::string> facts_at_start, facts_at_end;

  std::mutex mutex;
  std::condition_variable changed;
  bool ended = false;  ///< the watch is gone
  bool io_under_way = false;
  std::string verdict;
  std::vector<std::string> health_changes;
  std::set<std::string> background_work;
  OsdCounters before, after;
  int64_t begin_ns = 0, end_ns = 0;
  std::string last_health;

  ClusterState ask() {
    return cluster_state_from(cluster->monitor_command({{"prefix", "status"}}));
  }

  void take(const ClusterState& now) {
    std::lock_guard lock(mutex);
    if (ended || !io_under_way) return;
    for (const auto& [name, summary] : now.checks) {
      const bool known =
          has_check(start, name) || std::any_of(health_changes.begin(), health_changes.end(),
                                                [&, check = name](const std::string& text) {
                                                  return text.rfind(check, 0) == 0;
                                                });
      if (!known && health_changes.size() < 100) health_changes.push_back(name + ": " + summary);
    }
    for (const auto& [name, summary] : start.checks) {
      const std::string gone = name + ": no longer there";
      if (!has_check(now, name) && health_changes.size() < 100 &&
          std::find(health_changes.begin(), health_changes.end(), gone) == health_changes.end())
        health_changes.push_back(gone);
    }
    end = now;
    background_work.insert(now.background_work.begin(), now.background_work.end());
    if (!verdict.empty()) return;
    verdict = guard_verdict(start, now, policy);
    if (!verdict.empty()) stop.request_stop();
  }

  void watch() {
    std::unique_lock lock(mutex);
    while (!ended) {
      changed.wait_for(lock, kPoll, [this] { return ended; });
      if (ended) return;
      lock.unlock();
      try {
        take(ask());
      } catch (const std::exception&) {
        // The monitors do not answer just now: the run's own latencies will show what that means.
      }
      lock.lock();
    }
  }
};

ClusterWatch::ClusterWatch(std::shared_ptr<Cluster> cluster, const GuardPolicy& policy,
                           std::stop_source stop, std::vector<std::string> pools)
    : shared_(std::make_shared<Shared>()) {
  shared_->cluster = std::move(cluster);
  shared_->policy = policy;
  shared_->stop = std::move(stop);
  shared_->pools = std::move(pools);
  shared_->start = shared_->end = shared_->ask();
  shared_->facts_at_start = cluster_facts(*shared_->cluster, shared_->pools);
  std::thread([shared = shared_] { shared->watch(); }).detach();
}

ClusterWatch::~ClusterWatch() {
  std::lock_guard lock(shared_->mutex);
  shared_->ended = true;
  shared_->changed.notify_all();
}

void ClusterWatch::io_begins() {
  within(kPatience, [shared = shared_] {
    const OsdCounters counters = read_osd_counters(*shared->cluster);
    std::lock_guard lock(shared->mutex);
    shared->before = counters;
  });
  std::lock_guard lock(shared_->mutex);
  shared_->begin_ns = monotonic_ns();
  shared_->io_under_way = true;
}

void ClusterWatch::io_ended() {
  {
    std::lock_guard lock(shared_->mutex);
    shared_->end_ns = monotonic_ns();
  }
  within(kPatience, [shared = shared_] {
    const OsdCounters counters = read_osd_counters(*shared->cluster);
    try {
      shared->take(shared->ask());
    } catch (const std::exception&) {
    }
    {
      std::lock_guard lock(shared->mutex);
      shared->after = counters;
    }
    auto facts = cluster_facts(*shared->cluster, shared->pools);
    std::lock_guard lock(shared->mutex);
    shared->facts_at_end = std::move(facts);
  });
  std::lock_guard lock(shared_->mutex);
  shared_->io_under_way = false;
}

std::string ClusterWatch::finish(RunResult& result) {
  std::lock_guard lock(shared_->mutex);
  const OsdCounters delta = shared_->after - shared_->before;
  ClusterWitness& witness = result.witness;
  witness.available = delta.available;
  witness.unavailable_reason = delta.available || !delta.unavailable_reason.empty()
                                   ? delta.unavailable_reason
                                   : "the OSDs did not answer in time";
  witness.read_ops = delta.read_ops;
  witness.write_ops = delta.write_ops;
  witness.extra_ops = delta.read_write_ops;
  witness.read_bytes = delta.read_bytes;
  witness.write_bytes = delta.write_bytes;
  witness.window_ns = shared_->end_ns - shared_->begin_ns;
  witness.health_changes = shared_->health_changes;
  witness.background_work.assign(shared_->background_work.begin(), shared_->background_work.end());
  result.environment.osd_memory_bytes = shared_->before.memory_target_bytes;
  auto& facts = result.environment.cluster;
  facts["fsid"] = shared_->cluster->fsid();
  facts["health_at_start"] = shared_->start.health;
  facts["health_at_end"] = shared_->end.health;
  facts.insert(shared_->facts_at_start.begin(), shared_->facts_at_start.end());
  for (const auto& [key, value] : shared_->facts_at_end)
    if (key.starts_with("fill ")) facts[key + " at end"] = value;
  if (shared_->before.osds > 0) facts["osds_up"] = std::to_string(shared_->before.osds);
  return shared_->verdict;
}

}  // namespace cephmark
