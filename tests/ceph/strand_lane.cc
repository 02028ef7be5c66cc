#include "strand_lane.h"

#include <sys/eventfd.h>

#include "base/time.h"

namespace cephmark::probe {

Worker::Worker() : wake_fd_(::eventfd(0, EFD_CLOEXEC)) {
  CEPHMARK_CHECK(wake_fd_, "eventfd");
  thread_ = std::thread([this] { run(); });
}

Worker::~Worker() {
  ending_.store(true);
  wake();
  thread_.join();
}

void Worker::wake() noexcept {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = ::write(wake_fd_.get(), &one, sizeof one);
}

void Worker::give(Lane& lane) noexcept {
  Lane* head = given_.load(std::memory_order_relaxed);
  do lane.next_given = head;
  while (!given_.compare_exchange_weak(head, &lane, std::memory_order_release,
                                       std::memory_order_relaxed));
  if (!head) wake();
}

void Worker::run() noexcept {
  while (!ending_.load()) {
    uint64_t count = 0;
    if (::read(wake_fd_.get(), &count, sizeof count) < 0) continue;
    Lane* lane = given_.exchange(nullptr, std::memory_order_acquire);
    while (lane) {
      Lane* next = lane->next_given;  // read first: run_held may give the lane away again
      lane->run_held(UINT_MAX);
      lane = next;
    }
  }
}

__attribute__((noinline)) void Lane::called_back(rbd_completion_t completion, Slot& slot) noexcept {
  Lane& lane = *slot.lane;
  lane.inside_.fetch_add(1, std::memory_order_relaxed);
  if (slot.out.exchange(0, std::memory_order_acq_rel) != 1) {
    lane.run_.twice.fetch_add(1);
  } else {
    slot.request.result = rbd_aio_get_return_value(completion);
    rbd_aio_release(completion);
    lane.called_back_.fetch_add(1, std::memory_order_relaxed);
    lane.ready(slot);
  }
  lane.inside_.fetch_sub(1, std::memory_order_release);
}

void Lane::ready(Slot& slot) noexcept {
  slot.request.completed_ns = monotonic_ns();
  if (run_.mode == Mode::kBare) {
    done_.fetch_add(1);
    if (slot.request.result < 0) failed_.fetch_add(1);
    if (!run_.stop.load(std::memory_order_relaxed)) {
      submit(slot);
    } else if (done_.load() == issued_.load()) {
      run_.drained.fetch_add(1);
      run_.tell_main();
    }
    return;
  }
  mailbox_.push(slot.request);
  if (!strand_.enter()) return;
  if (run_.mode == Mode::kWorker) {
    run_.worker->give(*this);  // the strand stays held on its way: nobody else can advance the lane
    return;
  }
  run_held(run_.budget);
}

void Lane::run_held(unsigned budget) noexcept {
  do {
    if (!advance(budget)) {
      run_.handed_over.fetch_add(1, std::memory_order_relaxed);
      run_.worker->give(*this);
      return;
    }
  } while (!strand_.leave());
}

void Lane::take(IoRequest* done) noexcept {
  while (done) {
    IoRequest* next = done->next;
    Slot& slot = slots_[done->slot];
    if (done->result < 0) bump(failed_);
    bump(done_);
    slot.next_free = free_;
    free_ = &slot;
    done = next;
  }
}

// False: the budget is used up and there is more to submit; the caller still holds the strand.
bool Lane::advance(unsigned& budget) noexcept {
  take(mailbox_.take_all());
  if (run_.stop.load(std::memory_order_acquire)) {
    if (in_flight() == 0 && !told_drained_) {
      told_drained_ = true;
      run_.drained.fetch_add(1);
      run_.tell_main();
    }
    return true;
  }
  while (free_) {
    if (budget == 0) return false;
    if (budget != UINT_MAX) --budget;
    Slot& slot = *free_;
    free_ = slot.next_free;
    submit(slot);
  }
  return true;
}

void Lane::submit(Slot& slot) noexcept {
  IoRequest& request = slot.request;
  request.slot = static_cast<uint32_t>(&slot - slots_.data());
  request.op = rng_.below(100) < run_.write_percent ? Op::kWrite : Op::kRead;
  request.offset = rng_.below(run_.image_bytes / Run::kBlock) * Run::kBlock;
  request.length = Run::kBlock;
  request.submitted_ns = monotonic_ns();
  if (run_.mode == Mode::kBare)
    issued_.fetch_add(1);
  else
    bump(issued_);
  slot.out.store(1, std::memory_order_release);
  rbd_completion_t completion = nullptr;
  int rc = rbd_aio_create_completion(&slot, &Lane::completed, &completion);
  auto* data = reinterpret_cast<char*>(slot.buffer.get());
  if (rc == 0)
    rc = request.op == Op::kWrite
             ? rbd_aio_write(image_, request.offset, request.length, data, completion)
             : rbd_aio_read(image_, request.offset, request.length, data, completion);
  if (rc >= 0) return;
  // The library refused the call and will not call back: the slot completes as a failure. The
  // caller holds the strand, so enter() only marks it dirty and the request is taken on the next
  // round.
  if (completion) rbd_aio_release(completion);
  slot.out.store(0);
  request.result = rc;
  called_back_.fetch_add(1);
  mailbox_.push(request);
  strand_.enter();
}

}  // namespace cephmark::probe
