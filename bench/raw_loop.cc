// raw_loop: the least that a program can do with a library to keep N requests in flight. What the
// engines are measured against (bench.py): no statistics but a count, no clock but the deadline's.
//   raw_loop pread FILE SECONDS                 4 KiB random preads, one thread
//   raw_loop io_uring FILE DEPTH SECONDS        4 KiB random reads, one ring, handed to the
//   kernel's
//                                               workers at once (as tmpfs needs)
//   raw_loop rbd-read|rbd-write POOL IMAGE DEPTH SECONDS    4 KiB random, resubmitted from the
//                                               callback, cache off
//   raw_loop rbd-fleet POOL PREFIX IMAGES DEPTH SECONDS     the same reads of PREFIX0, PREFIX1, ...
//                                               on one connection, opened by 16 threads
//   raw_loop rados-read POOL DEPTH SECONDS      4 KiB random reads of 64 objects that it writes
//   first
//                                               and removes
//   raw_loop objects-read POOL PREFIX COUNT BYTES DEPTH SECONDS    random reads of whole objects
//                                               PREFIX_object0, ..., each of BYTES
//   raw_loop objects-write POOL BYTES DEPTH SECONDS    new objects of BYTES, removed afterwards
// Prints one JSON line: {"ios": N, "seconds": S, "cpu_seconds": C, "start_wall_s": T}, the counts
// of the loop alone: what connecting and opening cost is not in it (the whole process's is known to
// who calls wait4). T is the Unix time at which the loop began.
#include <fcntl.h>
#include <liburing.h>
#include <rados/librados.h>
#include <rbd/librbd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/rng.h"
#include "base/time.h"

