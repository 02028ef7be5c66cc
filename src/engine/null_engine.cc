// null: requests complete as soon as they are reaped, and nothing is done. What remains is this
// program's own cost.

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>

#include "base/time.h"
#include "base/units.h"
#include "engine/engines.h"
#include "engine/poll_until.h"

namespace cephmark {
namespace {

constexpr uint64_t kAssumedSize_bytes = kGiB;

class NullPort : public Port {
 public:
  explicit NullPort(unsigned depth) : waiting_(depth) {}

  int flush() noexcept override { return 0; }

  int reap(std::span<IoRequest*> out) noexcept override {
    const size_t count = std::min(out.size(), count_);
    if (count == 0) return 0;
    const int64_t now_ns = monotonic_ns();
    for (size_t i = 0; i < count; ++i) {
      IoRequest* request = waiting_[i];
      request->completed_ns = now_ns;
      request->result = static_cast<int64_t>(request->length);
      out[i] = request;
    }
    count_ -= count;
    std::copy_n(waiting_.begin() + static_cast<ptrdiff_t>(count), count_, waiting_.begin());
    return static_cast<int>(count);
  }

  void wait(int wake_fd, int64_t deadline_ns) noexcept override {
    if (count_ == 0) poll_until(wake_fd, deadline_ns);
  }

  int take(std::span<IoRequest* const> batch) noexcept {
    const size_t count = std::min(batch.size(), waiting_.size() - count_);
    std::copy_n(batch.begin(), count, waiting_.begin() + static_cast<ptrdiff_t>(count_));
    count_ += count;
    return static_cast<int>(count);
  }

 private:
  std::vector<IoRequest*> waiting_;
  size_t count_ = 0;
};

class NullQueue : public IoQueue {
 public:
  explicit NullQueue(NullPort& port) : port_(port) {}
  int submit(std::span<IoRequest* const> batch) noexcept override {
    if (!batch.empty() && batch.front()->submitted_ns == 0) {
      const int64_t now_ns = monotonic_ns();
      for (IoRequest* request : batch) request->submitted_ns = now_ns;
    }
    return port_.take(batch);
  }

 private:
  NullPort& port_;
};

class NullEngine : public Engine {
 public:
  explicit NullEngine(const JobSpec& job) : job_(job) {}

  TargetInfo open() override {
    TargetInfo info;
    info.name = "null";
    info.files = std::max(1, job_.nrfiles);
    const auto bytes = [](const SizeSpec& spec) {
      return spec.kind == SizeSpec::Kind::kBytes ? spec.value : 0;
    };
    uint64_t each = bytes(job_.filesize);
    if (each == 0) each = (bytes(job_.size) ? bytes(job_.size) : kAssumedSize_bytes) / info.files;
    each += bytes(job_.offset) + bytes(job_.offset_increment) * std::max(0, job_.numjobs - 1);
    info.size_bytes = each * info.files;
    info.facts["size"] =
        format_size(info.size_bytes) + (job_.size.is_set() ? "" : " (assumed: size= is not set)");
    return info;
  }
  std::unique_ptr<IoQueue> make_queue(const QueueSetup& setup) override {
    return std::make_unique<NullQueue>(static_cast<NullPort&>(*setup.port));
  }
  void close() override {}

 private:
  const JobSpec job_;
};

}  // namespace

// Nothing is shared, so each job has its own.
std::string null_target_key(const JobSpec& job, const EngineContext& context) {
  return fmt::format("null:{}:{}:{}", context.vm.index, job.name, job.source);
}
std::unique_ptr<Engine> make_null_engine(const JobSpec& job, const EngineContext&) {
  return std::make_unique<NullEngine>(job);
}
std::unique_ptr<Port> make_null_port(unsigned depth, const JobSpec&) {
  return std::make_unique<NullPort>(depth);
}

}  // namespace cephmark
