// strand_probe: proves the strand and its tear-down on bare librbd before any product code stands
// on them: many images on few contexts, some held to a QoS limit, load stopped and started again
// and again, OSDs that stop answering, Ctrl-C once and twice. It prints one JSON line and exits
// with
//   0    everything came back and was closed
//   1    an invariant is broken: a lost wake-up, a double completion, a count that does not add up,
//   a lane not full 3    requests did not come back within the grace and were abandoned, or a close
//   did not return in its limit 4    could not connect, open or prepare 130  interrupted (the line
//   says what was abandoned)
// strand_test.cc runs it against the lab; by hand: CEPH_CONF=... strand_probe --images 64
// --connections 4 --seconds 5
// (--make first, --remove at the end).
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <condition_variable>
#include <filesystem>
#include <mutex>

#include "base/error.h"
#include "base/time.h"
#include "strand_lane.h"

namespace cephmark::probe {
namespace {

struct Options {
  std::string pool = "rbd", prefix = "strand-probe", mode = "callback", user = "admin";
  int images = 64, connections = 1, limited = 0, cycles = 1, reopen_every = 0, openers = 8;
  unsigned depth = 4, write_percent = 0, budget = 8;
  double seconds = 1, audit_every = 0.02, grace = 5, close_limit = 5, open_limit = 60;
  bool make = false, remove = false;
};

constexpr uint64_t kImageBytes = 4 << 20;

struct Context {
  rados_t cluster = nullptr;
  rados_ioctx_t io = nullptr;
};

// Lives until the process ends: threads that are stuck in the library refer to it.
struct Probe {
  Options options;
  Run run;
  std::unique_ptr<Worker> worker;
  std::vector<Context> contexts;
  std::vector<std::unique_ptr<Lane>> lanes;
  std::atomic<int> signals{0};
  uint64_t issued = 0, completed = 0, failed = 0, abandoned = 0;  // of lanes that are gone
  uint64_t lost = 0, stuck_holders = 0, late_returns = 0, in_shutdown = 0;
  int cycles_done = 0;
  double cpu_us_per_io = 0, iops = 0, drain_ms = 0, close_ms = 0;
  std::string phase = "connect";

