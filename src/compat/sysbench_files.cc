#include "compat/sysbench_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <random>
#include <vector>

#include "base/descriptor_limit.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/time.h"
#include "fleet/file_state.h"
#include "fleet/image_state.h"
#include "fleet/safety_table.h"
#include "workload/checked_block.h"
#include "workload/payload.h"

namespace cephmark {
namespace {

constexpr uint64_t kChunkBytes = 1 << 20;
constexpr uint64_t kSpareDescriptors = 32;  ///< beside the test's files: streams, libraries

[[noreturn]] void fail_with_errno(const std::string& what, int error,
                                  const std::string& hint = "") {
  throw Error(fmt::format("FATAL: {} errno = {} ({})", what, error, std::strerror(error)), hint);
}

/// 0 and false when there is nothing. A name that leads elsewhere is nobody's test file.
bool size_of_file(const std::string& name, uint64_t& bytes) {
  struct stat facts {};
  bytes = 0;
  if (::lstat(name.c_str(), &facts) != 0) {
    if (errno == ENOENT) return false;
    fail_with_errno(fmt::format("Cannot look at file '{}'", name), errno);
  }
  if (!S_ISREG(facts.st_mode))
    throw Error(fmt::format("FATAL: '{}' is not a regular file: it is left alone", name),
                "move it away, or work in another directory");
  bytes = static_cast<uint64_t>(facts.st_size);
  return true;
}

/// The file is written from `from` on in whole blocks, until its prepared size.
class FileFiller {
 public:
  FileFiller(const SysbenchArguments& arguments, uint64_t seed)
      : arguments_(arguments), payload_(contents_of(arguments), seed) {
    const uint64_t block = arguments.file.block_bytes;
    const uint64_t chunk = std::max<uint64_t>(1, kChunkBytes / block) * block;
    memory_.resize(chunk + kAlignment);
    const auto at = reinterpret_cast<uintptr_t>(memory_.data());
    chunk_ = {memory_.data() + (kAlignment - at % kAlignment) % kAlignment, chunk};
  }

  /// Returns how many bytes were written.
  uint64_t fill(const std::string& name, uint64_t from) {
    const SysbenchFileOptions& file = arguments_.file;
    int flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC;
    if (file.sync) flags |= O_SYNC;
    if (file.dsync) flags |= O_DSYNC;
    if (file.direct) flags |= O_DIRECT;
    const UniqueFd fd(::open(name.c_str(), flags, S_IRUSR | S_IWUSR));
    if (!fd) fail_with_errno("Can't open file.", errno);
    // An odd end is written anew with its block.
    uint64_t at = from / file.block_bytes * file.block_bytes, wrote = 0;
    while (at < file.prepared_bytes()) {
      const auto part = chunk_.first(std::min<uint64_t>(chunk_.size(), file.prepared_bytes() - at));
      put_contents(part, at);
      const ssize_t done = ::pwrite(fd.get(), part.data(), part.size(), static_cast<off_t>(at));
      if (done < 0 && errno == EINTR) continue;
      if (done <= 0)
        fail_with_errno(fmt::format("Failed to write file '{}'!", name), done < 0 ? errno : ENOSPC,
                        "free some space, or make --file-total-size smaller");
      at += static_cast<uint64_t>(done) / file.block_bytes * file.block_bytes;
      wrote += static_cast<uint64_t>(done) / file.block_bytes * file.block_bytes;
      if (static_cast<uint64_t>(done) < file.block_bytes)
        fail_with_errno(fmt::format("Failed to write file '{}'!", name), ENOSPC,
                        "free some space, or make --file-total-size smaller");
    }
    if (::fsync(fd.get()) != 0)
      fail_with_errno(fmt::format("Failed to fsync file '{}'!", name), errno);
    return wrote;
  }

 private:
  static constexpr uintptr_t kAlignment = 4096;

  static JobSpec contents_of(const SysbenchArguments& arguments) {
    JobSpec job;
    job.checked_blocks = arguments.validate;
    return job;
  }

