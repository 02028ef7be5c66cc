#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>

#include "base/error.h"
#include "base/rng.h"
#include "base/time.h"
#include "base/units.h"
#include "job/ceph_engines.h"
#include "run/run_state.h"
#include "run/steps.h"
#include "run/workload_source.h"
#include "workload/region.h"

namespace cephmark {
namespace {

constexpr uint64_t kPage_bytes = 4096;
constexpr uint64_t kDelaySeed = 0x64656c6179;  ///< startdelay=A-B draws apart from the workload
constexpr uint64_t kTouchAtMost_bytes = kGiB;  ///< of all lanes: page faults belong before the run
constexpr unsigned kCallbackSubmissions = 8;   ///< reference: what a completion thread may do
constexpr uint64_t kCallbackPayload_bytes = 64 * kKiB;
constexpr unsigned kBlockingBatch = 16;
constexpr unsigned kClosers = 16;
constexpr size_t kManyPerConnection = 1'500;
constexpr int64_t kMarginOfStep_ns = 5 * kNsPerSecond;
constexpr int64_t kCloseTimeout_ns = 30 * kNsPerSecond;
constexpr int64_t kCloseWaitPerTarget_ns = 20 * kNsPerMs;
constexpr int64_t kSettleTimeout_ns = 60 * kNsPerSecond;
constexpr int64_t kDropTimeout_ns = 30 * kNsPerSecond;

const EngineRow& row_of(const JobSpec& job) {
  const EngineRow* row = find_engine(job.ioengine);
  if (row) return *row;
  throw UsageError(
      fmt::format("job {} ({}): there is no engine \"{}\"", job.name, job.source, job.ioengine));
}

bool writes_of(const JobSpec& job) {
  return job.rw.writes || job.rw.trims;
}

void connect(RunState& state, const LocalRunnerOptions& options, Observer& observer,
             const std::stop_token& stop, bool& left_behind) {
  if (!first_ceph_job(state.plan)) return;
  auto pool = std::make_shared<ConnectionPool>(state.plan);
  Step step;
  step.name = fmt::format("{} connections", pool->size());
  step.timeout_ns = state.plan.limits.open_timeout_ns +
                    kMarginOfStep_ns;  // its own error comes first and says more
  step.action = [pool, told = options.on_connected] { pool->connect({}, told); };
  step.if_late = [pool] { pool->abandon(); };
  std::vector<Step> steps;
  steps.push_back(std::move(step));
  run_steps("connecting to the cluster", std::move(steps), 1, observer, stop, left_behind);
  state.connections = std::move(pool);
}

void make_targets(RunState& state) {
  for (const VmPlan& vm : state.plan.vms) {
    auto& targets = state.job_targets.emplace_back();
    const EngineContext context{
        state.plan,
        vm,
        state.connections.get(),
        &state.file_guard,
        state.about_to_create_objects ? &state.about_to_create_objects : nullptr,
        state.run_id};
    for (const JobSpec& job : vm.jobs) {
      const EngineRow& row = row_of(job);
      OpenTarget& target = state.targets[row.target_key(job, context)];
      if (!target.engine) {
        target.row = &row;
        target.engine = row.create(job, context);
        target.what = fmt::format("{}{}{} ({})", vm.name, vm.name.empty() ? "" : ", ", job.name,
                                  job.ioengine);
      }
      target.will_write |= writes_of(job);
      targets.push_back(&target);
    }
  }
}

void open_targets(RunState& state, unsigned openers, Observer& observer,
                  const std::stop_token& stop, bool& left_behind, int64_t open_ns) {
  std::vector<Step> opens, prepares;
  for (auto& [key, target] : state.targets) {
    Step step;
    step.name = target.what;
    // Laying out a file may take as long as it takes; a cluster that does not answer may not. The
    // engine gives up first: its error says more.
    if (needs_ceph(target.row->description.name))
      step.timeout_ns = state.plan.limits.open_timeout_ns + kMarginOfStep_ns;
    step.action = [engine = target.engine, info = target.info, open = target.open] {
      *info = engine->open();
      *open = true;
    };
    step.if_late = [engine = target.engine] { engine->close(); };
    opens.push_back(std::move(step));
  }
  run_steps("opening targets", std::move(opens), openers, observer, stop, left_behind);
  for (auto& [key, target] : state.targets) {
    if (!needs_ceph(target.row->description.name)) continue;
    Step step;
    step.name = target.info->name;
    // The engine gives up first and says what it waited for. Writing what will be read takes as
    // long as it makes progress.
    step.timeout_ns =
        target.row->lays_out ? 0 : state.plan.limits.prepare_timeout_ns + kMarginOfStep_ns;
    step.action = [engine = target.engine, writes = target.will_write,
                   limit_ns = state.plan.limits.prepare_timeout_ns] {
      engine->prepare(writes, limit_ns);
    };
    prepares.push_back(std::move(step));
  }
  const bool prepares_any = !prepares.empty();
  const int64_t prepare_ns = monotonic_ns();
  run_steps("preparing targets", std::move(prepares), openers, observer, stop, left_behind);
  state.set_up_phases = {{PhaseKind::kOpen, 0, open_ns, prepare_ns}};
  if (prepares_any)
    state.set_up_phases.push_back({PhaseKind::kPrepare, 0, prepare_ns, monotonic_ns()});
}

unsigned lane_depth(const JobSpec& job, const EngineRow& row) {
  if (row.completion == CompletionMode::kBlocking) return 1;
  return std::clamp(job.iodepth, 1u, row.description.max_iodepth);
}

LaneSetup lane_setup(const JobSpec& job, const EngineRow& row, const RunLimits& limits,
                     bool hand_over_only) {
  LaneSetup setup;
  setup.stage = job.stage;
  for (int op = 0; op < kOpCount; ++op)
    if (job.has_op(static_cast<Op>(op))) setup.ops.push_back(static_cast<Op>(op));
  setup.mode = row.completion;
  setup.depth = lane_depth(job, row);
  setup.startdelay_ns = job.startdelay_ns;
  setup.ramp_ns = job.ramp_time_ns;
  setup.runtime_ns = job.runtime_ns;
  setup.drain_grace_ns = limits.drain_grace_ns;
  setup.has_submit_latency = row.has_submit_latency;
  setup.hand_over_only = hand_over_only;
  setup.clock = [] { return monotonic_ns(); };
  setup.callback_budget = kCallbackSubmissions;
  if (job.rw.writes && !job.zero_buffers && !row.own_contents)
    setup.callback_budget = static_cast<unsigned>(
        std::min<uint64_t>(kCallbackSubmissions,
                           kCallbackPayload_bytes / std::max<uint64_t>(1, max_block_bytes(job))));
  return setup;
}

uint64_t round_up(uint64_t bytes) {
  return (bytes + kPage_bytes - 1) / kPage_bytes * kPage_bytes;
}

// What all lanes together need; refused before it is taken, since the kernel would only refuse by
// killing.
bool may_touch_memory(const RunState& state) {
  uint64_t total = 0;
  for (const VmPlan& vm : state.plan.vms)
    for (const JobSpec& job : vm.jobs)
      if (job.rw.reads || job.rw.writes)
        total += round_up(max_block_bytes(job)) * lane_depth(job, row_of(job)) *
                 static_cast<uint64_t>(job.numjobs);
  const uint64_t physical = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * kPage_bytes;
  if (total > physical / 2)
    throw Error(
        fmt::format("the plan's buffers take {} of this machine's {} of memory", format_size(total),
                    format_size(physical)),
        "use a smaller iodepth, block size or number of VMs, or spread them over more hosts");
  return total <= kTouchAtMost_bytes;
}

void make_lanes(RunState& state, const LocalRunnerOptions& options, int64_t slot_ns) {
  const bool touch = may_touch_memory(state);
  uint64_t index = 0;
  for (size_t vm = 0; vm < state.plan.vms.size(); ++vm) {
    for (size_t j = 0; j < state.plan.vms[vm].jobs.size(); ++j) {
      const JobSpec& job = state.plan.vms[vm].jobs[j];
      OpenTarget& target = *state.job_targets[vm][j];
      TargetExtent extent{.name = target.info->name,
                          .size_bytes = target.info->size_bytes / std::max(1u, target.info->files),
                          .fixed = true,
                          .files = target.info->files};
      const std::vector<uint64_t>& clone_sizes = target.info->clone_size_bytes;
      std::shared_ptr<SharedWork> shared;
      for (int clone = 0; clone < job.numjobs; ++clone) {
        if (!clone_sizes.empty())
          extent.size_bytes = clone_sizes.at(clone) / std::max(1u, target.info->files);
        const Region region = resolve_region(job, extent, clone);
        if (!shared || !job.clones_share) shared = SharedWork::of(job, region);
        auto source =
            std::make_unique<WorkloadSource>(job, region, lane_seed(job, state.plan.seed, index++),
                                             !target.row->own_contents, shared);
        LaneSetup setup = lane_setup(job, *target.row, state.plan.limits, options.hand_over_only);
        setup.vm = static_cast<int>(vm);
        setup.job = static_cast<int>(j);
        setup.clone = clone;
        const bool only_reads = !job.rw.writes && !job.rw.trims;
        // Places that all clones deal out go one at a time, and what is checked keeps its memory.
        if (setup.mode == CompletionMode::kBlocking && only_reads && !source->open_loop() &&
            !shared && !job.checked_blocks)
          setup.blocking_batch = kBlockingBatch;
        if (job.startdelay_max_ns > job.startdelay_ns)
          setup.startdelay_ns += static_cast<int64_t>(
              Rng(Rng::derive(state.plan.seed ^ kDelaySeed, index)).next() %
              static_cast<uint64_t>(job.startdelay_max_ns - job.startdelay_ns + 1));
        setup.slot_bytes = job.rw.reads || job.rw.writes ? round_up(source->max_length()) : 0;
        const RecorderSetup recording{.slot_ns = slot_ns,
                                      .open_loop = source->open_loop(),
                                      .has_submit_latency = setup.has_submit_latency,
                                      .own_thread = setup.mode == CompletionMode::kBlocking};
        LanePlace place;
        place.target = &target;
        place.job = &job;
        place.memory = std::make_unique<LaneMemory>(setup.slot_bytes * setup.depth, touch);
        place.lane = std::make_unique<Lane>(setup, recording, std::move(source),
                                            place.memory->data(), state.control, state.collector);
        state.lanes.push_back(std::move(place));
      }
    }
  }
}

// One worker per CPU and engine, or per lane where calls block. Each stage's lanes are dealt in
// turn, so that every stage keeps all workers busy.
void make_workers(RunState& state, int cpus) {
  // A port is made as its jobs' engine options want it: jobs that differ in them share none.
  using Kind = std::pair<const EngineRow*, std::map<std::string, std::string>>;
  std::map<Kind, std::map<int, std::vector<LanePlace*>>> groups;
  for (LanePlace& place : state.lanes) {
    Kind kind{place.target->row, {}};
    if (kind.first->make_port) kind.second = place.job->engine_options;
    groups[kind][place.lane->setup().stage].push_back(&place);
  }
  for (auto& [kind, stages] : groups) {
    const EngineRow* row = kind.first;
    size_t widest = 0;
    for (const auto& [stage, places] : stages) widest = std::max(widest, places.size());
    const bool blocking = row->completion == CompletionMode::kBlocking;
    const size_t first = state.workers.size();
    const size_t count = std::min<size_t>(widest, std::max(1, cpus));
    for (size_t i = 0; !blocking && i < count; ++i)
      state.workers.push_back(std::make_unique<Worker>(row->completion, state.control));
    for (auto& [stage, places] : stages) {
      for (size_t i = 0; i < places.size(); ++i) {
        if (blocking)
          state.workers.push_back(std::make_unique<Worker>(row->completion, state.control));
        Worker& worker = blocking ? *state.workers.back() : *state.workers[first + i % count];
        worker.add(*places[i]->lane);
      }
    }
  }
}

void make_queues(RunState& state) {
  std::map<const Lane*, LanePlace*> place_of;
  for (LanePlace& place : state.lanes) place_of[place.lane.get()] = &place;
  for (auto& worker : state.workers) {
    if (worker->mode() == CompletionMode::kPolled) {
      unsigned depth = 0;
      for (const Lane* lane : worker->lanes()) depth += lane->setup().depth;
      const LanePlace& first = *place_of.at(worker->lanes().front());
      worker->set_port(first.target->row->make_port(depth, *first.job));
    }
    for (Lane* lane : worker->lanes()) {
      const LanePlace& place = *place_of.at(lane);
      QueueSetup setup;
      setup.depth = lane->setup().depth;
      setup.ready = lane;
      setup.port = worker->port();
      setup.job = place.job;
      setup.clone = lane->setup().clone;
      setup.buffers = lane->buffers();
      lane->set_queue(place.target->engine->make_queue(setup));
    }
  }
}

// librbd's time to close an image grows with the images that are open on its connection, under one
// lock (docs/benchmarks.md).
void tell_of_slow_close(const RunState& state, Observer& observer) {
  if (!state.connections) return;
  size_t images = 0;
  for (const auto& [key, target] : state.targets) images += target.row->description.name == "rbd";
  const auto connections = static_cast<size_t>(std::max(1, state.connections->size()));
  if (images / connections <= kManyPerConnection) return;
  observer.note(fmt::format(
      "closing {} images on {} connection{} takes minutes in librbd (its work grows with "
      "the square of the images per connection): --connections {} avoids that",
      images, connections, connections == 1 ? "" : "s", images / kManyPerConnection * 2 + 2));
}

// After a failed set-up: what is open is closed, on threads of their own.
void close_quietly(RunState& state, Observer& observer, bool& left_behind) {
  std::vector<Step> closes;
  for (auto& [key, target] : state.targets)
    if (*target.open)
      closes.push_back(
          {target.info->name, [engine = target.engine] { engine->close(); }, {}, kCloseTimeout_ns});
  try {
    run_steps("closing targets", std::move(closes), kClosers, observer, {}, left_behind);
  } catch (const Error& error) {
    observer.note(error.what());
  }
}

}  // namespace

LaneMemory::LaneMemory(uint64_t bytes, bool touch) : bytes_(bytes) {
  if (bytes == 0) return;
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | (touch ? MAP_POPULATE : MAP_NORESERVE), -1, 0);
  if (at == MAP_FAILED)
    throw Error(fmt::format("cannot take {} of memory for I/O buffers: {}", format_size(bytes),
                            errno_text(errno)),
                "use a smaller iodepth or block size");
  data_ = static_cast<std::byte*>(at);
}