  bool interrupted() const { return signals.load() > 0; }
  void report(const char* how);
  int finish(const char* how, int code);
};

// `how`: closed, abandoned, second-signal...
void Probe::report(const char* how) {
  uint64_t now_issued = issued, now_done = completed, now_failed = failed, back = 0;
  for (const auto& lane : lanes) {
    now_issued += lane->issued();
    now_done += lane->done();
    now_failed += lane->failed();
    back += lane->called_back();
  }
  fmt::print(
      "{{\"mode\":\"{}\",\"exit\":\"{}\",\"phase\":\"{}\",\"cycles\":{},\"issued\":{},"
      "\"completed\":{},"
      "\"failed\":{},\"abandoned\":{},\"in_flight\":{},\"lost_wakeups\":{},\"twice\":{},\"not_"
      "full\":{},"
      "\"handed_over\":{},\"stuck_holders\":{},\"late_returns\":{},\"callbacks_after_shutdown\":{},"
      "\"cpu_us_per_io\":{:.2f},\"iops\":{:.0f},\"drain_ms\":{:.0f},\"close_ms\":{:.0f}}}\n",
      options.mode, how, phase, cycles_done, now_issued, now_done, now_failed, abandoned,
      now_issued - now_done, lost, run.twice.load(), run.not_full.load(), run.handed_over.load(),
      stuck_holders, late_returns, in_shutdown, cpu_us_per_io, iops, drain_ms, close_ms);
  std::fflush(stdout);
}

// Never runs destructors: other threads may be inside the library.
[[noreturn]] void leave(int code) {
  std::fflush(nullptr);
  ::_exit(code);
}

int Probe::finish(const char* how, int code) {
  report(how);
  const bool broken = lost || run.twice || run.not_full || in_shutdown;
  return broken ? 1 : interrupted() ? 130 : code;
}

[[noreturn]] void fail(Probe& probe, const std::string& what, int rc) {
  fmt::print(stderr, "strand_probe: {}: {}\n", what, errno_text(rc));
  probe.report("failed");
  leave(4);
}

double cpu_seconds() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  return use.ru_utime.tv_sec + use.ru_stime.tv_sec +
         (use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6;
}

// Waits on the main thread until `done()`, a signal, or the limit; true when done() holds.
template <typename Done>
bool wait_until(Probe& probe, double limit_s, bool stop_on_signal, Done done) {
  const int64_t end_ns = monotonic_ns() + static_cast<int64_t>(limit_s * 1e9);
  while (!done()) {
    if (stop_on_signal && probe.interrupted()) return false;
    const int64_t left_ns = end_ns - monotonic_ns();
    if (left_ns <= 0) return false;
    pollfd wait{probe.run.news_fd.get(), POLLIN, 0};
    const int timeout_ms = static_cast<int>(std::min<int64_t>(left_ns / 1'000'000 + 1, 100));
    if (::poll(&wait, 1, timeout_ms) > 0) {
      uint64_t count;
      [[maybe_unused]] const ssize_t n = ::read(probe.run.news_fd.get(), &count, sizeof count);
    }
  }
  return true;
}

// Runs `work` on a thread that nobody joins, since it may never return; true when it did within the
// limit.
bool on_own_thread(Probe& probe, double limit_s, bool stop_on_signal, std::function<void()> work) {
  auto done = std::make_shared<std::atomic<bool>>(false);
  std::thread([&probe, done, work = std::move(work)] {
    work();
    done->store(true);
    probe.run.tell_main();
  }).detach();
  return wait_until(probe, limit_s, stop_on_signal, [done] { return done->load(); });
}

void connect(Probe& probe) {
  probe.contexts.resize(probe.options.connections);
  for (auto& context : probe.contexts) {
    int rc = rados_create(&context.cluster, probe.options.user.c_str());
    if (rc == 0) rc = rados_conf_read_file(context.cluster, nullptr);
    if (rc == 0) rc = rados_conf_parse_env(context.cluster, nullptr);
    if (rc < 0) fail(probe, "configuration", rc);
    rados_conf_set(context.cluster, "admin_socket", "");
    rados_conf_set(context.cluster, "log_to_file", "false");
    rados_conf_set(context.cluster, "log_to_stderr", "false");
    rados_conf_set(context.cluster, "rbd_cache", "false");
    rados_conf_set(context.cluster, "client_mount_timeout", "30");
    if ((rc = rados_connect(context.cluster)) < 0) fail(probe, "connect", rc);
    if ((rc = rados_ioctx_create(context.cluster, probe.options.pool.c_str(), &context.io)) < 0)
      fail(probe, "pool " + probe.options.pool, rc);
  }
}

std::string image_name(const Probe& probe, int index) {
  return fmt::format("{}-{}", probe.options.prefix, index);
}

// Images that are there (from another run of ours) are kept; all are written in full, so that reads
// reach the OSDs.
int make_image(Probe& probe, Context& context, int index) {
  const std::string name = image_name(probe, index);
  int order = 22;
  int rc = rbd_create(context.io, name.c_str(), kImageBytes, &order);
  if (rc < 0 && rc != -EEXIST) return rc;
  rbd_image_t image = nullptr;
  if ((rc = rbd_open(context.io, name.c_str(), &image, nullptr)) < 0) return rc;
  std::string block(1 << 20, static_cast<char>('a' + index % 26));
  for (uint64_t at = 0; at < kImageBytes && rc >= 0; at += block.size())
    rc = static_cast<int>(rbd_write(image, at, block.size(), block.data()));
  const int closed = rbd_close(image);
  return rc < 0 ? rc : closed;
}

int set_limit(Probe& probe, Context& context, int index) {
  rbd_image_t image = nullptr;
  int rc = rbd_open(context.io, image_name(probe, index).c_str(), &image, nullptr);
  if (rc < 0) return rc;
  constexpr const char* kKey = "conf_rbd_qos_iops_limit";
  if (index < probe.options.limited)
    rc = rbd_metadata_set(image, kKey, "4");
  else if ((rc = rbd_metadata_remove(image, kKey)) == -ENOENT)
    rc = 0;
  rbd_close(image);
  return rc;
}

// Calls work(context, index) for all images on a few threads; ends the program on failure, Ctrl-C
// or after the limit.
template <typename Work>
void for_all_images(Probe& probe, const char* what, Work work) {
  probe.phase = what;
  struct Shared {
    std::atomic<int> next{0}, done{0}, rc{0}, failed_image{-1};
  };
  auto shared = std::make_shared<Shared>();
  for (int i = 0; i < std::min(probe.options.openers, probe.options.images); ++i)
    std::thread([&probe, shared, work] {
      for (int index; (index = shared->next++) < probe.options.images;) {
        const int rc = work(probe.contexts[index % probe.contexts.size()], index);
        if (rc < 0) {
          shared->rc = rc;
          shared->failed_image = index;
        }
        ++shared->done;
        probe.run.tell_main();
      }
    }).detach();
  const bool all = wait_until(probe, probe.options.open_limit, true, [&] {
    return shared->rc < 0 || shared->done == probe.options.images;
  });
  if (shared->rc < 0)
    fail(probe, fmt::format("{} {}", what, image_name(probe, shared->failed_image)), shared->rc);
  if (!all) leave(probe.finish("abandoned", 3));
}

void open_lanes(Probe& probe) {
  probe.lanes.resize(probe.options.images);
  for_all_images(probe, "open", [&probe](Context& context, int index) {
    rbd_image_t image = nullptr;
    const int rc = rbd_open(context.io, image_name(probe, index).c_str(), &image, nullptr);
    if (rc == 0) probe.lanes[index] = std::make_unique<Lane>(probe.run, image, index + 1);
    return rc;
  });
}

// A completion that was called back and that nobody takes, with nobody in the lane: the strand lost
// it. Waits until every callback that came has been counted; what stays uncounted after two seconds
// is lost.
uint64_t lost_wakeups(Probe& probe) {
  uint64_t lost = 0;
  wait_until(probe, 2, false, [&] {
    lost = 0;
    for (const auto& lane : probe.lanes)
      if (lane->idle() && lane->called_back() != lane->done()) ++lost;
    return lost == 0;
  });
  return lost;
}

// Some lanes did not drain: takes their strands, counts what is abandoned, closes nothing that has
// requests out.
int abandon(Probe& probe) {
  if (probe.run.mode == Mode::kBare) return probe.finish("abandoned", 3);
  probe.lost = lost_wakeups(probe);
  for (const auto& lane : probe.lanes) {
    const bool frozen = wait_until(probe, 0.2, false, [&] { return lane->freeze(); });
    if (!frozen) ++probe.stuck_holders;
    probe.abandoned += lane->in_flight();
  }
  return probe.finish("abandoned", 3);
}

// One start and stop of the load on open images. False: not everything came back.
bool one_cycle(Probe& probe) {
  Run& run = probe.run;
  probe.phase = "load";
  run.stop = false;
  run.drained = 0;
  const double cpu_before = cpu_seconds();
  const int64_t start_ns = monotonic_ns();
  auto done_now = [&] {
    uint64_t done = 0;
    for (const auto& lane : probe.lanes) done += lane->done();
    return done;
  };
  const uint64_t done_before = done_now();
  for (const auto& lane : probe.lanes) lane->start();
  if (probe.cycles_done == 0) {
    fmt::print(stderr, "loaded\n");  // strand_test.cc waits for this word
    std::fflush(stderr);
  }
  const int64_t end_ns = start_ns + static_cast<int64_t>(probe.options.seconds * 1e9);
  while (monotonic_ns() < end_ns && !probe.interrupted()) {
    const double left_s = (end_ns - monotonic_ns()) / 1e9;
    wait_until(probe, std::min(left_s, probe.options.audit_every), true, [] { return false; });
    if (run.mode != Mode::kBare)
      for (const auto& lane : probe.lanes) lane->audit();
  }
  const uint64_t ios = done_now() - done_before;
  probe.cpu_us_per_io = ios ? (cpu_seconds() - cpu_before) * 1e6 / ios : 0;
  probe.iops = ios * 1e9 / (monotonic_ns() - start_ns);

  probe.phase = "drain";
  const int64_t stop_ns = monotonic_ns();
  run.stop = true;
  if (run.mode != Mode::kBare)
    for (const auto& lane : probe.lanes) lane->kick();
  const int lanes = static_cast<int>(probe.lanes.size());
  const bool all =
      wait_until(probe, probe.options.grace, false, [&] { return run.drained == lanes; });
  probe.drain_ms = std::max(probe.drain_ms, (monotonic_ns() - stop_ns) / 1e6);
  if (!all) return false;
  // Counted is not yet left: the last holder must be out of the strand before the lane may start
  // again.
  wait_until(probe, 5, false, [&] {
    return std::all_of(probe.lanes.begin(), probe.lanes.end(),
                       [](auto& lane) { return lane->idle(); });
  });
  ++probe.cycles_done;
  return true;
}

// All lanes are drained. Closes images, then contexts; only then are lanes freed. False: the limit
// passed.
bool close_all(Probe& probe, bool contexts_too) {
  probe.phase = "close";
  const int64_t start_ns = monotonic_ns();
  const bool closed = on_own_thread(probe, probe.options.close_limit, false, [&probe] {
    for (const auto& lane : probe.lanes) rbd_close(lane->image());
  });
  if (!closed) return false;
  for (const auto& lane : probe.lanes) probe.late_returns += lane->inside() != 0;
  if (contexts_too) {
    const bool gone = on_own_thread(probe, probe.options.close_limit, false, [&probe] {
      for (auto& context : probe.contexts) {
        rados_ioctx_destroy(context.io);
        rados_shutdown(context.cluster);
      }
    });
    if (!gone) return false;
    for (const auto& lane : probe.lanes) probe.in_shutdown += lane->inside() != 0;
    probe.contexts.clear();
  }
  for (const auto& lane : probe.lanes) {
    // Without the shutdown callbacks may still be returning (see late_returns): freed when they are
    // out.
    if (!wait_until(probe, 5, false, [&] { return lane->inside() == 0 && lane->idle(); }))
      ++probe.lost;
    probe.issued += lane->issued();
    probe.completed += lane->done();
    probe.failed += lane->failed();
  }
  probe.lanes.clear();
  probe.close_ms = std::max(probe.close_ms, (monotonic_ns() - start_ns) / 1e6);
  return true;
}

int count_entries(const char* directory) {
  int count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(directory)) ++count;
  return count;
}

void watch_signals(Probe& probe) {
  static sigset_t set;
  sigemptyset(&set);
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, signal);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::thread([&probe] {
    for (;;) {
      int signal = 0;
      if (sigwait(&set, &signal) != 0) continue;
      if (++probe.signals > 1) {  // second: whatever the others are in, leave now
        probe.report("second-signal");
        leave(130);
      }
      probe.run.tell_main();
    }
  }).detach();
}

