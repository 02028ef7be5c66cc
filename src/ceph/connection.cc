#include "ceph/connection.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <set>
#include <thread>
#include <utility>

#include "base/error.h"
#include "job/ceph_engines.h"

namespace cephmark {
namespace {

// An I/O that is not aligned touches one object more than its length needs. 4 MiB is librbd's
// default object size; images with smaller objects are rare, and twice the bytes leaves them room.
constexpr uint64_t kObjectBytes = 4 << 20;

uint64_t largest_block(const JobSpec& job) {
  uint64_t largest = 0;
  for (const auto& sizes : job.block_sizes) {
    largest = std::max(largest, sizes.max_bytes);
    for (const auto& split : sizes.splits) largest = std::max(largest, split.bytes);
  }
  return largest;
}

}  // namespace

void ObjecterBudget::add(const JobSpec& job) {
  const uint64_t block = largest_block(job),
                 in_flight = uint64_t{job.iodepth} * std::max(1, job.numjobs);
  ops += in_flight * (2 + (block - (block > 0)) / kObjectBytes);
  bytes += 2 * in_flight * block;
}

Connection::Connection(const CephTarget& target, const ObjecterBudget& budget, RbdCache cache,
                       int64_t timeout_ns) {
  ClusterSettings settings;
  if (cache == RbdCache::kWriteBack) settings.exactly["rbd_cache_policy"] = "writeback";
  if (cache == RbdCache::kWriteAround) settings.exactly["rbd_cache_policy"] = "writearound";
  settings.at_least["objecter_inflight_ops"] = budget.ops;
  settings.at_least["objecter_inflight_op_bytes"] = budget.bytes;
  cluster_ = Cluster::connect(target, timeout_ns, settings);
  conf_cache_ = cluster_->option("rbd_cache");
}

void Connection::set(const char* name, const std::string& value) {
  if (const int r = rados_conf_set(cluster_->rados(), name, value.c_str()); r < 0)
    throw Error(
        fmt::format("cannot set the Ceph option {} to '{}': {}", name, value, errno_text(r)));
}

void Connection::begin_open(RbdCache wanted) {
  std::unique_lock lock(open_mutex_);
  open_changed_.wait(lock, [&] { return openers_ == 0 || open_setting_ == wanted; });
  if (openers_ == 0) {
    const bool as_configured = wanted == RbdCache::kConf || wanted == RbdCache::kAsFio;
    set("rbd_cache", as_configured ? conf_cache_ : wanted == RbdCache::kOff ? "false" : "true");
    open_setting_ = wanted;
  }
  ++openers_;
}

void Connection::end_open() {
  std::lock_guard lock(open_mutex_);
  if (--openers_ == 0) open_changed_.notify_all();
}

CephTarget ceph_target_of(const Plan& plan, const JobSpec& job) {
  CephTarget target = plan.ceph;
  if (target.conf.empty()) target.conf = job.engine_option("conf");
  if (target.user.empty()) target.user = job.engine_option("clientname");
  if (target.cluster.empty()) target.cluster = job.engine_option("clustername");
  return target;
}

struct ConnectionPool::Group {
  CephTarget target;
  std::map<const VmPlan*, size_t> place;  // which of `connections` a VM uses
  std::vector<ObjecterBudget> budgets;
  std::vector<std::unique_ptr<Connection>> connections;

  bool is(const CephTarget& other) const {
    return target.conf == other.conf && target.user == other.user &&
           target.keyring == other.keyring && target.cluster == other.cluster;
  }
};

// A thread that is started when it is first needed.
struct ConnectionPool::Helper {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> work;
  bool ending = false;
  std::thread thread;

  void run() {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [&] { return ending || !work.empty(); });
      if (work.empty()) return;
      auto next = std::move(work.front());
      work.pop_front();
      lock.unlock();
      next();
      lock.lock();
    }
  }
};

ConnectionPool::ConnectionPool(const Plan& plan)
    : helper_(std::make_unique<Helper>()), plan_(plan) {
  std::vector<std::vector<const VmPlan*>> users;
  auto group_of = [&](const CephTarget& target) {
    for (size_t i = 0; i < groups_.size(); ++i)
      if (groups_[i]->is(target)) return i;
    groups_.push_back(std::make_unique<Group>());
    groups_.back()->target = target;
    users.emplace_back();
    return groups_.size() - 1;
  };
  for (const auto& vm : plan.vms)
    for (const auto& job : vm.jobs) {
      if (!needs_ceph(job.ioengine)) continue;
      auto& vms = users[group_of(ceph_target_of(plan, job))];
      if (vms.empty() || vms.back() != &vm) vms.push_back(&vm);
    }
  const size_t wanted = plan.limits.connections > 0 ? plan.limits.connections : 16;
  for (size_t g = 0; g < groups_.size(); ++g) {
    Group& group = *groups_[g];
    const size_t count = std::min(wanted, users[g].size());
    group.budgets.resize(count);
    for (size_t i = 0; i < users[g].size(); ++i) {
      group.place.emplace(users[g][i], i % count);
      for (const auto& job : users[g][i]->jobs)
        if (needs_ceph(job.ioengine) && group.is(ceph_target_of(plan, job)))
          group.budgets[i % count].add(job);
    }
  }
}