namespace cephmark {
namespace {

constexpr size_t kBlock = 4096;

void must(int result, const char* what) {
  if (result >= 0) return;
  std::fprintf(stderr, "raw_loop: %s: %s\n", what, errno_text(result).c_str());
  std::exit(3);
}

double cpu_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) { return time.tv_sec + time.tv_usec / 1e6; };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

struct Start {
  double wall_s = static_cast<double>(wall_ns()) / kNsPerSecond;
  int64_t ns = monotonic_ns();
  double cpu_s = cpu_seconds();
};

void report(uint64_t ios, const Start& start) {
  std::printf("{\"ios\": %llu, \"seconds\": %.6f, \"cpu_seconds\": %.6f, \"start_wall_s\": %.6f}\n",
              static_cast<unsigned long long>(ios),
              static_cast<double>(monotonic_ns() - start.ns) / kNsPerSecond,
              cpu_seconds() - start.cpu_s, start.wall_s);
}

int run_pread(const std::string& path, int64_t seconds) {
  const int fd = ::open(path.c_str(), O_RDONLY);
  must(fd < 0 ? -errno : 0, path.c_str());
  struct stat status {};
  must(fstat(fd, &status) ? -errno : 0, "fstat");
  const uint64_t blocks = status.st_size / kBlock;
  void* buffer = std::aligned_alloc(4096, kBlock);
  Rng rng(1);
  const Start start;
  const int64_t end = start.ns + seconds * kNsPerSecond;
  uint64_t ios = 0;
  for (; monotonic_ns() < end; ++ios)
    must(pread(fd, buffer, kBlock, rng.below(blocks) * kBlock) < 0 ? -errno : 0, "pread");
  report(ios, start);
  std::free(buffer);
  ::close(fd);
  return 0;
}

int run_io_uring(const std::string& path, unsigned depth, int64_t seconds) {
  const int fd = ::open(path.c_str(), O_RDONLY);
  must(fd < 0 ? -errno : 0, path.c_str());
  struct stat status {};
  must(fstat(fd, &status) ? -errno : 0, "fstat");
  const uint64_t blocks = status.st_size / kBlock;
  io_uring ring;
  must(io_uring_queue_init(depth, &ring, IORING_SETUP_COOP_TASKRUN), "io_uring_queue_init");
  must(io_uring_register_files(&ring, &fd, 1), "io_uring_register_files");
  char* buffers = static_cast<char*>(std::aligned_alloc(4096, depth * kBlock));
  std::memset(buffers, 0, depth * kBlock);
  Rng rng(1);
  const auto submit = [&](uint64_t slot) {
    io_uring_sqe* entry = io_uring_get_sqe(&ring);
    io_uring_prep_read(entry, 0, buffers + slot * kBlock, kBlock, rng.below(blocks) * kBlock);
    entry->flags |= IOSQE_FIXED_FILE;
    entry->user_data = slot;
  };
  const Start start;
  const int64_t end = start.ns + seconds * kNsPerSecond;
  for (unsigned slot = 0; slot < depth; ++slot) submit(slot);
  uint64_t ios = 0, in_flight = depth;
  while (in_flight > 0) {
    must(io_uring_submit_and_wait(&ring, 1), "io_uring_submit_and_wait");
    const bool more = monotonic_ns() < end;
    unsigned head = 0, seen = 0;
    io_uring_cqe* event = nullptr;
    io_uring_for_each_cqe(&ring, head, event) {
      must(event->res, "io_uring read");
      ++seen;
      if (more)
        submit(event->user_data);
      else
        --in_flight;
    }
    io_uring_cq_advance(&ring, seen);
    ios += seen;
  }
  report(ios, start);
  io_uring_queue_exit(&ring);
  std::free(buffers);
  ::close(fd);
  return 0;
}

struct Shared {
  std::atomic<uint64_t> ios{0};
  std::atomic<int> in_flight{0};
  int64_t end_ns = 0;
  std::mutex mutex;
  std::condition_variable done;
};

struct Slot {
  Shared* shared = nullptr;
  Rng rng{1};
  char* buffer = nullptr;
  bool write = false;
  // rbd
  rbd_image_t image = nullptr;
  uint64_t blocks = 0;
  // rados
  rados_ioctx_t io = nullptr;
  int objects = 0;
  // whole objects
  const std::string* prefix = nullptr;
  size_t bytes = 0;
  std::atomic<uint64_t>* made = nullptr;
};

void finish(Slot& slot) {
  if (slot.shared->in_flight.fetch_sub(1) != 1) return;
  std::lock_guard lock(slot.shared->mutex);
  slot.shared->done.notify_all();
}

void submit_rbd(Slot& slot);

void rbd_done(rbd_completion_t completion, void* argument) {
  Slot& slot = *static_cast<Slot*>(argument);
  must(static_cast<int>(rbd_aio_get_return_value(completion)), "rbd I/O");
  rbd_aio_release(completion);
  slot.shared->ios.fetch_add(1, std::memory_order_relaxed);
  if (monotonic_ns() < slot.shared->end_ns)
    submit_rbd(slot);
  else
    finish(slot);
}

void submit_rbd(Slot& slot) {
  rbd_completion_t completion;
  must(rbd_aio_create_completion(&slot, rbd_done, &completion), "rbd_aio_create_completion");
  const uint64_t offset = slot.rng.below(slot.blocks) * kBlock;
  must(slot.write ? rbd_aio_write(slot.image, offset, kBlock, slot.buffer, completion)
                  : rbd_aio_read(slot.image, offset, kBlock, slot.buffer, completion),
       "rbd_aio");
}

template <void (*kSubmit)(Slot&)>
void rados_done(rados_completion_t completion, void* argument) {
  Slot& slot = *static_cast<Slot*>(argument);
  must(rados_aio_get_return_value(completion), "rados I/O");
  rados_aio_release(completion);
  slot.shared->ios.fetch_add(1, std::memory_order_relaxed);
  if (monotonic_ns() < slot.shared->end_ns)
    kSubmit(slot);
  else
    finish(slot);
}

void submit_rados(Slot& slot) {
  rados_completion_t completion;
  must(rados_aio_create_completion2(&slot, rados_done<submit_rados>, &completion),
       "rados_aio_create_completion2");
  const std::string name = "cephmark_raw_loop." + std::to_string(slot.rng.below(slot.objects));
  must(rados_aio_read(slot.io, name.c_str(), completion, slot.buffer, kBlock,
                      slot.rng.below(1024) * kBlock),
       "rados_aio_read");
}

void submit_object(Slot& slot) {
  rados_completion_t completion;
  must(rados_aio_create_completion2(&slot, rados_done<submit_object>, &completion),
       "rados_aio_create_completion2");
  const uint64_t number = slot.write ? slot.made->fetch_add(1) : slot.rng.below(slot.objects);
  const std::string name = *slot.prefix + "_object" + std::to_string(number);
  must(slot.write ? rados_aio_write(slot.io, name.c_str(), completion, slot.buffer, slot.bytes, 0)
                  : rados_aio_read(slot.io, name.c_str(), completion, slot.buffer, slot.bytes, 0),
       "rados_aio");
}

void drive(std::vector<std::unique_ptr<Slot>>& slots, Shared& shared, int64_t seconds,
           void (*submit)(Slot&)) {
  const Start start;
  shared.end_ns = start.ns + seconds * kNsPerSecond;
  shared.in_flight = static_cast<int>(slots.size());
  for (auto& slot : slots) submit(*slot);
  std::unique_lock lock(shared.mutex);
  shared.done.wait(lock, [&] { return shared.in_flight == 0; });
  report(shared.ios, start);
}

std::vector<std::unique_ptr<Slot>> make_slots(Shared& shared, int depth, size_t bytes = kBlock) {
  std::vector<std::unique_ptr<Slot>> slots;
  Rng fill(7);
  for (int i = 0; i < depth; ++i) {
    auto slot = std::make_unique<Slot>();
    slot->shared = &shared;
    slot->rng = Rng(i + 1);
    slot->buffer = static_cast<char*>(std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096));
    for (size_t k = 0; k + 8 <= bytes; k += 8) {
      const uint64_t word = fill.next();
      std::memcpy(slot->buffer + k, &word, 8);
    }
    slots.push_back(std::move(slot));
  }
  return slots;
}

