#include "fleet/allocation.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/fd.h"
#include "base/time.h"
#include "ceph/image.h"
#include "engine/engine_table.h"
#include "fleet/fleet_plan.h"
#include "fleet/image_state.h"
#include "job/ceph_engines.h"
#include "workload/region.h"

namespace cephmark {
namespace {

constexpr size_t kParallel = 16;

struct Range {
  uint64_t from = UINT64_MAX, to = 0;
  void cover(const Range& other) {
    from = std::min(from, other.from);
    to = std::max(to, other.to);
  }
};

/// The jobs that share one target.
struct Readers {
  std::vector<const JobSpec*> jobs;
  int first_read_stage = INT32_MAX, first_write_stage = INT32_MAX;

  void add(const JobSpec& job) {
    if (job.rw.reads) {
      jobs.push_back(&job);
      first_read_stage = std::min(first_read_stage, job.stage);
    }
    if (job.rw.writes) first_write_stage = std::min(first_write_stage, job.stage);
  }
  /// Something may be read before this run has written to it.
  bool count() const { return !jobs.empty() && first_write_stage >= first_read_stage; }
};

/// What the jobs may read of each file of a target of that size.
Range range_of(const std::vector<const JobSpec*>& jobs, const std::string& name,
               uint64_t size_bytes, uint32_t files) {
  Range range;
  for (const JobSpec* job : jobs)
    for (int clone = 0; clone < std::max(1, job->numjobs); ++clone) {
      const Region region = resolve_region(
          *job, {.name = name, .size_bytes = size_bytes, .fixed = true, .files = files},
          static_cast<unsigned>(clone));
      range.cover({region.start_bytes, region.end_bytes()});
    }
  return range;
}

/// What the look at the whole image has told already: all of it, or none, or it is all read.
std::optional<Allocation> allocation_of(const ImageState& state,
                                        const std::vector<const JobSpec*>& jobs) {
  const uint64_t size = state.size_bytes;
  if (!state.allocated_bytes || size == 0) return std::nullopt;
  const uint64_t allocated = std::min(*state.allocated_bytes, size);
  if (allocated == size) return Allocation{size, size, true};
  const Range range = range_of(jobs, state.spec.text(), size, 1);
  const bool whole = range.from == 0 && range.to == size;
  if (!whole && allocated > 0) return std::nullopt;
  return Allocation{allocated, range.to - range.from, whole};
}

/// Image reads that outlive their time limit go on by themselves, in here.
struct ImageTask {
  std::shared_ptr<Cluster> cluster;
  std::vector<std::pair<std::string, std::vector<JobSpec>>> images;
  int64_t deadline_ns = 0;
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::string, Allocation> found;
  bool done = false;

  void read(const std::string& name, const std::vector<JobSpec>& specs) {
    const auto image = Image::open(cluster, parse_image_spec(name), true);
    if (!image) return;
    std::vector<const JobSpec*> jobs;
    for (const JobSpec& spec : specs) jobs.push_back(&spec);
    const uint64_t size = image->size_bytes();
    const Range range = range_of(jobs, name, size, 1);
    const Allocation allocation{image->allocated_bytes(range.from, range.to), range.to - range.from,
                                range.from == 0 && range.to == size};
    const std::lock_guard lock(mutex);
    found[name] = allocation;
  }

