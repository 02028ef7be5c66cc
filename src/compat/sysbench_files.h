// sysbench_files: the files test_file.0 ... N-1 of sysbench's fileio in the current directory:
// made, looked at and removed as sysbench 1.0.20 does it, so that either program can go on with
// what the other made. They are meant to stay until cleanup: no manifest knows them. Blocks; one
// thread.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "compat/sysbench_arguments.h"

namespace cephmark {

/// Gets the text as it comes.
using SysbenchSay = std::function<void(const std::string& text)>;

/// Makes, extends or reuses the files; contents are zeros, or random bytes with --payload=random,
/// or with --validate blocks that sysbench can check. Only regular files are touched. Throws
/// Error("FATAL: ...") as sysbench words it.
void prepare_sysbench_files(const SysbenchArguments& arguments, const SysbenchSay& say);

/// Removes exactly these files; what is not there is no mistake, what is no regular file is left
/// alone and told. Throws Error.
void cleanup_sysbench_files(const SysbenchFileOptions& options, const SysbenchSay& say);

/// Before a run: every file is there and large enough, and the process may open them all. For
/// seqwr, which writes new files: removes what is there. Throws Error.
void check_sysbench_files(const SysbenchFileOptions& options);

/// "test_file.7".
std::string sysbench_file_name(int index);

/// Fills a block as `sysbench --validate` wants it: random bytes, their CRC-32, and the block's
/// offset in its file. `block` must hold at least 13 bytes.
void fill_validated_block(std::span<unsigned char> block, uint64_t offset, uint64_t seed);

}  // namespace cephmark