LaneMemory::~LaneMemory() {
  if (data_) munmap(data_, bytes_);
}

std::unique_ptr<RunState> set_up(const Plan& plan, const LocalRunnerOptions& options,
                                 int64_t slot_ns, int cpus, Observer& observer,
                                 std::stop_token stop) {
  auto state = std::make_unique<RunState>(plan, slot_ns);
  state->file_guard = options.file_guard ? options.file_guard : FileGuard(default_file_guard);
  state->about_to_create_objects = options.about_to_create_objects;
  state->run_id = options.run_id;
  bool left_behind = false;
  try {
    const int64_t begin_ns = monotonic_ns();
    connect(*state, options, observer, stop, left_behind);
    make_targets(*state);
    open_targets(*state, options.openers, observer, stop, left_behind, begin_ns);
    make_lanes(*state, options, slot_ns);
    make_workers(*state, cpus);
    make_queues(*state);
    for (auto& worker : state->workers) worker->start();
  } catch (...) {
    state->control.quit();
    for (auto& worker : state->workers) {
      worker->wake();
      worker->join();
    }
    for (LanePlace& place : state->lanes) place.lane->release_queue();
    state->workers.clear();
    close_quietly(*state, observer, left_behind);
    if (left_behind) {
      if (state->connections) state->connections->abandon();
      static_cast<void>(state.release());  // a library call is still at work in there
    } else {
      state->targets.clear();  // engines before what they are connected through
    }
    throw;
  }
  return state;
}

