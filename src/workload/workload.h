// Workload: the stream of operations of one lane: what, where, how long, and when it is due. Owned
// by its lane and used by one thread at a time. After construction nothing allocates and nothing
// throws. Same job, region and seed: same stream.
//
//   workload.start(barrier_ns);
//   n = workload.next_batch(now_ns, items);       // as many as slots are free
//   if n == 0: exhausted() ? the job is done : sleep until next_due_ns() (open loop)
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "job/job_spec.h"
#include "workload/arrival.h"
#include "workload/block_size_source.h"
#include "workload/offset_source.h"
#include "workload/op_source.h"
#include "workload/piece_cover.h"
#include "workload/region.h"
#include "workload/shared_work.h"

namespace cephmark {

/// One operation to issue. The caller copies it into an IoRequest.
struct IoPlanItem {
  uint64_t offset = 0;  ///< bytes, in its file
  uint64_t length = 0;  ///< bytes; 0 for a flush
  int64_t due_ns = 0;   ///< open loop: the intended time, however late; closed loop: `now_ns`
  uint32_t file = 0;    ///< 0 .. region.files - 1
  Op op = Op::kRead;
};

/// The seed of one lane: randseed= where given; else the same in every run when randrepeat is on
/// (fio's default), and taken from the plan's seed otherwise. `lane` is the lane's index over the
/// whole plan: lanes differ.
uint64_t lane_seed(const JobSpec& job, uint64_t plan_seed, uint64_t lane) noexcept;

class Workload {
 public:
  /// `job` must be validated. Takes what memory it needs (a few KiB, whatever the size of the
  /// target). `shared`: what SharedWork::of() made for all clones of the job; null: none. Throws
  /// UsageError for a distribution that does not fit the region.
  Workload(const JobSpec& job, const Region& region, uint64_t seed,
           std::shared_ptr<SharedWork> shared = nullptr);

  /// The moment from which arrivals count (monotonic). Call once, before the first next_batch().
  void start(int64_t epoch_ns) noexcept;

  /// Fills `out` from its front with operations that are due at `now_ns` or earlier; returns how
  /// many. Open-loop operations keep their intended due_ns, however late they are asked for. A
  /// flush that fsync= asks for is an item of its own right behind the write that made it due.
  size_t next_batch(int64_t now_ns, std::span<IoPlanItem> out) noexcept;
  bool next(int64_t now_ns, IoPlanItem& item) noexcept {
    return next_batch(now_ns, {&item, 1}) == 1;
  }

  /// When the next operation is due: INT64_MIN in a closed loop (at once), INT64_MAX when
  /// exhausted. The deadline of the job is the caller's: a rate below one block per runtime must
  /// not hold it up.
  int64_t next_due_ns() const noexcept;
  /// All loops are done (never, for time_based jobs).
  bool exhausted() const noexcept { return exhausted_ && !pair_pending_ && !flush_pending_; }
  bool open_loop() const noexcept { return open_loop_; }
  /// end_fsync: how many files are to be flushed (file 0 ...) once every operation has completed;
  /// 0: none.
  uint32_t end_flushes() const noexcept { return end_flushes_; }
  /// The block that an item is, counted over all files (SharedWork::release).
  uint64_t block_of(uint32_t file, uint64_t offset) const noexcept {
    return file * (region_.length_bytes / max_length_) +
           (offset - region_.start_bytes) / max_length_;
  }
  /// The largest length of any item: the size of a slot's buffer.
  uint64_t max_length() const noexcept { return max_length_; }

 private:
  enum class Placing : uint8_t { kSequential, kBlocks, kBlocksOfAnySize, kPieces };

  /// Blocks that a source has drawn in advance. Directions that agree in sizes and distribution
  /// share one.
  struct Drawn {
    static constexpr size_t kCapacity = 64;
    std::unique_ptr<OffsetSource> source;
    uint64_t unit = 0;  ///< bytes of a block
    uint64_t blocks_per_file = 0;
    uint64_t runs_per_file = 0;  ///< what the source numbers: runs of run_length_ blocks
    uint64_t pass = 0;
    uint64_t run_block = 0, run_left = 0;  ///< the run under way: next block, operations left
    uint32_t run_file = 0;
    uint32_t position = 0, count = 0;
    std::array<uint64_t, kCapacity> runs{};
  };

  void set_up_ops(const JobSpec& job);
  void set_up_random(const JobSpec& job);
  void begin_loop() noexcept;
  size_t next_simple(int64_t now_ns, std::span<IoPlanItem> out) noexcept;
  bool make_item(int64_t now_ns, IoPlanItem& item) noexcept;
  bool make_shared_item(int64_t now_ns, IoPlanItem& item) noexcept;
  bool place_claimed(IoPlanItem& item) noexcept;
  void place_in_line(uint64_t index, IoPlanItem& item) noexcept;
  bool choose(int64_t now_ns, Op& op, int64_t& due_ns) noexcept;
  int64_t pair_due_ns() const noexcept;
  void place(Op op, IoPlanItem& item) noexcept;
  void place_sequential(Op op, IoPlanItem& item) noexcept;
  void place_block(Op op, IoPlanItem& item) noexcept;
  void place_piece(Op op, IoPlanItem& item) noexcept;
  void refill(Drawn& drawn) noexcept;
  void account(uint64_t bytes, uint64_t ios) noexcept;
  void wrote(const IoPlanItem& item) noexcept;

  Region region_;
  uint64_t seed_;
  Placing placing_ = Placing::kSequential;
  /// One direction, one size, one file, closed loop, no flushes: the short way.
  bool simple_ = false;
  bool files_in_order_ = false;  ///< sequential: file_service_type=sequential
  bool trim_then_write_ = false;
  bool time_based_ = false;
  bool open_loop_ = false;
  std::vector<Op> used_;     ///< directions that really occur, in the order of Op
  int64_t hole_bytes_ = 0;   ///< sequential: rw=read:N
  uint64_t run_length_ = 1;  ///< random: rw=randread:N
  uint64_t max_length_ = 0;
  uint32_t end_flushes_ = 0;

  OpSource ops_;
  Arrival arrival_;
  PerDirection<BlockSizeSource> sizes_;
  Rng size_rng_;
  std::vector<Drawn> drawn_;
  std::vector<PieceCover> pieces_;     ///< [source][file]
  PerDirection<uint8_t> source_of_{};  ///< which source, of drawn_ or pieces_
  PerDirection<std::vector<int64_t>>
      cursors_;  ///< sequential: next offset within the region, per file
  PerDirection<int64_t> first_cursor_{};
  uint64_t pass_ = 0;  ///< of pieces_
  uint32_t next_file_ = 0;

  uint64_t loop_bytes_ = 0, loop_ios_ = 0;  ///< of one loop; UINT64_MAX: no end
  uint64_t bytes_left_ = 0, ios_left_ = 0;  ///< of this one
  uint64_t loops_left_ = 1;
  bool exhausted_ = false;

  uint64_t fsync_every_ = 0, fdatasync_every_ = 0, writes_ = 0;
  bool pair_pending_ = false, flush_pending_ = false;
  IoPlanItem pair_, flush_;

  // With SharedWork (workload_shared.cc).
  std::shared_ptr<SharedWork> shared_;
  bool in_line_ = false;    ///< places are dealt by SharedWork
  bool own_limits_ = true;  ///< loops and sizes end this lane, not the clones' common count
  int64_t ramp_ns_ = 0, counted_from_ns_ = 0;
  bool held_ = false;  ///< an operation was taken whose block is still in use
  IoPlanItem held_item_;
};

}  // namespace cephmark
