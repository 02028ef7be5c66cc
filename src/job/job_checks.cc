// What depends on several options of a job, and what contradicts what.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "job/option_setters.h"
#include "job/section_builder.h"

namespace cephmark {

namespace {

constexpr uint64_t kSectorBytes = 512, kAllocationBytes = 4096;

/// Engines that open files: their direct=1 is O_DIRECT.
bool opens_files(std::string_view engine) {
  return engine == "psync" || engine == "libaio" || engine == "io_uring" || engine == "mmap";
}

/// One job under examination.
class JobCheck {
 public:
  JobCheck(JobDraft& draft, const JobSection& section, const ParseOptions& options,
           Diagnostics& diagnostics)
      : draft_(draft),
        spec_(draft.spec),
        section_(section),
        options_(options),
        diagnostics_(diagnostics) {}

  void fill_block_sizes();
  void fill_files();
  void check_time();
  void check_load();
  void check_pattern();
  void check_blocks();
  void check_filename();

 private:
  const JobOption* find(std::string_view name) const {
    for (const JobOption& option : section_.options)
      if (option.name == name) return &option;
    return nullptr;
  }
  const SourcePosition& where(std::string_view name) const {
    const JobOption* option = find(name);
    return option ? option->raw.value_where : section_.own.where;
  }
  void error(std::string_view option, const std::string& message, const std::string& hint = "") {
    diagnostics_.error(where(option), message, hint);
  }
  void warn(std::string_view option, const std::string& message, const std::string& hint = "") {
    diagnostics_.warn(where(option), message, hint);
  }

