#include "run/lane.h"

#include <algorithm>
#include <cerrno>

#include "base/time.h"

namespace cephmark {
namespace {

/// end_fsync may have much to write back.
constexpr int64_t kEndFlushGrace_ns = 60 * kNsPerSecond;
constexpr int64_t kOfferAgain_ns = kNsPerMs;
/// This close to its end a blocking lane looks at the clock between any two requests.
constexpr int64_t kNearEnd_ns = kNsPerMs;

}  // namespace

Lane::Lane(const LaneSetup& setup, const RecorderSetup& recording,
           std::unique_ptr<LaneSource> source, std::byte* memory, RunControl& control,
           Collector& collector)
    : setup_(setup),
      open_loop_(recording.open_loop),
      looks_at_completions_(source->looks_at_completions()),
      control_(control),
      recorder_(recording, collector),
      source_(std::move(source)),
      memory_(memory),
      slots_(std::max(setup.depth, setup.blocking_batch)),
      free_(slots_.size()),
      free_count_(slots_.size()),
      done_bytes_(slots_.size()) {
  again_.reserve(slots_.size());
  for (unsigned i = 0; i < slots_.size(); ++i) {
    // The stack gives slot 0 first.
    IoRequest& request = slots_[i];
    request.slot = i;
    request.lane = this;
    request.buffer = slot_memory(i);
    free_[slots_.size() - 1 - i] = &request;
  }
  for (Op op : setup.ops) recorder_.reserve(op);
}

std::vector<std::span<std::byte>> Lane::buffers() const {
  std::vector<std::span<std::byte>> out;
  for (unsigned i = 0; memory_ && i < setup_.depth; ++i)
    out.emplace_back(memory_ + i * setup_.slot_bytes, setup_.slot_bytes);
  return out;
}

void Lane::start(int64_t start_ns) noexcept {
  start_ns_ = start_ns;
  const int64_t measure_start_ns = start_ns + setup_.ramp_ns;
  if (setup_.runtime_ns > 0) deadline_ns_ = measure_start_ns + setup_.runtime_ns;
  recorder_.start(control_.epoch_ns(), start_ns, measure_start_ns, deadline_ns_);
  source_->start(start_ns);
  state_ = State::kRunning;
  issuing_ = true;
}

int64_t Lane::visit(int64_t now_ns) noexcept {
  int64_t wake_ns = INT64_MAX;
  if (state_ == State::kWaiting && control_.stage() >= setup_.stage) {
    const int64_t start_ns = control_.stage_start_ns() + setup_.startdelay_ns;
    if (control_.stop_ns() != RunControl::kNever_ns) {
      start(now_ns);
      stop_issuing(now_ns);
    } else if (now_ns >= start_ns) {
      start(start_ns);
    } else {
      wake_ns = start_ns;
    }
  }
  if (state_ == State::kRunning && now_ns >= std::min(deadline_ns_, control_.stop_ns())) {
    if (control_.stop_ns() < deadline_ns_) stopped_early_.store(true, std::memory_order_relaxed);
    stop_issuing(std::min(deadline_ns_, control_.stop_ns()));
  }
  if (state_ == State::kDraining) {
    maybe_done(now_ns);
    if (state_ == State::kDraining && now_ns >= drain_deadline_ns_) {
      abandoned_.store(in_flight(), std::memory_order_relaxed);
      finish(now_ns);
    }
  }
  if (state_ == State::kRunning || state_ == State::kDraining) {
    wake_ns = recorder_.visit(now_ns);
    if (state_ == State::kDraining) wake_ns = std::min(wake_ns, drain_deadline_ns_);
    if (state_ == State::kRunning) {
      wake_ns = std::min(wake_ns, deadline_ns_);
      if (!again_.empty())
        wake_ns = std::min(wake_ns, now_ns + kOfferAgain_ns);
      else if (free_count_ > 0)
        wake_ns = std::min(wake_ns, source_->next_due_ns());
    }
  }
  set_next_wake(wake_ns);
  return wake_ns;
}

void Lane::stop_issuing(int64_t at_ns) noexcept {
  if (state_ != State::kRunning) return;
  recorder_.end_measure(at_ns);
  issuing_ = false;
  state_ = State::kDraining;
  drain_deadline_ns_ = at_ns + setup_.drain_grace_ns;
  // What no engine has accepted yet will never be issued.
  for (IoRequest* request : again_) put_back(*request);
  again_.clear();
}

void Lane::maybe_done(int64_t now_ns) noexcept {
  if (state_ != State::kDraining || in_flight() > 0) return;
  // end_fsync: when all else is done, and outside of the measured window.
  while (end_batches_left_ && !failed_ && !stopped_early_) {
    const bool blocking = setup_.mode == CompletionMode::kBlocking;
    const std::span<IoRequest*> batch =
        blocking ? std::span(free_).last(1) : std::span<IoRequest*>(free_);
    const size_t count = source_->end_batch(batch);
    end_batches_left_ = count > 0;
    if (count == 0) break;
    if (end_flush_start_ns_ == 0) end_flush_start_ns_ = setup_.clock();
    std::rotate(batch.begin(), batch.begin() + count, batch.end());
    free_count_ -= count;
    const std::span<IoRequest*> flushes = batch.last(count);
    for (IoRequest* request : flushes) request->submitted_ns = 0;
    drain_deadline_ns_ = now_ns + std::max(setup_.drain_grace_ns, kEndFlushGrace_ns);
    if (blocking) {
      run_blocking(flushes);
      continue;
    }
    const unsigned accepted = submit(flushes, now_ns);
    for (size_t i = accepted; i < count; ++i) put_back(*flushes[i]);
    if (accepted > 0) return;
  }
  finish(now_ns);
}

void Lane::finish(int64_t now_ns) noexcept {
  state_ = State::kDone;
  recorder_.finish(now_ns);
  set_next_wake(INT64_MAX);
  done_.store(true, std::memory_order_release);
  control_.lane_done();
}

void Lane::put_back(IoRequest& request) noexcept {
  request.buffer = slot_memory(request.slot);
  request.flags = 0;
  done_bytes_[request.slot] = 0;
  free_[free_count_++] = &request;
}

void Lane::complete(std::span<IoRequest* const> batch) noexcept {
  if (state_ == State::kDone) return;  // it was given up; its memory stays for this
  in_flight_.store(in_flight() - static_cast<unsigned>(batch.size()), std::memory_order_relaxed);
  recorder_.count_complete(static_cast<unsigned>(batch.size()));
  record(batch);
}

// Data are checked before they count, and what has failed lets go of its block, too.
void Lane::look_at(std::span<IoRequest* const> batch) noexcept {
  for (IoRequest* request : batch) {
    const uint64_t before = done_bytes_[request->slot];
    if (request->result > 0 && request->result < static_cast<int64_t>(request->length))
      continue;  // the rest is still to come
    const bool good = request->result == static_cast<int64_t>(request->length);
    const std::byte* const data = slot_memory(request->slot);
    const int error = source_->completed(
        *request, request->offset - before,
        good ? std::span(data, before + request->length) : std::span<const std::byte>());
    if (error != 0) request->result = -error;
  }
}

void Lane::record(std::span<IoRequest* const> batch) noexcept {
  if (looks_at_completions_) [[unlikely]]
    look_at(batch);
  if (end_flush_start_ns_ != 0) [[unlikely]]
    for (const IoRequest* request : batch) end_flushes_ += request->result == 0;
  size_t free_count = free_count_;
  for (IoRequest* request : batch) {
    if (request->result != static_cast<int64_t>(request->length) || (request->flags & kPartly))
        [[unlikely]] {
      free_count_ = free_count;
      complete_oddly(*request);
      free_count = free_count_;
      continue;
    }
    recorder_.add(*request, request->length);
    free_[free_count++] = request;
  }
  free_count_ = free_count;
  if (!batch.empty()) last_completion_ns_ = batch.back()->completed_ns;
}

// Errors, and I/O that did less than it was asked for: re-issued for the remainder, as fio does,
// with its first stamps.
void Lane::complete_oddly(IoRequest& request) noexcept {
  const uint64_t before = done_bytes_[request.slot];
  if (request.result < 0 || (request.result == 0 && request.length > 0)) {
    // Nothing more comes: fio calls a read behind the end EIO too.
    recorder_.add_error(request, request.result < 0 ? static_cast<int>(-request.result) : EIO);
    put_back(request);
    if (!setup_.continue_on_error && state_ == State::kRunning) {
      failed_.store(true, std::memory_order_relaxed);
      stop_issuing(request.completed_ns);
    }
    return;
  }
  const uint64_t now_done = std::min<uint64_t>(request.result, request.length);
  if (now_done == request.length) {
    recorder_.add(request, before + now_done);
  } else {
    recorder_.add_short(request.op);
    if (issuing_) {
      done_bytes_[request.slot] = before + now_done;
      request.flags = kPartly;
      request.offset += now_done;
      request.length -= now_done;
      if (request.buffer) request.buffer += now_done;
      again_.push_back(&request);
      return;
    }
    recorder_.add(request, before + now_done);
  }
  put_back(request);
}

unsigned Lane::submit(std::span<IoRequest*> batch, int64_t now_ns) noexcept {
  // Counted before the call: a library may complete the request before submit() returns.
  const unsigned count = static_cast<unsigned>(batch.size());
  in_flight_.store(in_flight() + count, std::memory_order_relaxed);
  const unsigned accepted = static_cast<unsigned>(queue_->submit({batch.data(), batch.size()}));
  if (accepted < count)
    in_flight_.store(in_flight() - (count - accepted), std::memory_order_relaxed);
  if (accepted == 0) return 0;
  issued_.store(issued_.load(std::memory_order_relaxed) + accepted, std::memory_order_relaxed);
  recorder_.count_submit(accepted, in_flight());
  if (!setup_.has_submit_latency) return accepted;
  if (setup_.mode == CompletionMode::kCallback) {
    // The requests may be reused by nobody but this holder, so their stamps still stand.
    const int64_t each_ns = (setup_.clock() - batch.front()->submitted_ns) / accepted;
    for (unsigned i = 0; i < accepted; ++i)
      if (!(batch[i]->flags & kPartly)) recorder_.add_submit(batch[i]->op, each_ns, 1);
    return accepted;
  }
  if (unflushed_ == 0) unflushed_since_ns_ = now_ns;
  unflushed_ += accepted;
  if (setup_.ops.size() == 1)
    unflushed_by_op_[op_index(setup_.ops.front())] += accepted;
  else
    for (unsigned i = 0; i < accepted; ++i) ++unflushed_by_op_[op_index(batch[i]->op)];
  return accepted;
}

// The engine does them one after the other, and may stop early to let the clock and the first
// failure be looked at: the rest is offered again.
void Lane::run_blocking(std::span<IoRequest*> batch) noexcept {
  in_flight_.store(1, std::memory_order_relaxed);
  const size_t done = static_cast<size_t>(queue_->submit({batch.data(), batch.size()}));
  in_flight_.store(0, std::memory_order_relaxed);
  issued_.store(issued_.load(std::memory_order_relaxed) + done, std::memory_order_relaxed);
  recorder_.count_blocking(done);
  record(batch.first(done));
  for (IoRequest* request : batch.subspan(done)) {
    if (issuing_)
      again_.push_back(request);
    else
      put_back(*request);
  }
}

void Lane::flushed(int64_t now_ns) noexcept {
  const int64_t took_ns = now_ns - unflushed_since_ns_;
  for (int op = 0; op < kOpCount; ++op) {
    recorder_.add_submit(static_cast<Op>(op), took_ns, unflushed_by_op_[op]);
    unflushed_by_op_[op] = 0;
  }
  unflushed_ = 0;
}

void Lane::offer_again(int64_t now_ns) noexcept {
  if (setup_.mode == CompletionMode::kBlocking) {
    IoRequest* first[1] = {again_.front()};
    again_.erase(again_.begin());
    run_blocking(first);
    return;
  }
  const unsigned accepted = submit(again_, now_ns);
  again_.erase(again_.begin(), again_.begin() + accepted);
}

bool Lane::refill(int64_t now_ns, unsigned budget) noexcept {
  if (!issuing_) {
    maybe_done(now_ns);
    return false;
  }
  const int64_t end_ns = std::min(deadline_ns_, control_.stop_ns());
  if (now_ns >= end_ns) {
    visit(now_ns);
    return false;
  }
  const bool blocking = setup_.mode == CompletionMode::kBlocking;
  if (!again_.empty()) {
    offer_again(now_ns);
    if (blocking || !again_.empty() || !issuing_) return false;
  }
  if (blocking) budget = end_ns - now_ns < kNearEnd_ns ? 1 : setup_.blocking_batch;
  const size_t wanted = std::min<size_t>(free_count_, budget);
  if (wanted == 0) return budget == 0 && free_count_ > 0 && source_->next_due_ns() <= now_ns;
  const std::span<IoRequest*> batch(&free_[free_count_ - wanted], wanted);
  const size_t got = source_->next_batch(batch, now_ns);
  if (got < wanted) {
    // The stack keeps what was not filled; what was filled moves to its top.
    std::rotate(batch.begin(), batch.begin() + got, batch.end());
    if (got == 0) {
      if (source_->exhausted() && in_flight() == 0) {
        stop_issuing(std::max(last_completion_ns_, start_ns_));
        maybe_done(now_ns);
      }
      return false;
    }
  }
  free_count_ -= got;
  const std::span<IoRequest*> filled(&free_[free_count_], got);
  // The port stamps them all at once here; blocking and library engines stamp each before its call.
  const int64_t stamp_ns = setup_.mode == CompletionMode::kPolled ? now_ns : 0;
  for (IoRequest* request : filled) request->submitted_ns = stamp_ns;
  if (blocking) {
    run_blocking(filled);
    return false;
  }
  const unsigned accepted = submit(filled, now_ns);
  for (size_t i = accepted; i < got; ++i) again_.push_back(filled[i]);
  return got == budget && free_count_ > 0 && source_->next_due_ns() <= now_ns;
}

void Lane::ready(IoRequest& request) noexcept {
  // Once pushed, another thread may record this request as the last one: visitors keep the lane
  // standing meanwhile.
  visitors_.fetch_add(1, std::memory_order_relaxed);
  mailbox_.push(request);
  if (setup_.hand_over_only) {
    worker_->hand_over(*this);
  } else if (strand_.enter()) {
    do advance(setup_.callback_budget);
    while (!strand_.leave());
  }
  visitors_.fetch_sub(1, std::memory_order_release);
}

bool Lane::advance_by_worker() noexcept {
  if (!strand_.enter()) return false;
  do advance(setup_.depth);
  while (!strand_.leave());
  return true;
}

void Lane::take_mailbox() noexcept {
  constexpr size_t kBatch = 64;
  IoRequest* batch[kBatch];
  IoRequest* next = mailbox_.take_all();
  while (next) {
    size_t count = 0;
    for (; next && count < kBatch; next = next->next) batch[count++] = next;
    complete({batch, count});
  }
}

void Lane::advance(unsigned budget) noexcept {
  take_mailbox();
  if (state_ == State::kDone) return;
  const int64_t now_ns = setup_.clock();
  if (now_ns >= next_wake_ns() || !issuing_) visit(now_ns);
  const bool more = refill(now_ns, budget);
  if (more) worker_->hand_over(*this);
  if (state_ == State::kDone) return;
  const int64_t wake_ns = visit(now_ns);
  if (!more) worker_->wake_by(wake_ns);
}

JobResult Lane::result() const {
  JobResult out = recorder_.result();
  out.job = setup_.job;
  out.issued = issued_.load(std::memory_order_relaxed);
  out.abandoned = done() ? abandoned_.load(std::memory_order_relaxed) : in_flight();
  if (done() && end_flush_start_ns_ != 0) {
    out.end_flushes = end_flushes_;
    out.end_flush_ns = std::max<int64_t>(0, last_completion_ns_ - end_flush_start_ns_);
  }
  out.finished = done() && out.abandoned == 0 && !failed_ && !stopped_early_;
  return out;
}

}  // namespace cephmark
