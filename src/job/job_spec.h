// JobSpec: one validated job of one VM, every option effective (defaults included). Plain data;
// made by job_file, read by everybody, never changed after make_plan. Field names are fio's option
// names, with the unit added.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "job/op.h"

namespace cephmark {

template <typename T>
using PerDirection = std::array<T, kDirectionCount>;  ///< indexed by Op: read, write, trim

/// A size or offset: bytes, or per cent of the target's real size. Unset where fio's default
/// applies.
struct SizeSpec {
  enum class Kind : uint8_t { kUnset, kBytes, kPercent };
  Kind kind = Kind::kUnset;
  uint64_t value = 0;
  bool is_set() const { return kind != Kind::kUnset; }
};

/// rw=: which ops, in which order.
struct RwMode {
  bool reads = true;
  bool writes = false;
  bool trims = false;
  bool random = false;
  bool trim_then_write = false;  ///< trimwrite, randtrimwrite: trim a block, then write it
  int64_t postfix =
      0;  ///< rw=randread:N (N sequential I/Os per offset), rw=read:N (hole of N bytes)
  std::string name = "read";  ///< as written, without the postfix
};

struct BlockSplit {
  uint64_t bytes = 0;
  double percent = 0;
};

/// bs=, bsrange=, bssplit= of one direction.
struct BlockSizes {
  uint64_t min_bytes = 4096;
  uint64_t max_bytes = 4096;
  std::vector<BlockSplit> splits;  ///< empty unless bssplit; percentages add up to 100
};

struct DistributionZone {
  double access_percent = 0;
  double size_percent = 0;  ///< zoned
  uint64_t size_bytes = 0;  ///< zoned_abs
};

/// random_distribution= of one direction.
struct Distribution {
  enum class Kind : uint8_t { kUniform, kZipf, kPareto, kNormal, kZoned, kZonedAbsolute };
  Kind kind = Kind::kUniform;
  double parameter = 0;  ///< zipf theta, pareto h, normal deviation in per cent
  double center = -1;    ///< 0..1 of the range; negative: not given
  std::vector<DistributionZone> zones;
};

enum class RateProcess : uint8_t { kLinear, kPoisson };
/// sync=: files are opened with O_SYNC or O_DSYNC.
enum class SyncWrites : uint8_t { kNone, kSync, kDsync };
/// file_service_type= of a sequential job with several files: they take turns, or one is finished
/// before the next is begun.
enum class FileService : uint8_t { kRoundRobin, kSequential };

struct JobSpec {
  // Identity
  std::string name;  ///< section name, or name=
  std::string description;
  std::string source;  ///< "write-4k.fio:3": where the section stands
  int stage = 0;  ///< stonewall: stage k+1 starts when all jobs of stage k (fleet-wide) have ended
  int group = 0;  ///< fio's reporting group id
  bool group_reporting = false;
  int numjobs = 1;
  bool thread = false;  ///< accepted for compatibility; lanes are never processes

  // Target
  std::string ioengine = "psync";
  std::map<std::string, std::string>
      engine_options;                  ///< effective, checked against that engine's own table
  std::vector<std::string> filenames;  ///< filename= split at ':' (empty: fio's own naming)
  std::string directory;
  std::vector<std::string> more_directories;  ///< directory=a:b: the clones take turns
  int nrfiles = 1;
  SizeSpec size, io_size, offset, offset_increment, filesize;
  FileService file_service_type = FileService::kRoundRobin;
  bool direct = false;
  SyncWrites sync = SyncWrites::kNone;
  bool invalidate = true;
  bool overwrite = false;   ///< a job that only writes lays its files out first, too
  bool grow_files = false;  ///< files may be shorter than the job's region, and grow as it writes

  // Pattern
  RwMode rw;
  int rwmixread = 50;              ///< per cent of reads in a mix
  std::optional<double> rw_ratio;  ///< instead: reads per write, held by counting, nothing drawn
  /// The numjobs clones work off one stream together: who is free takes the next place of a
  /// sequential job, the next of number_ios (which then counts all clones, flushes too, and begins
  /// behind ramp_time), the next flush of flush_all.
  bool clones_share = false;
  PerDirection<BlockSizes> block_sizes;
  bool norandommap = false;
  PerDirection<Distribution> random_distribution;
  bool randrepeat = true;
  std::optional<uint64_t> randseed;

  // Load
  unsigned iodepth = 1;
  PerDirection<uint64_t> rate_bytes_per_s = {0, 0, 0};  ///< 0: no limit
  PerDirection<uint64_t> rate_iops = {0, 0, 0};         ///< 0: no limit
  RateProcess rate_process = RateProcess::kLinear;
  double event_rate = 0;  ///< per second and clone, of all kinds and flushes together; 0: no limit
  int fsync = 0;          ///< a flush after every N writes; 0: never
  int fdatasync = 0;
  bool end_fsync = false;
  int flush_all = 0;  ///< every file is flushed after every N operations, if one of them wrote
  bool flush_each_write = false;  ///< a write is done when its file is flushed behind it
  bool flush_data_only = false;   ///< flushes are fdatasync, whoever asks for them
  int loops = 1;
  uint64_t number_ios = 0;  ///< 0: no limit

  // Time
  int64_t runtime_ns = 0;  ///< 0: no limit
  bool time_based = false;
  int64_t ramp_time_ns = 0;
  int64_t startdelay_ns = 0;      ///< counted from the start of the job's own stage
  int64_t startdelay_max_ns = 0;  ///< above startdelay_ns: each clone draws its own between them

  // Payload
  bool zero_buffers = false;
  bool refill_buffers = false;
  bool scramble_buffers = true;
  int buffer_compress_percentage = -1;  ///< -1: not given (incompressible)
  uint64_t buffer_compress_chunk = 512;
  /// Blocks end with the CRC-32 of what is before and their offset (sysbench --validate): written
  /// so, and checked when they are read.
  bool checked_blocks = false;
  int fill_byte = -1;  ///< 0 to 255: every byte that is written (rbd bench); -1: none

  /// Options as written in the section and in the globals above it (canonical names, values after
  /// substitution): fio JSON's "job options" and "global options".
  std::vector<std::pair<std::string, std::string>> written_options;
  std::vector<std::pair<std::string, std::string>> written_globals;

  bool has_op(Op op) const;
  bool flushes_data_only() const { return flush_data_only || fdatasync > 0; }
  /// An option of the job's engine; `otherwise` when it is not given.
  std::string engine_option(const std::string& option, const std::string& otherwise = "") const;
};

inline std::string JobSpec::engine_option(const std::string& option,
                                          const std::string& otherwise) const {
  const auto found = engine_options.find(option);
  return found == engine_options.end() ? otherwise : found->second;
}

inline bool JobSpec::has_op(Op op) const {
  switch (op) {
    case Op::kRead:
      return rw.reads;
    case Op::kWrite:
      return rw.writes;
    case Op::kTrim:
      return rw.trims;
    case Op::kFlush:
      return rw.writes && (fsync > 0 || fdatasync > 0 || flush_all > 0 || end_fsync);
    case Op::kWriteZeroes:
      return false;
  }
  return false;
}

}  // namespace cephmark
