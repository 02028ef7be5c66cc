#include "workload/shared_work.h"

namespace cephmark {
namespace {

constexpr uint64_t kBitsPerWord = 64;

bool writes_at_random(const JobSpec& job) {
  return job.rw.random && job.rw.writes;
}

size_t claim_words(const JobSpec& job, const Region& region) {
  if (!job.checked_blocks || !writes_at_random(job)) return 0;
  const uint64_t blocks = region.length_bytes / min_block_bytes(job) * region.files;
  return static_cast<size_t>(blocks / kBitsPerWord + 1);
}

}  // namespace

std::shared_ptr<SharedWork> SharedWork::of(const JobSpec& job, const Region& region) {
  const bool needed = job.flush_all > 0 || job.event_rate > 0 ||
                      (job.clones_share && (!job.rw.random || job.number_ios > 0)) ||
                      (job.checked_blocks && writes_at_random(job));
  return needed ? std::make_shared<SharedWork>(job, region) : nullptr;
}

SharedWork::SharedWork(const JobSpec& job, const Region& region)
    : flush_every_(job.rw.writes ? static_cast<uint64_t>(job.flush_all) : 0),
      files_(region.files),
      limited_(job.clones_share && job.number_ios > 0),
      only_writes_(job.rw.writes && !job.rw.reads && !job.rw.trims),
      events_left_(static_cast<int64_t>(job.number_ios)),
      claims_(claim_words(job, region)) {}

bool SharedWork::take_event(bool counted) noexcept {
  return !limited_ || !counted || events_left_.fetch_sub(1, std::memory_order_relaxed) > 0;
}

SharedWork::Ticket SharedWork::take(bool counted) noexcept {
  if (flush_every_ != 0) return take_in_rounds(counted);
  if (!take_event(counted)) return {};
  return {Ticket::Kind::kOperation, operations_.fetch_add(1, std::memory_order_relaxed), 0};
}

SharedWork::Ticket SharedWork::take_in_rounds(bool counted) noexcept {
  const std::lock_guard lock(rounds_mutex_);
  if (!take_event(counted)) return {};
  const uint64_t done = operations_.load(std::memory_order_relaxed);
  if (done % flush_every_ == 0 && dirty_.load(std::memory_order_relaxed)) {
    const uint32_t file = next_flush_;
    if (++next_flush_ == files_) {
      next_flush_ = 0;
      dirty_.store(false, std::memory_order_relaxed);
    }
    return {Ticket::Kind::kFlush, 0, file};
  }
  operations_.store(done + 1, std::memory_order_relaxed);
  if (only_writes_) dirty_.store(true, std::memory_order_relaxed);
  return {Ticket::Kind::kOperation, done, 0};
}

bool SharedWork::claim(uint64_t block) noexcept {
  const uint64_t bit = uint64_t{1} << (block % kBitsPerWord);
  return (claims_[block / kBitsPerWord].fetch_or(bit, std::memory_order_acquire) & bit) == 0;
}

void SharedWork::release(uint64_t block) noexcept {
  const uint64_t bit = uint64_t{1} << (block % kBitsPerWord);
  claims_[block / kBitsPerWord].fetch_and(~bit, std::memory_order_release);
}

}  // namespace cephmark