  void run() {
    for_each_parallel(images.size(), kParallel, [this](size_t i) {
      if (monotonic_ns() >= deadline_ns) return;
      try {
        read(images[i].first, images[i].second);
      } catch (const std::exception&) {
        // Not known then: the engine's own open says what is wrong with the image.
      }
    });
    const std::lock_guard lock(mutex);
    done = true;
    changed.notify_all();
  }
};

void read_images(const Plan& plan, const std::shared_ptr<Cluster>& cluster, int64_t timeout_ns,
                 const std::vector<ImageState>& examined,
                 std::map<std::string, Allocation>& found) {
  std::map<std::string, Readers> images;
  for (const VmPlan& vm : plan.vms)
    for (const JobSpec& job : vm.jobs)
      if (const std::string image = image_of(job); !image.empty()) images[image].add(job);
  auto task = std::make_shared<ImageTask>();
  task->cluster = cluster;
  task->deadline_ns = monotonic_ns() + timeout_ns;
  for (const ImageState& state : examined) {
    const auto readers = images.find(state.spec.text());
    if (readers == images.end() || !readers->second.count()) continue;
    if (const auto known = allocation_of(state, readers->second.jobs))
      found[state.spec.text()] = *known;
  }
  if (!cluster) return;
  for (const auto& [name, readers] : images) {
    if (!readers.count() || found.count(name)) continue;
    auto& jobs = task->images.emplace_back(name, std::vector<JobSpec>()).second;
    for (const JobSpec* job : readers.jobs) jobs.push_back(*job);
  }
  if (task->images.empty()) return;
  std::thread([task] { task->run(); }).detach();
  std::unique_lock lock(task->mutex);
  task->changed.wait_for(lock, std::chrono::nanoseconds(timeout_ns), [&] { return task->done; });
  found.insert(task->found.begin(), task->found.end());
}

void read_files(const JobSpec& job, std::map<std::string, Allocation>& found) {
  Allocation sum;
  std::vector<std::string> paths = FileTarget::paths(job);
  std::sort(paths.begin(), paths.end());
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  for (const std::string& path : paths) {
    struct stat info {};
    // What is missing, or too short, is going to be laid out in full.
    if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode) || info.st_size == 0) return;
    const auto size = static_cast<uint64_t>(info.st_size);
    const Range range = range_of({&job}, path, size, FileTarget::files_per_clone(job));
    sum.region_bytes += range.to - range.from;
    sum.allocated_bytes += file_data_bytes(path, range.from, range.to);
    sum.whole &= range.from == 0 && range.to == size;
  }
  found[FileTarget::name(job)] = sum;
}

bool reads_files(const JobSpec& job) {
  return job.rw.reads && find_engine(job.ioengine) && !needs_ceph(job.ioengine) &&
         job.ioengine != "null";
}

}  // namespace

uint64_t file_data_bytes(const std::string& path, uint64_t from, uint64_t to) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return 0;
  uint64_t bytes = 0;
  while (from < to) {
    const off_t data = ::lseek(fd.get(), static_cast<off_t>(from), SEEK_DATA);
    if (data < 0 || static_cast<uint64_t>(data) >= to) break;
    const off_t hole = ::lseek(fd.get(), data, SEEK_HOLE);
    const uint64_t end = hole < 0 ? to : std::min(to, static_cast<uint64_t>(hole));
    bytes += end - static_cast<uint64_t>(data);
    from = end;
  }
  return bytes;
}

std::map<std::string, Allocation> read_allocations(const Plan& plan,
                                                   const std::shared_ptr<Cluster>& cluster,
                                                   const std::vector<ImageState>& examined,
                                                   int64_t timeout_ns) {
  std::map<std::string, Allocation> found;
  try {
    read_images(plan, cluster, timeout_ns, examined, found);
    for (const VmPlan& vm : plan.vms)
      for (const JobSpec& job : vm.jobs)
        if (reads_files(job) && !found.count(FileTarget::name(job))) read_files(job, found);
  } catch (const std::exception&) {
    // What does not fit is said by the set-up of the job itself.
  }
  return found;
}

void add_allocations(const std::map<std::string, Allocation>& allocations, RunResult& result) {
  for (VmResult& vm : result.vms)
    for (TargetFacts& target : vm.targets) {
      const auto known = allocations.find(target.name);
      if (known == allocations.end()) continue;
      target.allocated_bytes = known->second.allocated_bytes;
      target.region_bytes = known->second.whole ? 0 : known->second.region_bytes;
    }
}

}  // namespace cephmark