void run_fleet(rados_ioctx_t io, const std::string& prefix, size_t count, int depth,
               int64_t seconds) {
  std::vector<rbd_image_t> images(count);
  std::atomic<size_t> next{0};
  // Each image by one of 16 threads.
  const auto all = [&](const auto& what) {
    next = 0;
    std::vector<std::jthread> threads;
    for (int i = 0; i < 16; ++i)
      threads.emplace_back([&] {
        for (size_t k; (k = next++) < count;) what(k);
      });
  };
  all([&](size_t k) {
    const std::string name = prefix + std::to_string(k);
    must(rbd_open(io, name.c_str(), &images[k], nullptr), name.c_str());
  });
  uint64_t size = 0;
  must(rbd_get_size(images[0], &size), "rbd_get_size");
  Shared shared;
  auto slots = make_slots(shared, static_cast<int>(count) * depth);
  for (size_t i = 0; i < slots.size(); ++i)
    slots[i]->image = images[i % count], slots[i]->blocks = size / kBlock;
  drive(slots, shared, seconds, submit_rbd);
  for (auto& slot : slots) std::free(slot->buffer);
  all([&](size_t k) { must(rbd_close(images[k]), "rbd_close"); });
}

/// Connected as client.admin, and gone at the end.
struct Pool {
  explicit Pool(const std::string& name) {
    must(rados_create(&cluster, "admin"), "rados_create");
    must(rados_conf_read_file(cluster, nullptr), "ceph.conf");
    must(rados_connect(cluster), "rados_connect");
    must(rados_ioctx_create(cluster, name.c_str(), &io), name.c_str());
  }
  ~Pool() {
    rados_ioctx_destroy(io);
    rados_shutdown(cluster);
  }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  rados_t cluster = nullptr;
  rados_ioctx_t io = nullptr;
};

int run_objects(bool write, const std::string& pool_name, const std::string& prefix, int count,
                size_t bytes, int depth, int64_t seconds) {
  const Pool pool(pool_name);
  Shared shared;
  std::atomic<uint64_t> made = 0;
  auto slots = make_slots(shared, depth, bytes);
  for (auto& slot : slots) {
    slot->io = pool.io;
    slot->prefix = &prefix;
    slot->objects = count;
    slot->bytes = bytes;
    slot->write = write;
    slot->made = &made;
  }
  drive(slots, shared, seconds, submit_object);
  std::atomic<uint64_t> next = 0;
  std::vector<std::jthread> removers;
  for (int i = 0; i < 16; ++i)
    removers.emplace_back([&] {
      for (uint64_t number; (number = next++) < made;)
        rados_remove(pool.io, (prefix + "_object" + std::to_string(number)).c_str());
    });
  removers.clear();
  for (auto& slot : slots) std::free(slot->buffer);
  return 0;
}

