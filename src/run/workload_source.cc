#include "run/workload_source.h"

#include <algorithm>
#include <cerrno>

#include "workload/checked_block.h"

namespace cephmark {

int WorkloadSource::next_batch(std::span<IoRequest* const> slots, int64_t now_ns) noexcept {
  size_t filled = 0;
  while (filled < slots.size()) {
    const size_t wanted = std::min(items_.size(), slots.size() - filled);
    const size_t count = workload_.next_batch(now_ns, {items_.data(), wanted});
    for (size_t i = 0; i < count; ++i) {
      const IoPlanItem& item = items_[i];
      IoRequest& request = *slots[filled + i];
      request.op = item.op;
      request.file = item.file;
      request.offset = item.offset;
      request.length = item.length;
      request.due_ns = item.due_ns;
      if (fills_ && item.op == Op::kWrite)
        payload_.fill({request.buffer, item.length}, item.offset);
    }
    filled += count;
    if (count < wanted) break;
  }
  return static_cast<int>(filled);
}

int WorkloadSource::completed(const IoRequest& request, uint64_t offset,
                              std::span<const std::byte> data) noexcept {
  if (shared_ && shared_->has_claims() && request.op != Op::kFlush)
    shared_->release(workload_.block_of(request.file, offset));
  if (request.op != Op::kRead || data.empty()) return 0;
  return check_block(data, offset).is_sound ? 0 : EILSEQ;
}

int WorkloadSource::end_batch(std::span<IoRequest* const> slots) noexcept {
  const auto count = std::min<size_t>(slots.size(), workload_.end_flushes() - end_flushes_sent_);
  for (size_t i = 0; i < count; ++i) {
    slots[i]->op = Op::kFlush;
    slots[i]->file = end_flushes_sent_++;
    slots[i]->offset = slots[i]->length = 0;
    slots[i]->due_ns = 0;
  }
  return static_cast<int>(count);
}

}  // namespace cephmark
