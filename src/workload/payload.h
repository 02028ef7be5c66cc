// Payload: what is written. One per lane, used by one thread at a time; all share one read-only
// block of random bytes. The default is random data that neither compresses nor repeats (field
// reports USE-06, RAD-08): a window of the shared block, xored with a key that is new for each
// operation, which costs about as much as a copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/rng.h"
#include "job/job_spec.h"

namespace cephmark {

class Payload {
 public:
  Payload(const JobSpec& job, uint64_t seed);

  /// Fills a buffer (8-byte aligned) for the write that is about to be submitted.
  ///  fill_byte: that byte. zero_buffers: zeros. refill_buffers: wholly new random bytes.
  ///  buffer_compress_percentage=P: of each buffer_compress_chunk the last P per cent are zeros.
  ///  scramble_buffers=0: the same bytes every time (they deduplicate, which is then what was asked
  ///  for). checked_blocks: random bytes, sealed for their place in the file (checked_block.h).
  void fill(std::span<std::byte> buffer, uint64_t offset = 0) noexcept;

 private:
  enum class Kind : uint8_t { kByte, kConstant, kKeyed, kFresh, kChecked };
  void fill_random(std::span<std::byte> buffer) noexcept;

  Kind kind_;
  int byte_ = 0;  ///< of kByte
  Rng rng_;
  uint64_t chunk_bytes_ = 0;   ///< 0: no zeros
  uint64_t random_bytes_ = 0;  ///< of each chunk
};

}  // namespace cephmark
