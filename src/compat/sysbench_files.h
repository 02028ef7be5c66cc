// sysbench_files: the files test_file.0 ... N-1 of sysbench's fileio in the current directory:
// made, looked at and removed as sysbench 1.0.20 does it, so that either program can go on with
// what the other made. They are meant to stay until cleanup: no manifest knows them. Blocks; one
// thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "compat/sysbench_arguments.h"
#include "result/run_result.h"

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
/// seqwr, which writes new files: makes them anew, where the safety table lets what is there be
/// made anew, all or none. Throws Error.
void check_sysbench_files(const SysbenchArguments& arguments);

/// How a block differs from what its check says, as sysbench tells it; empty where it cannot be
/// read any more.
std::string sysbench_mismatch_text(const ErrorSample& sample);

/// "test_file.7".
std::string sysbench_file_name(int index);

}  // namespace cephmark