std::vector<std::string> drop_caches(RunState& state, int stage, Observer& observer, bool& stuck) {
  std::map<const OpenTarget*, bool> wanted;
  for (const LanePlace& place : state.lanes)
    if (place.job->stage == stage) wanted[place.target] |= place.job->invalidate;
  auto troubles = std::make_shared<std::vector<std::string>>();
  auto mutex = std::make_shared<std::mutex>();
  std::vector<Step> steps;
  for (const auto& [target, drops] : wanted) {
    if (!drops) continue;
    Step step;
    step.name = target->info->name;
    step.timeout_ns = kDropTimeout_ns + kMarginOfStep_ns;  // the engine gives up first
    step.action = [engine = target->engine, troubles, mutex] {
      try {
        engine->drop_caches(kDropTimeout_ns);
      } catch (const Error& error) {
        const std::lock_guard lock(*mutex);
        troubles->push_back(error.what());
      }
    };
    steps.push_back(std::move(step));
  }
  try {
    run_steps("emptying caches", std::move(steps), kClosers, observer, {}, stuck);
  } catch (const Error& error) {
    const std::lock_guard lock(*mutex);
    troubles->push_back(error.what());
  }
  const std::lock_guard lock(*mutex);
  return *troubles;
}

std::vector<std::string> settle_targets(RunState& state, Observer& observer, bool& stuck) {
  struct Outcome {
    std::mutex mutex;
    std::vector<std::string> troubles;
  };
  auto outcome = std::make_shared<Outcome>();
  std::vector<Step> steps;
  for (auto& [key, target] : state.targets) {
    if (!target.will_write || !needs_ceph(target.row->description.name)) continue;
    Step step;
    step.name = target.info->name;
    step.timeout_ns = kSettleTimeout_ns + 5 * kNsPerSecond;  // the engine gives up first
    step.action = [engine = target.engine, info = target.info, outcome] {
      try {
        const int64_t took_ns = engine->settle(kSettleTimeout_ns);
        if (took_ns >= 0) info->facts["end flush"] = format_duration(took_ns);
      } catch (const Error& error) {
        const std::lock_guard lock(outcome->mutex);
        outcome->troubles.push_back(error.what());
      }
    };
    steps.push_back(std::move(step));
  }
  try {
    run_steps("writing out caches", std::move(steps), kClosers, observer, {}, stuck);
  } catch (const Error& error) {
    const std::lock_guard lock(outcome->mutex);
    outcome->troubles.push_back(error.what());
  }
  const std::lock_guard lock(outcome->mutex);
  return outcome->troubles;
}

