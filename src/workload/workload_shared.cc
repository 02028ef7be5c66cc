// The operations of a lane that shares its work with others, or counts over all its files.
#include "workload/workload.h"

namespace cephmark {
namespace {

/// Draws of a random block before the lane waits for one to come back.
constexpr int kDraws = 64;

}  // namespace

bool Workload::make_shared_item(int64_t now_ns, IoPlanItem& item) noexcept {
  if (held_) {
    item = held_item_;
    if (!place_claimed(item)) return false;
    held_ = false;
    if (own_limits_) account(item.length, 1);
    return true;
  }
  if (exhausted_) return false;
  int64_t due_ns = now_ns;
  if (arrival_.has_event_rate()) {
    due_ns = arrival_.event_due_ns();
    if (due_ns > now_ns) return false;
  }
  const SharedWork::Ticket ticket = shared_->take(now_ns >= counted_from_ns_);
  if (ticket.kind == SharedWork::Ticket::Kind::kNone) {
    exhausted_ = true;
    return false;
  }
  if (arrival_.has_event_rate()) arrival_.advance_event();
  if (ticket.kind == SharedWork::Ticket::Kind::kFlush) {
    item = {0, 0, due_ns, ticket.file, Op::kFlush};
    return true;
  }
  item.op = ops_.next();
  item.due_ns = due_ns;
  if (item.op == Op::kWrite) shared_->wrote();
  if (in_line_) {
    place_in_line(ticket.index, item);
    return true;
  }
  if (!place_claimed(item)) {
    held_ = true;
    held_item_ = item;
    return false;
  }
  if (own_limits_) account(item.length, 1);
  return true;
}

// False: all blocks that were drawn are in use.
bool Workload::place_claimed(IoPlanItem& item) noexcept {
  for (int drawn = 0; drawn < kDraws; ++drawn) {
    place(item.op, item);
    if (!shared_->has_claims() || shared_->claim(block_of(item.file, item.offset))) return true;
  }
  return false;
}

// Blocks of one size, one behind the other, to the odd end of each file, over and over.
void Workload::place_in_line(uint64_t index, IoPlanItem& item) noexcept {
  const uint64_t unit = max_length_;
  const uint64_t in_file = (region_.length_bytes + unit - 1) / unit;
  const uint64_t place = index % (in_file * region_.files);
  const uint64_t block = files_in_order_ ? place % in_file : place / region_.files;
  item.file = static_cast<uint32_t>(files_in_order_ ? place / in_file : place % region_.files);
  item.offset = region_.start_bytes + block * unit;
  item.length = std::min(unit, region_.length_bytes - block * unit);
}

}  // namespace cephmark