  void put_contents(std::span<std::byte> part, uint64_t at) {
    if (!arguments_.validate && arguments_.payload == "zeros") return;
    const uint64_t block = arguments_.file.block_bytes;
    for (uint64_t i = 0; i < part.size(); i += block) payload_.fill(part.subspan(i, block), at + i);
  }

  const SysbenchArguments& arguments_;
  Payload payload_;
  std::vector<std::byte> memory_;  ///< zeros at first
  std::span<std::byte> chunk_;
};

// FIL-06: before the first file is opened.
void check_descriptors(int files, int threads) {
  const uint64_t others = kSpareDescriptors + static_cast<uint64_t>(threads);
  const uint64_t need = static_cast<uint64_t>(files) + others;
  const uint64_t limit = raise_descriptor_limit(need);
  if (limit >= need) return;
  throw Error(fmt::format("FATAL: Too many open files: {} files are needed, and the limit of this "
                          "process is {} descriptors ({} of them for other uses)",
                          files, limit, others),
              fmt::format("raise it with ulimit -n {}, or use fewer files with --file-num", need));
}

/// sysbench takes direct for the last of its flags: beside another one it is no flag to it.
void check_flags(const SysbenchArguments& arguments) {
  const SysbenchFileOptions& file = arguments.file;
  const int value = (file.sync ? 1 : 0) + (file.dsync ? 2 : 0) + (file.direct ? 4 : 0);
  if (arguments.compat && value > 4)
    throw Error(fmt::format("FATAL: Unknown extra flags value: {}", value));
}

/// What stands under its name may be replaced by a new file: the row "create" of the safety table.
void check_replaceable(const std::string& name) {
  const PathState state = examine_path(name);
  const Decision decision =
      decide_all(state.kind, state.report.states(), Action::kCreate, TargetGrants{});
  if (decision.verdict == Verdict::kRefused)
    throw Error("FATAL: " + explain(name, decision, state.report), std::string(decision.hint));
}

/// seqwr: all are looked at before the first is removed.
void make_anew(const SysbenchFileOptions& options) {
  for (int i = 0; i < options.num; ++i) {
    uint64_t size = 0;
    if (size_of_file(sysbench_file_name(i), size)) check_replaceable(sysbench_file_name(i));
  }
  for (int i = 0; i < options.num; ++i) {
    const std::string name = sysbench_file_name(i);
    if (::unlink(name.c_str()) != 0 && errno != ENOENT)
      fail_with_errno(fmt::format("Cannot remove file '{}'", name), errno);
    const UniqueFd fd(
        ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR));
    if (!fd) fail_with_errno(fmt::format("Cannot create file '{}'", name), errno);
    // Mapped files have their size from the start, the others grow.
    if (options.io() == SysbenchIo::kMmap &&
        ::ftruncate(fd.get(), static_cast<off_t>(options.file_bytes())) != 0)
      fail_with_errno(fmt::format("Cannot enlarge file '{}'", name), errno);
  }
}

}  // namespace

std::string sysbench_file_name(int index) {
  return fmt::format("test_file.{}", index);
}