std::vector<std::string> tear_down(std::unique_ptr<RunState> state, Observer& observer,
                                   bool& stuck) {
  std::vector<std::string> troubles;
  state->control.quit();
  for (auto& worker : state->workers) worker->wake();
  for (auto& worker : state->workers) worker->join();
  for (LanePlace& place : state->lanes) {
    while (!place.lane->quiet()) std::this_thread::sleep_for(std::chrono::microseconds(100));
    place.lane->release_queue();
  }
  state->workers.clear();
  std::vector<Step> closes;
  auto failures = std::make_shared<std::vector<std::string>>();
  auto mutex = std::make_shared<std::mutex>();
  for (auto& [key, target] : state->targets) {
    Step step;
    step.name = target.info->name;
    // They wait for each other too (tell_of_slow_close).
    const auto wait_ns = static_cast<int64_t>(state->targets.size()) * kCloseWaitPerTarget_ns;
    step.timeout_ns = needs_ceph(target.row->description.name) ? kCloseTimeout_ns + wait_ns : 0;
    step.action = [engine = target.engine, name = target.info->name, failures, mutex] {
      try {
        engine->close();
      } catch (const Error& error) {
        const std::lock_guard lock(*mutex);
        failures->push_back(fmt::format("closing {}: {}", name, error.what()));
      }
    };
    closes.push_back(std::move(step));
  }
  tell_of_slow_close(*state, observer);
  try {
    run_steps("closing targets", std::move(closes), kClosers, observer, {}, stuck);
  } catch (const Error& error) {
    troubles.push_back(error.what());
  }
  {
    const std::lock_guard lock(*mutex);
    troubles.insert(troubles.end(), failures->begin(), failures->end());
  }
  if (stuck) {
    if (state->connections) state->connections->abandon();
    static_cast<void>(state.release());  // a close is still at work in there
    return troubles;
  }
  state->targets.clear();  // engines before what they are connected through
  if (state->connections && !state->connections->shut_down(kCloseTimeout_ns)) {
    troubles.push_back("the connections to the cluster could not be shut down in time");
    stuck = true;
  }
  return troubles;
}

}  // namespace cephmark