int remove_images(Probe& probe) {
  for_all_images(probe, "remove", [&probe](Context& context, int index) {
    int rc;
    // The watcher of a probe that left without closing stays for about 30 s.
    for (int tries = 0;
         (rc = rbd_remove(context.io, image_name(probe, index).c_str())) == -EBUSY && tries < 60;
         ++tries)
      ::sleep(1);
    return rc == -ENOENT ? 0 : rc;
  });
  return 0;
}

int run_probe(Probe& probe) {
  const Options& options = probe.options;
  const int threads_before = count_entries("/proc/self/task"),
            fds_before = count_entries("/proc/self/fd");
  connect(probe);
  if (options.make) {
    for_all_images(probe, "make", [&probe](Context& c, int i) { return make_image(probe, c, i); });
  }
  for_all_images(probe, "limit", [&probe](Context& c, int i) { return set_limit(probe, c, i); });
  for (int cycle = 0; cycle < options.cycles && !probe.interrupted(); ++cycle) {
    if (probe.contexts.empty()) connect(probe);
    if (probe.lanes.empty()) open_lanes(probe);
    if (!one_cycle(probe)) return abandon(probe);
    const bool last = cycle + 1 == options.cycles || probe.interrupted();
    const bool reopen = options.reopen_every && (cycle + 1) % options.reopen_every == 0;
    if ((last || reopen) && !close_all(probe, !last || !options.remove))
      return probe.finish("close-abandoned", 3);
  }
  if (options.remove) {
    remove_images(probe);
    if (!close_all(probe, true)) return probe.finish("close-abandoned", 3);
  }
  // Threads that ended a moment ago may still be listed.
  const bool clean = wait_until(probe, 5, false, [&] {
    return count_entries("/proc/self/task") <= threads_before &&
           count_entries("/proc/self/fd") <= fds_before;
  });
  if (!clean) {
    fmt::print(stderr, "strand_probe: left over: {} threads (were {}), {} fds (were {})\n",
               count_entries("/proc/self/task"), threads_before, count_entries("/proc/self/fd"),
               fds_before);
    probe.report("leaks");
    return 1;
  }
  if (probe.issued != probe.completed + probe.abandoned) ++probe.lost;
  return probe.finish("closed", probe.failed ? 1 : 0);
}