void prepare_sysbench_files(const SysbenchArguments& arguments, const SysbenchSay& say) {
  const SysbenchFileOptions& file = arguments.file;
  if (arguments.validate && file.block_bytes < 13)
    throw Error("FATAL: --validate needs blocks of 13 bytes or more");
  if (file.direct && file.block_bytes % 512 != 0)
    throw Error(
        fmt::format("FATAL: --file-extra-flags=direct needs blocks that are multiples of "
                    "512 bytes, and --file-block-size is {}",
                    file.block_bytes));
  say(fmt::format("{} files, {}Kb each, {}Mb total\n", file.num, file.file_bytes() / 1024,
                  file.file_bytes() * static_cast<uint64_t>(file.num) / 1024 / 1024));
  if (!arguments.compat && file.prepared_bytes() != file.file_bytes())
    say(fmt::format("Each file is made {} bytes long: whole blocks of {}\n", file.prepared_bytes(),
                    sysbench_size_text(file.block_bytes)));
  say("Creating files for the test...\n");
  say(fmt::format("Extra file open flags: {}\n", sysbench_flags_text(file)));
  check_flags(arguments);
  const uint64_t seed = arguments.rand_seed != 0 ? static_cast<uint64_t>(arguments.rand_seed)
                                                 : std::random_device{}();
  FileFiller filler(arguments, seed);
  const int64_t start_ns = monotonic_ns();
  uint64_t written = 0;
  for (int i = 0; i < file.num; ++i) {
    const std::string name = sysbench_file_name(i);
    uint64_t size = 0;
    const bool exists = size_of_file(name, size);
    const bool enough = exists && size >= file.prepared_bytes();
    say(fmt::format("{} {}\n",
                    enough           ? "Reusing existing file"
                    : exists && size ? "Extending existing file"
                                     : "Creating file",
                    name));
    if (!enough) written += filler.fill(name, size);
  }
  if (written == 0) {
    say("No bytes written.\n");
    return;
  }
  const double seconds = std::max(static_cast<double>(monotonic_ns() - start_ns), 1.0) /
                         static_cast<double>(kNsPerSecond);
  say(fmt::format("{} bytes written in {:.2f} seconds ({:.2f} MiB/sec).\n", written, seconds,
                  static_cast<double>(written) / 1024 / 1024 / seconds));
}

void cleanup_sysbench_files(const SysbenchFileOptions& options, const SysbenchSay& say) {
  say("Removing test files...\n");
  std::string left;
  for (int i = 0; i < options.num; ++i) {
    const std::string name = sysbench_file_name(i);
    try {
      uint64_t size = 0;
      if (!size_of_file(name, size)) continue;
      if (::unlink(name.c_str()) != 0 && errno != ENOENT)
        fail_with_errno(fmt::format("Cannot remove file '{}'", name), errno);
    } catch (const Error& error) {
      left += (left.empty() ? "" : "\n") + std::string(error.what());
    }
  }
  if (!left.empty()) throw Error(left);
}

void check_sysbench_files(const SysbenchArguments& arguments) {
  const SysbenchFileOptions& options = arguments.file;
  check_flags(arguments);
  check_descriptors(options.num, arguments.threads);
  if (options.mode() == SysbenchMode::kSeqWr) return make_anew(options);
  for (int i = 0; i < options.num; ++i) {
    const std::string name = sysbench_file_name(i);
    uint64_t size = 0;
    if (!size_of_file(name, size))
      throw Error(
          fmt::format("FATAL: Cannot open file '{}' errno = {} ({})\n"
                      "WARNING: Did you forget to run the prepare step?",
                      name, ENOENT, std::strerror(ENOENT)));
    if (size < options.file_bytes())
      throw Error(
          fmt::format("FATAL: Size of file '{}' is {}, but at least {} is expected.\n"
                      "WARNING: Did you run 'prepare' with different --file-total-size or "
                      "--file-num values?",
                      name, sysbench_size_text(size), sysbench_size_text(options.file_bytes())));
  }
}

std::string sysbench_mismatch_text(const ErrorSample& sample) {
  const std::string name = sysbench_file_name(static_cast<int>(sample.file));
  const UniqueFd fd(::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  std::vector<std::byte> block(sample.length);
  if (!fd || ::pread(fd.get(), block.data(), block.size(), static_cast<off_t>(sample.offset)) !=
                 static_cast<ssize_t>(block.size()))
    return "";
  const BlockCheck check = check_block(block, sample.offset);
  if (check.is_sound) return "";
  if (check.computed != check.stored)
    return fmt::format(
        "FATAL: Checksum mismatch in block with offset: {}\n"
        "FATAL:     Calculated value: {:#x}    Stored value: {:#x}\n",
        sample.offset, check.computed, check.stored);
  return fmt::format(
      "FATAL: Offset mismatch in block:\n"
      "FATAL:    Actual offset: {}    Stored offset: {}\n",
      sample.offset, check.offset);
}

}  // namespace cephmark
