#include "workload/workload.h"

#include <algorithm>

namespace cephmark {
namespace {

/// Streams of one lane that must not depend on each other: a change of the mix leaves the offsets
/// as they were.
enum Stream : uint64_t { kOps = 1, kArrivals, kSizes, kOffsets = 16 };
constexpr uint64_t kNoLimit = UINT64_MAX;
constexpr uint64_t kRepeatSeed = 0x89;  // fio's randseed when nothing else is said (fio.md 6.7)

bool same(const BlockSizes& a, const BlockSizes& b) {
  return a.min_bytes == b.min_bytes && a.max_bytes == b.max_bytes &&
         std::equal(a.splits.begin(), a.splits.end(), b.splits.begin(), b.splits.end(),
                    [](const auto& x, const auto& y) {
                      return x.bytes == y.bytes && x.percent == y.percent;
                    });
}

bool same(const Distribution& a, const Distribution& b) {
  return a.kind == b.kind && a.parameter == b.parameter && a.center == b.center &&
         std::equal(a.zones.begin(), a.zones.end(), b.zones.begin(), b.zones.end(),
                    [](const auto& x, const auto& y) {
                      return x.access_percent == y.access_percent &&
                             x.size_percent == y.size_percent && x.size_bytes == y.size_bytes;
                    });
}

}  // namespace

uint64_t lane_seed(const JobSpec& job, uint64_t plan_seed, uint64_t lane) noexcept {
  const uint64_t base = job.randseed ? *job.randseed : job.randrepeat ? kRepeatSeed : plan_seed;
  return Rng::derive(base, lane);
}

Workload::Workload(const JobSpec& job, const Region& region, uint64_t seed,
                   std::shared_ptr<SharedWork> shared)
    : region_(region),
      seed_(seed),
      files_in_order_(job.file_service_type == FileService::kSequential),
      time_based_(job.time_based),
      ops_(job, Rng::derive(seed, kOps)),
      arrival_(job, Rng::derive(seed, kArrivals)),
      size_rng_(Rng::derive(seed, kSizes)),
      shared_(std::move(shared)),
      in_line_(shared_ && job.clones_share && !job.rw.random),
      own_limits_(!job.clones_share),
      ramp_ns_(job.ramp_time_ns) {
  set_up_ops(job);
  loop_ios_ = !time_based_ && job.number_ios != 0 ? job.number_ios : kNoLimit;
  loop_bytes_ = time_based_ ? kNoLimit : region_.loop_bytes;
  if (loop_bytes_ == region_.length_bytes * region_.files) {
    // The whole region: what is smaller than a block at the end of each file is not touched (as
    // fio).
    uint64_t unit = kNoLimit;
    for (const Op op : used_) unit = std::min(unit, sizes_[op_index(op)].unit_bytes());
    loop_bytes_ -= region_.length_bytes % unit * region_.files;
  }
  loop_bytes_ = std::max<uint64_t>(loop_bytes_, 1);
  exhausted_ = used_.empty();
  loops_left_ = static_cast<uint64_t>(std::max(1, job.loops));
  if (job.rw.random)
    set_up_random(job);
  else
    hole_bytes_ = job.rw.postfix;
  for (const Op op : used_) {
    const BlockSizeSource& sizes = sizes_[op_index(op)];
    const uint64_t whole = region_.length_bytes - region_.length_bytes % sizes.unit_bytes();
    if (hole_bytes_ < 0)
      first_cursor_[op_index(op)] = static_cast<int64_t>(whole - sizes.max_bytes());
    if (placing_ == Placing::kSequential)
      cursors_[op_index(op)].assign(region_.files, first_cursor_[op_index(op)]);
  }
  simple_ = placing_ == Placing::kBlocks && used_.size() == 1 && region_.files == 1 &&
            !open_loop_ && !shared_ && run_length_ == 1 && fsync_every_ == 0 &&
            fdatasync_every_ == 0;
  bytes_left_ = loop_bytes_;
  ios_left_ = loop_ios_;
}

void Workload::set_up_ops(const JobSpec& job) {
  trim_then_write_ = job.rw.trim_then_write;
  for (const Op op : {Op::kRead, Op::kWrite, Op::kTrim}) {
    if (!job.has_op(op)) continue;
    if (ops_.is_mixed() && job.rwmixread == (op == Op::kRead ? 0 : 100)) continue;
    used_.push_back(op);
    // A trim and the write behind it have one place, so one size.
    const Op sized_as = trim_then_write_ ? Op::kWrite : op;
    sizes_[op_index(op)] = BlockSizeSource(job.block_sizes[op_index(sized_as)]);
    max_length_ = std::max(max_length_, sizes_[op_index(op)].max_bytes());
    open_loop_ = open_loop_ || arrival_.is_rated(op);
  }
  open_loop_ = open_loop_ || arrival_.has_event_rate();
  if (!job.rw.writes) return;
  fsync_every_ = static_cast<uint64_t>(std::max(0, job.fsync));
  fdatasync_every_ = static_cast<uint64_t>(std::max(0, job.fdatasync));
  if (job.end_fsync) end_flushes_ = region_.files;
}

void Workload::set_up_random(const JobSpec& job) {
  run_length_ = static_cast<uint64_t>(std::max<int64_t>(1, job.rw.postfix));
  bool fixed = true, covers = true;
  for (const Op op : used_) {
    fixed = fixed && sizes_[op_index(op)].is_fixed();
    covers =
        covers && distribution_row(job.random_distribution[op_index(op)], job.norandommap).covers;
  }
  // Sizes that vary, in runs (randread:N with bsrange): drawn independently, no map.
  const bool norandommap = job.norandommap || (!fixed && run_length_ > 1);
  placing_ = fixed                    ? Placing::kBlocks
             : covers && !norandommap ? Placing::kPieces
                                      : Placing::kBlocksOfAnySize;
  for (size_t i = 0; i < used_.size(); ++i) {
    const int d = op_index(used_[i]);
    const uint64_t seed = Rng::derive(seed_, kOffsets + i);
    source_of_[d] = static_cast<uint8_t>(i);
    for (size_t j = 0; j < i; ++j) {
      const int e = op_index(used_[j]);
      if (trim_then_write_ || (same(job.block_sizes[d], job.block_sizes[e]) &&
                               same(job.random_distribution[d], job.random_distribution[e])))
        source_of_[d] = source_of_[e];
    }
    if (placing_ == Placing::kPieces) {
      for (uint32_t file = 0; file < region_.files; ++file)
        pieces_.emplace_back(region_.length_bytes, sizes_[d], Rng::derive(seed, file));
      continue;
    }
    Drawn drawn;
    drawn.unit = sizes_[d].min_bytes();
    drawn.blocks_per_file = region_.length_bytes / drawn.unit;
    const uint64_t run = fixed ? run_length_ : 1;
    drawn.runs_per_file = (drawn.blocks_per_file + run - 1) / run;
    OffsetSetup setup;
    setup.blocks = drawn.runs_per_file * region_.files;
    setup.block_bytes = drawn.unit * run;
    setup.distribution = job.random_distribution[d];
    setup.seed = seed;
    const bool mapped = !norandommap && fixed;
    drawn.source = distribution_row(setup.distribution, !mapped).create(setup);
    drawn_.push_back(std::move(drawn));
  }
}

void Workload::start(int64_t epoch_ns) noexcept {
  arrival_.start(epoch_ns);
  counted_from_ns_ = epoch_ns + ramp_ns_;
}

int64_t Workload::next_due_ns() const noexcept {
  if (exhausted()) return INT64_MAX;
  if (!open_loop_ || pair_pending_ || flush_pending_) return INT64_MIN;
  if (trim_then_write_) return pair_due_ns();
  if (shared_) return held_ ? INT64_MIN : arrival_.event_due_ns();
  int64_t due = INT64_MAX;
  for (const Op op : used_) {
    if (!arrival_.is_rated(op)) return INT64_MIN;
    due = std::min(due, arrival_.due_ns(op));
  }
  return due;
}

int64_t Workload::pair_due_ns() const noexcept {
  // A pair is one arrival: with rates for both halves, the slower one rules.
  int64_t due = INT64_MIN;
  for (const Op half : used_)
    if (arrival_.is_rated(half)) due = std::max(due, arrival_.due_ns(half));
  return due;
}

size_t Workload::next_batch(int64_t now_ns, std::span<IoPlanItem> out) noexcept {
  size_t filled = 0;
  if (simple_) {
    while (filled < out.size() && !exhausted_) filled += next_simple(now_ns, out.subspan(filled));
    return filled;
  }
  if (shared_) {
    while (filled < out.size() && make_shared_item(now_ns, out[filled])) ++filled;
    return filled;
  }
  while (filled < out.size() && make_item(now_ns, out[filled])) ++filled;
  return filled;
}

size_t Workload::next_simple(int64_t now_ns, std::span<IoPlanItem> out) noexcept {
  Drawn& drawn = drawn_[0];
  if (drawn.position == drawn.count) refill(drawn);
  const uint64_t unit = drawn.unit;
  uint64_t count = std::min<uint64_t>(out.size(), drawn.count - drawn.position);
  if (!time_based_) count = std::min({count, ios_left_, (bytes_left_ - 1) / unit + 1});
  const uint64_t* runs = drawn.runs.data() + drawn.position;
  for (uint64_t i = 0; i < count; ++i)
    out[i] = {region_.start_bytes + runs[i] * unit, unit, now_ns, 0, used_[0]};
  drawn.position += static_cast<uint32_t>(count);
  account(count * unit, count);
  return count;
}

bool Workload::make_item(int64_t now_ns, IoPlanItem& item) noexcept {
  if (flush_pending_) {
    item = flush_;
    flush_pending_ = false;
    return true;
  }
  if (pair_pending_) {
    item = pair_;
    pair_pending_ = false;
    wrote(item);
    return true;
  }
  if (exhausted_ || !choose(now_ns, item.op, item.due_ns)) return false;
  place(item.op, item);
  if (open_loop_) arrival_.advance(item.op, item.length);
  if (trim_then_write_) {
    pair_ = item;
    pair_.op = Op::kWrite;
    pair_pending_ = true;
    if (open_loop_) arrival_.advance(Op::kWrite, item.length);
  } else if (item.op == Op::kWrite) {
    wrote(item);
  }
  account(item.length, 1);
  return true;
}

bool Workload::choose(int64_t now_ns, Op& op, int64_t& due_ns) noexcept {
  if (!open_loop_) {
    op = trim_then_write_ ? Op::kTrim : ops_.next();
    due_ns = now_ns;
    return true;
  }
  if (trim_then_write_) {
    op = Op::kTrim;
    due_ns = pair_due_ns();
    return due_ns <= now_ns;
  }
  bool found = false, all_rated = true;
  for (const Op candidate : used_) {
    if (!arrival_.is_rated(candidate)) {
      all_rated = false;
    } else if (arrival_.due_ns(candidate) <= now_ns &&
               (!found || arrival_.due_ns(candidate) < due_ns)) {
      found = true;
      op = candidate;
      due_ns = arrival_.due_ns(candidate);
    }
  }
  if (found || all_rated) return found;
  for (const Op candidate : used_)
    if (!arrival_.is_rated(candidate)) op = candidate;
  due_ns = now_ns;
  return true;
}

void Workload::place(Op op, IoPlanItem& item) noexcept {
  switch (placing_) {
    case Placing::kSequential:
      return place_sequential(op, item);
    case Placing::kBlocks:
    case Placing::kBlocksOfAnySize:
      return place_block(op, item);
    case Placing::kPieces:
      return place_piece(op, item);
  }
}

void Workload::place_sequential(Op op, IoPlanItem& item) noexcept {
  const int d = op_index(op);
  const BlockSizeSource& sizes = sizes_[d];
  const auto whole =
      static_cast<int64_t>(region_.length_bytes - region_.length_bytes % sizes.unit_bytes());
  const auto at_end = [&](int64_t cursor) {
    return cursor < 0 || cursor + static_cast<int64_t>(sizes.unit_bytes()) > whole;
  };
  std::vector<int64_t>& cursors = cursors_[d];
  uint32_t file = 0;
  const auto to_next_file = [&] {
    if (++next_file_ == region_.files) next_file_ = 0;
  };
  for (uint32_t tried = 0;; ++tried) {
    // Files take turns, or are gone through in their order; one that is through waits for the
    // others, then all start again.
    if (tried == region_.files) std::fill(cursors.begin(), cursors.end(), first_cursor_[d]);
    file = next_file_;
    const bool is_through = at_end(cursors[file]);
    if (!files_in_order_ || is_through) to_next_file();
    if (!is_through) break;
  }
  int64_t& cursor = cursors[file];
  item.file = file;
  item.offset = region_.start_bytes + static_cast<uint64_t>(cursor);
  // The last one of a region may be shortened when sizes vary.
  item.length = std::min(sizes.next(size_rng_), static_cast<uint64_t>(whole - cursor));
  cursor += static_cast<int64_t>(item.length) + hole_bytes_;
}

void Workload::place_block(Op op, IoPlanItem& item) noexcept {
  const int d = op_index(op);
  Drawn& drawn = drawn_[source_of_[d]];
  const bool fixed = placing_ == Placing::kBlocks;
  if (drawn.run_left == 0 || drawn.run_block >= drawn.blocks_per_file) {
    if (drawn.position == drawn.count) refill(drawn);
    uint64_t run = drawn.runs[drawn.position++];
    drawn.run_file = 0;
    if (region_.files > 1) {
      drawn.run_file = static_cast<uint32_t>(run / drawn.runs_per_file);
      run %= drawn.runs_per_file;
    }
    drawn.run_block = fixed ? run * run_length_ : run;
    drawn.run_left = run_length_;
  }
  item.file = drawn.run_file;
  item.offset = region_.start_bytes + drawn.run_block * drawn.unit;
  item.length = drawn.unit;
  if (!fixed) {
    const uint64_t room = (drawn.blocks_per_file - drawn.run_block) * drawn.unit;
    item.length = std::min(sizes_[d].next(size_rng_), room);
  }
  drawn.run_block += fixed ? 1 : (item.length + drawn.unit - 1) / drawn.unit;
  --drawn.run_left;
}

void Workload::place_piece(Op op, IoPlanItem& item) noexcept {
  PieceCover* const pieces = &pieces_[size_t{source_of_[op_index(op)]} * region_.files];
  PieceCover::Piece piece;
  for (uint32_t tried = 0;; ++tried) {
    if (tried == region_.files) {
      // All files are covered: from the start, in another order.
      ++pass_;
      for (uint32_t file = 0; file < region_.files; ++file) pieces[file].begin_pass(pass_);
    }
    item.file = next_file_;
    if (++next_file_ == region_.files) next_file_ = 0;
    if (pieces[item.file].next(piece)) break;
  }
  item.offset = region_.start_bytes + piece.offset;
  item.length = piece.length;
}

void Workload::refill(Drawn& drawn) noexcept {
  drawn.position = 0;
  drawn.count = static_cast<uint32_t>(drawn.source->next(drawn.runs));
  while (drawn.count == 0) {
    drawn.source->begin_pass(++drawn.pass);
    drawn.count = static_cast<uint32_t>(drawn.source->next(drawn.runs));
  }
}

void Workload::wrote(const IoPlanItem& item) noexcept {
  ++writes_;
  const bool due = (fsync_every_ != 0 && writes_ % fsync_every_ == 0) ||
                   (fdatasync_every_ != 0 && writes_ % fdatasync_every_ == 0);
  if (!due) return;
  flush_ = {0, 0, item.due_ns, item.file, Op::kFlush};
  flush_pending_ = true;
}

void Workload::account(uint64_t bytes, uint64_t ios) noexcept {
  if (time_based_) return;
  bytes_left_ -= std::min(bytes, bytes_left_);
  if (ios_left_ != kNoLimit) ios_left_ -= ios;
  if (bytes_left_ != 0 && ios_left_ != 0) return;
  if (--loops_left_ == 0) {
    exhausted_ = true;
  } else {
    begin_loop();
  }
}

void Workload::begin_loop() noexcept {
  bytes_left_ = loop_bytes_;
  ios_left_ = loop_ios_;
  next_file_ = 0;
  for (const Op op : used_)
    std::fill(cursors_[op_index(op)].begin(), cursors_[op_index(op)].end(),
              first_cursor_[op_index(op)]);
  for (Drawn& drawn : drawn_) {
    drawn.source->begin_pass(++drawn.pass);
    drawn.position = drawn.count = 0;
    drawn.run_left = 0;
  }
  ++pass_;
  for (PieceCover& pieces : pieces_) pieces.begin_pass(pass_);
}

}  // namespace cephmark