  JobDraft& draft_;
  JobSpec& spec_;
  const JobSection& section_;
  const ParseOptions& options_;
  Diagnostics& diagnostics_;
};

void JobCheck::fill_block_sizes() {
  for (int direction = 0; direction < kDirectionCount; ++direction) {
    BlockSizes& sizes = spec_.block_sizes[direction];
    sizes = {};
    if (draft_.bs[direction]) sizes.min_bytes = sizes.max_bytes = *draft_.bs[direction];
    if (draft_.bsrange[direction]) {
      sizes.min_bytes = draft_.bsrange[direction]->min_bytes;
      sizes.max_bytes = draft_.bsrange[direction]->max_bytes;
    }
    const auto& splits = draft_.bssplit[direction];
    if (splits.empty()) continue;
    sizes.splits = splits;
    sizes.min_bytes = sizes.max_bytes = splits.front().bytes;
    for (const BlockSplit& split : splits) {
      sizes.min_bytes = std::min(sizes.min_bytes, split.bytes);
      sizes.max_bytes = std::max(sizes.max_bytes, split.bytes);
    }
  }
  const auto ignored = [&](std::string_view loser, std::string_view winner) {
    const JobOption* option = find(loser);
    if (option && !option->from_global && find(winner))
      warn(loser, fmt::format("{} has no effect beside {}", loser, winner));
  };
  ignored("bs", "bssplit");
  ignored("bsrange", "bssplit");
  ignored("bs", "bsrange");
}

void JobCheck::fill_files() {
  for (SizeSpec* size : {&spec_.size, &spec_.io_size, &spec_.filesize})
    if (size->value == 0) *size = {};  // 0 is "not given" to fio
  const int named = static_cast<int>(spec_.filenames.size());
  spec_.nrfiles = named > 0 ? named : draft_.nrfiles.value_or(1);
  if (named > 0 && draft_.nrfiles && *draft_.nrfiles != named)
    warn("nrfiles",
         fmt::format("nrfiles={} has no effect: filename names {}", *draft_.nrfiles, named));
}

void JobCheck::check_time() {
  if (!spec_.time_based || spec_.runtime_ns > 0) return;
  // A line that could not be read may have been meant as the runtime.
  const auto misread = [&](const RawOption& option) {
    return diagnostics_.has_error_in_line_of(option.where);
  };
  if (std::any_of(section_.own.options.begin(), section_.own.options.end(), misread) ||
      std::any_of(section_.globals.begin(), section_.globals.end(), misread))
    return;
  const JobOption* option = find("time_based");
  error("time_based",
        option && option->from_global
            ? "time_based is given for all jobs, and not all have a runtime"
            : fmt::format("the job \"{}\" is time_based but has no runtime", section_.own.name),
        "add runtime=SECONDS, or remove time_based");
}

void JobCheck::check_load() {
  const auto any = [](const PerDirection<uint64_t>& values) {
    return std::any_of(values.begin(), values.end(), [](uint64_t value) { return value > 0; });
  };
  const bool by_bytes = any(spec_.rate_bytes_per_s), by_count = any(spec_.rate_iops);
  if (by_bytes && by_count)
    error("rate_iops", "rate and rate_iops exclude each other", "keep one of them");
  if (!by_bytes && !by_count && find("rate_process"))
    warn("rate_process", "rate_process has no effect without rate or rate_iops");
  const EngineDescription* engine = section_.engine;
  if (!engine) return;
  if (spec_.iodepth > engine->max_iodepth)
    error("iodepth", fmt::format("iodepth: {} is more than the engine {} can have in flight ({})",
                                 spec_.iodepth, engine->name, engine->max_iodepth));
  else if (engine->synchronous && spec_.iodepth > 1)
    warn("iodepth",
         fmt::format("iodepth={} has no effect: the engine {} does one I/O at a time",
                     spec_.iodepth, engine->name),
         "use libaio or io_uring for depth, or numjobs for more at once");
}

void JobCheck::check_pattern() {
  const bool mixed = spec_.rw.reads && spec_.rw.writes;
  for (const std::string_view option : {"rwmixread", "rwmixwrite"})
    if (!mixed && find(option) && !find(option)->from_global)
      warn(option, fmt::format("{} has no effect with rw={}", option, spec_.rw.name),
           "to couple reads and writes use rw=randrw or rw=rw in one job; separate jobs run "
           "independently, give each "
           "its own rate_iops to hold a ratio");
  if (find("rwmixread") && find("rwmixwrite") &&
      find("rwmixread")->from_global == find("rwmixwrite")->from_global)
    warn("rwmixwrite",
         fmt::format("rwmixread and rwmixwrite are both given; the later one counts: {} % reads",
                     spec_.rwmixread));
  const bool skewed =
      std::any_of(spec_.random_distribution.begin(), spec_.random_distribution.end(),
                  [](const Distribution& distribution) {
                    return distribution.kind != Distribution::Kind::kUniform;
                  });
  if (skewed) spec_.norandommap = true;
  const JobOption* distribution = find("random_distribution");
  if (distribution && !distribution->from_global && skewed && !spec_.rw.random)
    warn("random_distribution",
         fmt::format("random_distribution has no effect with rw={}", spec_.rw.name));
  const JobOption* service = find("file_service_type");
  if (service && spec_.rw.random && spec_.file_service_type == FileService::kSequential)
    error("file_service_type",
          fmt::format("file_service_type=sequential is honoured with sequential patterns: with "
                      "rw={} offsets are drawn over all files",
                      spec_.rw.name),
          "leave it out, or make one job per file with stonewall between them");
  for (const std::string_view option : {"sync", "overwrite"}) {
    const bool given = option == "sync" ? spec_.sync != SyncWrites::kNone : spec_.overwrite;
    if (given && find(option) && !find(option)->from_global && !opens_files(spec_.ioengine))
      warn(option,
           fmt::format("{} has no effect: the engine {} opens no files", option, spec_.ioengine));
  }
  for (const std::string_view option : {"fsync", "fdatasync", "end_fsync"})
    if (find(option) && !find(option)->from_global && !spec_.rw.writes &&
        (spec_.fsync || spec_.fdatasync || spec_.end_fsync))
      warn(option, fmt::format("{} has no effect: the job writes nothing", option));
}

void JobCheck::check_blocks() {
  std::string_view option = find("bssplit") ? "bssplit" : find("bsrange") ? "bsrange" : "bs";
  uint64_t odd_sector = 0, odd_allocation = 0, smallest = UINT64_MAX;
  for (int direction = 0; direction < kDirectionCount; ++direction) {
    if (!spec_.has_op(static_cast<Op>(direction))) continue;
    const BlockSizes& sizes = spec_.block_sizes[direction];
    std::vector<uint64_t> units = {sizes.min_bytes};
    for (const BlockSplit& split : sizes.splits) units.push_back(split.bytes);
    for (const uint64_t bytes : units) {
      smallest = std::min(smallest, bytes);
      if (bytes % kSectorBytes) odd_sector = bytes;
      if (bytes % kAllocationBytes && direction == op_index(Op::kWrite)) odd_allocation = bytes;
    }
  }
  if (odd_sector && spec_.direct && opens_files(spec_.ioengine))
    error(
        option,
        fmt::format(
            "{}: blocks of {} bytes cannot be read or written with direct=1: not a multiple of {}",
            option, odd_sector, kSectorBytes),
        draft_.kb_base == 1000 ? "under kb_base=1000 1k is 1000 bytes; write 1Ki or 4096"
                               : "write for example bs=4k");
  else if ((odd_sector || odd_allocation) && spec_.ioengine == "rbd")
    warn(option, fmt::format("{}: blocks of {} bytes are not a multiple of {}: the OSDs read, "
                             "modify and write, and the "
                             "result says little about aligned I/O",
                             option, odd_sector ? odd_sector : odd_allocation,
                             odd_sector ? kSectorBytes : kAllocationBytes));
  if (spec_.size.kind == SizeSpec::Kind::kBytes && smallest != UINT64_MAX &&
      spec_.size.value < smallest)
    error("size", fmt::format("size: {} byte(s) is less than one block ({} bytes)",
                              spec_.size.value, smallest));
}

void JobCheck::check_filename() {
  const JobOption* option = find("filename");
  if (!option || !options_.path_exists || spec_.filenames.size() < 2) return;
  const auto path_of = [&](const std::string& name) {
    return spec_.directory.empty() || name.front() == '/' ? name : spec_.directory + "/" + name;
  };
  std::string whole;  // the value with its colons
  for (const std::string& name : spec_.filenames) whole += (whole.empty() ? "" : ":") + name;
  const bool all_there =
      std::all_of(spec_.filenames.begin(), spec_.filenames.end(),
                  [&](const std::string& name) { return options_.path_exists(path_of(name)); });
  if (all_there || !options_.path_exists(path_of(whole))) return;
  std::string escaped;
  for (const char c : whole) escaped += c == ':' ? std::string("\\:") : std::string(1, c);
  error("filename",
        fmt::format(
            "filename: ':' separates files, so this names {} files that are not all there; but "
            "\"{}\" is",
            spec_.filenames.size(), whole),
        fmt::format("write filename={}", escaped));
}

}  // namespace

void finish_job(JobDraft& draft, const JobSection& section, const ParseOptions& options,
                Diagnostics& diagnostics) {
  JobCheck check(draft, section, options, diagnostics);
  check.fill_block_sizes();
  check.fill_files();
  check.check_time();
  check.check_load();
  check.check_pattern();
  check.check_blocks();
  check.check_filename();
}

}  // namespace cephmark