int run_ceph(const std::string& mode, const std::string& pool, const std::string& image_name,
             int depth, int64_t seconds, size_t images = 1) {
  rados_t cluster;
  must(rados_create(&cluster, "admin"), "rados_create");
  must(rados_conf_read_file(cluster, nullptr), "ceph.conf");
  must(rados_conf_set(cluster, "rbd_cache", "false"), "rbd_cache");
  must(rados_connect(cluster), "rados_connect");
  rados_ioctx_t io;
  must(rados_ioctx_create(cluster, pool.c_str(), &io), pool.c_str());
  if (mode == "rbd-fleet") {
    run_fleet(io, image_name, images, depth, seconds);
    rados_ioctx_destroy(io);
    rados_shutdown(cluster);
    return 0;
  }
  Shared shared;
  auto slots = make_slots(shared, depth);
  if (mode == "rados-read") {
    const std::string megabytes(4 << 20, 'r');
    for (int i = 0; i < 64; ++i)
      must(rados_write_full(io, ("cephmark_raw_loop." + std::to_string(i)).c_str(),
                            megabytes.data(), megabytes.size()),
           "write");
    for (auto& slot : slots) slot->io = io, slot->objects = 64;
    drive(slots, shared, seconds, submit_rados);
    for (int i = 0; i < 64; ++i)
      rados_remove(io, ("cephmark_raw_loop." + std::to_string(i)).c_str());
  } else {
    rbd_image_t image;
    must(rbd_open(io, image_name.c_str(), &image, nullptr), image_name.c_str());
    uint64_t size = 0;
    must(rbd_get_size(image, &size), "rbd_get_size");
    for (auto& slot : slots)
      slot->image = image, slot->blocks = size / kBlock, slot->write = mode == "rbd-write";
    drive(slots, shared, seconds, submit_rbd);
    must(rbd_close(image), "rbd_close");
  }
  for (auto& slot : slots) std::free(slot->buffer);
  rados_ioctx_destroy(io);
  rados_shutdown(cluster);
  return 0;
}

int run(const std::vector<std::string>& args) {
  if (args.size() == 4 && args[1] == "pread") return run_pread(args[2], std::stol(args[3]));
  if (args.size() == 5 && args[1] == "io_uring")
    return run_io_uring(args[2], static_cast<unsigned>(std::stoi(args[3])), std::stol(args[4]));
  if (args.size() == 7 && args[1] == "rbd-fleet")
    return run_ceph(args[1], args[2], args[3], std::stoi(args[5]), std::stol(args[6]),
                    std::stoul(args[4]));
  if (args.size() == 6 && (args[1] == "rbd-read" || args[1] == "rbd-write"))
    return run_ceph(args[1], args[2], args[3], std::stoi(args[4]), std::stol(args[5]));
  if (args.size() == 5 && args[1] == "rados-read")
    return run_ceph(args[1], args[2], "", std::stoi(args[3]), std::stol(args[4]));
  if (args.size() == 8 && args[1] == "objects-read")
    return run_objects(false, args[2], args[3], std::stoi(args[4]), std::stoul(args[5]),
                       std::stoi(args[6]), std::stol(args[7]));
  if (args.size() == 6 && args[1] == "objects-write")
    return run_objects(true, args[2], "cephmark_raw_loop", 0, std::stoul(args[3]),
                       std::stoi(args[4]), std::stol(args[5]));
  std::fprintf(stderr,
               "usage: raw_loop pread FILE SECONDS | io_uring FILE DEPTH SECONDS | "
               "rbd-read|rbd-write POOL IMAGE DEPTH SECONDS | "
               "rbd-fleet POOL PREFIX IMAGES DEPTH SECONDS | rados-read POOL DEPTH SECONDS | "
               "objects-read POOL PREFIX COUNT BYTES DEPTH SECONDS | "
               "objects-write POOL BYTES DEPTH SECONDS\n");
  return 2;
}

}  // namespace
}  // namespace cephmark

int main(int argc, char** argv) {
  return cephmark::run({argv, argv + argc});
}
