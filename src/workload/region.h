// Region: the part of a target that one lane works on, and how much I/O one loop of it is. Plain
// data, made once per lane when the target's real size is known. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "job/job_spec.h"

namespace cephmark {

/// What whoever opened the target knows of it.
struct TargetExtent {
  std::string name;  ///< as people call it, with its kind: "image rbd/HOST-0"
  /// Real size of each file (image, device, object); 0 for what does not exist yet.
  uint64_t size_bytes = 0;
  bool fixed = true;   ///< images and devices: the job must fit. false: files and objects that are
                       ///< laid out as needed
  uint32_t files = 0;  ///< how many; 0: the larger of nrfiles and the number of filenames
};

struct Region {
  uint64_t start_bytes = 0;   ///< of the region, in each file
  uint64_t length_bytes = 0;  ///< of the region, in each file
  uint32_t files = 1;
  uint64_t loop_bytes = 0;  ///< I/O of one loop over all files: io_size, or the whole region

  uint64_t end_bytes() const {
    return start_bytes + length_bytes;
  }  ///< each file must be as long as that
};

/// Applies size, filesize, io_size, offset, offset_increment and nrfiles to a target, for numjobs
/// clone `clone` (0 ...), by fio's rules (fio.md 6.4, 6.5): per cent count from the real size, a
/// percentage of size is rounded down and one of offset up to the smallest block, size is split
/// over the files, no size means up to the end. Throws Error that says what does not fit: a target
/// of size 0, offset + size beyond a fixed target, a region smaller than a block, no size given
/// where nothing exists.
Region resolve_region(const JobSpec& job, const TargetExtent& target, unsigned clone);

/// The smallest block of the directions that the job has, in bytes.
uint64_t min_block_bytes(const JobSpec& job);
/// The largest one.
uint64_t max_block_bytes(const JobSpec& job);

struct ByteRange {
  uint64_t start_bytes = 0;
  uint64_t length_bytes = 0;
};

/// `parts` ranges that tile [0, size) exactly, in order, every inner edge on a multiple of `block`;
/// the last range takes the odd end. Fewer ranges when there are fewer blocks than parts; none for
/// size 0. For prefill and for the threads of a sequential run: no overlap and no hole.
std::vector<ByteRange> partition(uint64_t size_bytes, unsigned parts, uint64_t block_bytes);

}  // namespace cephmark
