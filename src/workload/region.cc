#include "workload/region.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/units.h"
#include "workload/block_size_source.h"

namespace cephmark {
namespace {

uint64_t percent_of(uint64_t bytes, uint64_t percent) {
  return static_cast<uint64_t>(static_cast<unsigned __int128>(bytes) * percent / 100);
}

uint64_t round_up(uint64_t value, uint64_t step) {
  return (value + step - 1) / step * step;
}

/// Both readings of an amount, since people compare it with what they asked for.
std::string size_text(uint64_t bytes) {
  return fmt::format("{} ({} bytes)", format_size(bytes), bytes);
}

uint64_t start_of(const JobSpec& job, uint64_t file_bytes, unsigned clone, uint64_t block) {
  const uint64_t increment = job.offset_increment.kind == SizeSpec::Kind::kPercent
                                 ? percent_of(file_bytes, job.offset_increment.value)
                                 : job.offset_increment.value;
  uint64_t moved = 0, start = 0;
  const bool is_percent = job.offset.kind == SizeSpec::Kind::kPercent;
  const uint64_t offset = is_percent ? percent_of(file_bytes, job.offset.value) : job.offset.value;
  if (__builtin_mul_overflow(increment, uint64_t{clone}, &moved) ||
      __builtin_add_overflow(offset, moved, &start) || start > INT64_MAX)
    throw Error(
        fmt::format("job '{}': offset and offset_increment of clone {} are beyond any target",
                    job.name, clone),
        "reduce offset_increment or numjobs");
  return is_percent ? round_up(start, block) : start;
}

/// Bytes per file that the job names itself; 0: none, up to the end.
uint64_t asked_length(const JobSpec& job, uint64_t file_bytes, uint64_t start, uint32_t files,
                      uint64_t block) {
  if (job.size.kind == SizeSpec::Kind::kBytes) return job.size.value / files;
  if (job.size.kind == SizeSpec::Kind::kUnset || start >= file_bytes) return 0;
  const uint64_t room = file_bytes - start;
  if (job.size.value >= 100) return room;
  const uint64_t asked = std::min(percent_of(file_bytes, job.size.value), room);
  const uint64_t rounded = asked - asked % block;
  if (rounded == 0)
    throw Error(fmt::format("job '{}': size={}% of {} is less than one block of {}", job.name,
                            job.size.value, size_text(file_bytes), format_size(block)),
                "raise size or reduce bs");
  return rounded;
}

}  // namespace

uint64_t min_block_bytes(const JobSpec& job) {
  uint64_t least = UINT64_MAX;
  for (const Op op : {Op::kRead, Op::kWrite, Op::kTrim})
    if (job.has_op(op))
      least = std::min(least, BlockSizeSource(job.block_sizes[op_index(op)]).min_bytes());
  return least;
}

uint64_t max_block_bytes(const JobSpec& job) {
  uint64_t most = 0;
  for (const Op op : {Op::kRead, Op::kWrite, Op::kTrim})
    if (job.has_op(op))
      most = std::max(most, BlockSizeSource(job.block_sizes[op_index(op)]).max_bytes());
  return most;
}

Region resolve_region(const JobSpec& job, const TargetExtent& target, unsigned clone) {
  const uint64_t block = min_block_bytes(job);
  Region region;
  region.files = target.files ? target.files
                              : static_cast<uint32_t>(std::max<size_t>(
                                    {1, static_cast<size_t>(job.nrfiles), job.filenames.size()}));
  uint64_t file_bytes = target.size_bytes;
  if (job.filesize.kind == SizeSpec::Kind::kBytes && job.filesize.value != 0) {
    if (target.fixed && job.filesize.value > target.size_bytes)
      throw Error(fmt::format("{} has size {}, job '{}' has filesize={}", target.name,
                              size_text(target.size_bytes), job.name, job.filesize.value),
                  "reduce filesize or enlarge the target");
    file_bytes = job.filesize.value;
  }
  region.start_bytes = start_of(job, file_bytes, clone, block);
  const uint64_t asked = asked_length(job, file_bytes, region.start_bytes, region.files, block);
  if (target.fixed && file_bytes == 0)
    throw Error(fmt::format("{} has size 0, job '{}' needs {}", target.name, job.name,
                            format_size(region.start_bytes + (asked ? asked : block))),
                "create it with a size, or resize it");
  if (file_bytes == 0 && asked == 0)
    throw Error(
        fmt::format("job '{}': {} does not exist yet and the job does not say how large it is",
                    job.name, target.name),
        "set size= (bytes, not per cent) or filesize=");
  const bool bounded = target.fixed || asked == 0;
  if (bounded && region.start_bytes >= file_bytes)
    throw Error(fmt::format("{} has size {}, job '{}' starts at {}{}", target.name,
                            size_text(file_bytes), job.name, size_text(region.start_bytes),
                            clone ? fmt::format(" (offset + {} x offset_increment)", clone) : ""),
                "reduce offset, offset_increment or numjobs");
  region.length_bytes = asked ? asked : file_bytes - region.start_bytes;
  if (region.length_bytes > INT64_MAX - region.start_bytes)
    throw Error(fmt::format("job '{}': offset + size is beyond any target", job.name),
                "reduce offset or size");
  if (target.fixed && region.end_bytes() > file_bytes)
    throw Error(fmt::format("{} has size {}, job '{}' needs {} (offset {} + size {})", target.name,
                            size_text(file_bytes), job.name, size_text(region.end_bytes()),
                            region.start_bytes, region.length_bytes),
                "reduce size or offset, or enlarge the target");
  if (region.length_bytes < max_block_bytes(job))
    throw Error(
        fmt::format("job '{}': the region of {} in {} is smaller than a block of {}", job.name,
                    size_text(region.length_bytes), target.name, format_size(max_block_bytes(job))),
        "raise size or reduce bs");
  region.loop_bytes = region.length_bytes * region.files;
  if (job.io_size.kind == SizeSpec::Kind::kBytes && job.io_size.value != 0)
    region.loop_bytes = job.io_size.value;
  if (job.io_size.kind == SizeSpec::Kind::kPercent)
    region.loop_bytes = percent_of(region.loop_bytes, job.io_size.value);
  return region;
}

std::vector<ByteRange> partition(uint64_t size_bytes, unsigned parts, uint64_t block_bytes) {
  std::vector<ByteRange> ranges;
  if (size_bytes == 0 || parts == 0 || block_bytes == 0) return ranges;
  const uint64_t blocks = size_bytes / block_bytes + (size_bytes % block_bytes != 0);
  const uint64_t count = std::min<uint64_t>(parts, blocks);
  uint64_t start = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t share = blocks / count + (i < blocks % count ? 1 : 0);
    const uint64_t length = i + 1 == count ? size_bytes - start : share * block_bytes;
    ranges.push_back({start, length});
    start += length;
  }
  return ranges;
}

}  // namespace cephmark