ConnectionPool::~ConnectionPool() {
  {
    std::lock_guard lock(helper_->mutex);
    helper_->ending = true;
  }
  helper_->changed.notify_all();
  if (abandoned_) {
    if (helper_->thread.joinable()) helper_->thread.detach();
    (void)helper_.release();
    for (auto& group : groups_) (void)group.release();
    return;
  }
  if (helper_->thread.joinable()) helper_->thread.join();
}

void ConnectionPool::connect(const std::function<void(int, int)>& progress,
                             const std::function<void(uint64_t)>& on_connected) {
  struct Task {
    Group* group;
    size_t index;
  };
  std::vector<Task> tasks;
  for (auto& group : groups_) {
    group->connections.resize(group->budgets.size());
    for (size_t i = 0; i < group->budgets.size(); ++i) tasks.push_back({group.get(), i});
  }
  std::mutex mutex;
  std::exception_ptr first_error;
  std::atomic<size_t> next{0};
  int done = 0;
  auto work = [&] {
    for (size_t i; (i = next++) < tasks.size();) {
      auto& [group, index] = tasks[i];
      try {
        group->connections[index] = std::make_unique<Connection>(
            group->target, group->budgets[index], plan_.rbd_cache, plan_.limits.open_timeout_ns);
        std::lock_guard lock(mutex);
        if (on_connected) on_connected(group->connections[index]->cluster().instance_id());
      } catch (...) {
        std::lock_guard lock(mutex);
        if (!first_error) first_error = std::current_exception();
        next = tasks.size();  // the others would fail in the same way
      }
      std::lock_guard lock(mutex);
      if (progress) progress(++done, static_cast<int>(tasks.size()));
    }
  };
  std::vector<std::jthread> threads;
  for (size_t i = 0; i < std::min<size_t>(tasks.size(), 8); ++i) threads.emplace_back(work);
  threads.clear();
  if (first_error) std::rethrow_exception(first_error);
}

Connection& ConnectionPool::connection(const VmPlan& vm, const JobSpec& job) const {
  const CephTarget target = ceph_target_of(plan_, job);
  for (const auto& group : groups_) {
    if (!group->is(target)) continue;
    const auto place = group->place.find(&vm);
    if (place == group->place.end()) continue;
    auto& connection = group->connections.at(place->second);
    if (connection) return *connection;
  }
  throw Error(fmt::format("no connection was planned for job {} of {}", job.name, vm.name));
}

int ConnectionPool::size() const {
  size_t count = 0;
  for (const auto& group : groups_) count += group->budgets.size();
  return static_cast<int>(count);
}

std::vector<uint64_t> ConnectionPool::instance_ids() const {
  std::vector<uint64_t> ids;
  for (const auto& group : groups_)
    for (const auto& connection : group->connections)
      if (connection) ids.push_back(connection->cluster().instance_id());
  return ids;
}

std::map<std::string, std::string> ConnectionPool::facts() const {
  std::map<std::string, std::string> facts;
  facts["connections"] = std::to_string(size());
  std::set<std::string> ways, ops, bytes;
  for (const auto& group : groups_)
    for (const auto& connection : group->connections) {
      if (!connection) continue;
      ways.insert(connection->cluster().args().text());
      ops.insert(connection->cluster().option("objecter_inflight_ops"));
      bytes.insert(connection->cluster().option("objecter_inflight_op_bytes"));
    }
  facts["reached by"] = fmt::format("{}", fmt::join(ways, "; "));
  facts["objecter_inflight_ops"] = fmt::format("{}", fmt::join(ops, ", "));
  facts["objecter_inflight_op_bytes"] = fmt::format("{}", fmt::join(bytes, ", "));
  return facts;
}

ObjecterBudget ConnectionPool::effective_budget() const {
  ObjecterBudget largest;
  for (const auto& group : groups_)
    for (const auto& connection : group->connections) {
      if (!connection) continue;
      const auto number = [&](const char* name) {
        return std::strtoull(connection->cluster().option(name).c_str(), nullptr, 10);
      };
      largest.ops = std::max<uint64_t>(largest.ops, number("objecter_inflight_ops"));
      largest.bytes = std::max<uint64_t>(largest.bytes, number("objecter_inflight_op_bytes"));
    }
  return largest;
}

void ConnectionPool::run_soon(std::function<void()> work) {
  {
    std::lock_guard lock(helper_->mutex);
    helper_->work.push_back(std::move(work));
    if (!helper_->thread.joinable())
      helper_->thread = std::thread([helper = helper_.get()] { helper->run(); });
  }
  helper_->changed.notify_one();
}

bool ConnectionPool::shut_down(int64_t limit_ns) {
  struct Shared {
    std::mutex mutex;
    std::condition_variable changed;
    bool done = false;
  };
  auto shared = std::make_shared<Shared>();
  std::vector<std::unique_ptr<Connection>> closing;
  for (auto& group : groups_)
    for (auto& connection : group->connections) closing.push_back(std::move(connection));
  std::thread([shared, closing = std::move(closing)]() mutable {
    closing.clear();
    std::lock_guard lock(shared->mutex);
    shared->done = true;
    shared->changed.notify_all();
  }).detach();
  std::unique_lock lock(shared->mutex);
  const bool done = shared->changed.wait_for(lock, std::chrono::nanoseconds(limit_ns),
                                             [&] { return shared->done; });
  if (!done) abandoned_ = true;
  return done;
}

void ConnectionPool::abandon() {
  abandoned_ = true;
}

}  // namespace cephmark