void parse(Options& options, CLI::App& app) {
  app.add_option("--pool", options.pool);
  app.add_option("--user", options.user, "without client.");
  app.add_option("--prefix", options.prefix, "images are called PREFIX-N");
  app.add_option("--images", options.images);
  app.add_option("--connections", options.connections, "librados contexts");
  app.add_option("--limited", options.limited, "images with a QoS limit of 4 IOPS");
  app.add_option("--depth", options.depth);
  app.add_option("--budget", options.budget, "submissions in one visit of a library thread");
  app.add_option("--write-percent", options.write_percent);
  app.add_option("--mode", options.mode)->check(CLI::IsMember({"callback", "worker", "bare"}));
  app.add_option("--cycles", options.cycles, "starts and stops of the load");
  app.add_option("--reopen-every", options.reopen_every,
                 "close and open everything every N cycles");
  app.add_option("--seconds", options.seconds, "load in each cycle");
  app.add_option("--audit-every", options.audit_every, "seconds between looks at every lane");
  app.add_option("--grace", options.grace, "seconds for the drain");
  app.add_option("--close-limit", options.close_limit, "seconds");
  app.add_option("--open-limit", options.open_limit, "seconds");
  app.add_flag("--make", options.make, "make and write the images first");
  app.add_flag("--remove", options.remove, "remove them at the end");
}

}  // namespace
}  // namespace cephmark::probe

// What is thrown fails the proof by terminating it.
int main(int argc, char** argv) {  // NOLINT(bugprone-exception-escape)
  using namespace cephmark::probe;
  auto& probe = *new Probe;  // never freed, see above
  CLI::App app{"proves the strand and its tear-down on bare librbd"};
  parse(probe.options, app);
  CLI11_PARSE(app, argc, argv);
  probe.run.mode = probe.options.mode == "worker" ? Mode::kWorker
                   : probe.options.mode == "bare" ? Mode::kBare
                                                  : Mode::kCallback;
  probe.run.depth = probe.options.depth;
  probe.run.budget = probe.options.budget;
  probe.run.write_percent = probe.options.write_percent;
  probe.run.image_bytes = kImageBytes;
  probe.run.news_fd.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  watch_signals(probe);
  probe.worker = std::make_unique<Worker>();
  probe.run.worker = probe.worker.get();
  leave(run_probe(probe));
}
