#include "compat/sysbench_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <random>
#include <vector>

#include "base/error.h"
#include "base/fd.h"
#include "base/rng.h"
#include "base/time.h"

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

uint32_t crc32(std::span<const unsigned char> bytes) {
  static const auto kTable = [] {
    std::array<uint32_t, 256> table{};
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t value = i;
      for (int bit = 0; bit < 8; ++bit) value = value & 1 ? 0xedb88320u ^ (value >> 1) : value >> 1;
      table[i] = value;
    }
    return table;
  }();
  uint32_t crc = ~uint32_t{0};
  for (const unsigned char byte : bytes) crc = kTable[(crc ^ byte) & 0xff] ^ (crc >> 8);
  return ~crc;
}

void fill_random(std::span<unsigned char> bytes, Rng& rng) {
  while (!bytes.empty()) {
    const uint64_t word = rng.next();
    const size_t part = std::min(sizeof word, bytes.size());
    std::memcpy(bytes.data(), &word, part);
    bytes = bytes.subspan(part);
  }
}

/// The file is written from `from` on in whole blocks, until its prepared size.
class FileFiller {
 public:
  FileFiller(const SysbenchArguments& arguments, uint64_t seed)
      : arguments_(arguments), rng_(seed) {
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

  void put_contents(std::span<unsigned char> part, uint64_t at) {
    const uint64_t block = arguments_.file.block_bytes;
    if (arguments_.validate) {
      for (uint64_t i = 0; i < part.size(); i += block)
        fill_validated_block(part.subspan(i, block), at + i, rng_.next());
    } else if (arguments_.payload == "random") {
      fill_random(part, rng_);
    }
  }

  const SysbenchArguments& arguments_;
  Rng rng_;
  std::vector<unsigned char> memory_;  ///< zeros at first
  std::span<unsigned char> chunk_;
};

// FIL-06: before the first file is opened.
void check_descriptors(int files) {
  struct rlimit limit {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const uint64_t need = static_cast<uint64_t>(files) + kSpareDescriptors;
  if (limit.rlim_cur >= need) return;
  const rlim_t had = limit.rlim_cur;
  limit.rlim_cur = std::min<rlim_t>(need, limit.rlim_max);
  if (limit.rlim_cur >= need && ::setrlimit(RLIMIT_NOFILE, &limit) == 0) return;
  throw Error(fmt::format("FATAL: Too many open files: {} files are needed, and the limit of this "
                          "process is {} descriptors ({} of them for other uses)",
                          files, std::max(had, limit.rlim_max), kSpareDescriptors),
              fmt::format("raise it with ulimit -n {}, or use fewer files with --file-num", need));
}

}  // namespace

std::string sysbench_file_name(int index) {
  return fmt::format("test_file.{}", index);
}

void fill_validated_block(std::span<unsigned char> block, uint64_t offset, uint64_t seed) {
  constexpr size_t kTail = sizeof(uint32_t) + sizeof(uint64_t);
  Rng rng(seed);
  const auto data = block.first(block.size() - kTail);
  fill_random(data, rng);
  const uint32_t checksum = crc32(data);
  std::memcpy(block.data() + data.size(), &checksum, sizeof checksum);
  std::memcpy(block.data() + data.size() + sizeof checksum, &offset, sizeof offset);
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

void check_sysbench_files(const SysbenchFileOptions& options) {
  check_descriptors(options.num);
  const bool makes = options.mode() == SysbenchMode::kSeqWr;
  for (int i = 0; i < options.num; ++i) {
    const std::string name = sysbench_file_name(i);
    uint64_t size = 0;
    const bool exists = size_of_file(name, size);
    if (makes) {
      if (exists && ::unlink(name.c_str()) != 0)
        fail_with_errno(fmt::format("Cannot remove file '{}'", name), errno);
      continue;
    }
    if (!exists)
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

}  // namespace cephmark
