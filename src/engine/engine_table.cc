#include "engine/engine_table.h"

#include <vector>

#include "engine/engines.h"
#include "engine/file_engine.h"

namespace cephmark {
namespace {

std::vector<EngineRow> make_rows() {
  std::vector<EngineRow> rows;
  rows.push_back({.description = {.name = "null",
                                  .summary = "does nothing: measures this program itself",
                                  .options = {}},
                  .completion = CompletionMode::kPolled,
                  .has_submit_latency = true,
                  .target_key = null_target_key,
                  .create = make_null_engine,
                  .make_port = make_null_port});
  rows.push_back(
      {.description = {.name = "psync",
                       .summary = "files and block devices with pread and pwrite, one at a time",
                       .options = {},
                       .synchronous = true},
       .completion = CompletionMode::kBlocking,
       .target_key = file_target_key,
       .create = make_psync_engine});
  rows.push_back(
      {.description = {.name = "mmap",
                       .summary = "files and block devices mapped into memory, a copy per I/O",
                       .options = {},
                       .synchronous = true},
       .completion = CompletionMode::kBlocking,
       .target_key = file_target_key,
       .create = make_mmap_engine});
  rows.push_back({.description = {.name = "libaio",
                                  .summary = "files and block devices through Linux native AIO",
                                  .options = libaio_options(),
                                  .max_iodepth = 32768},
                  .completion = CompletionMode::kPolled,
                  .has_submit_latency = true,
                  .target_key = file_target_key,
                  .create = make_libaio_engine,
                  .make_port = make_libaio_port});
  rows.push_back({.description = {.name = "io_uring",
                                  .summary = "files and block devices through io_uring",
                                  .options = io_uring_options(),
                                  .max_iodepth = 16384},
                  .completion = CompletionMode::kPolled,
                  .has_submit_latency = true,
                  .target_key = file_target_key,
                  .create = make_io_uring_engine,
                  .make_port = make_io_uring_port});
  rows.push_back({.description = {.name = "rbd",
                                  .summary = "RBD images through librbd, as VMs use them",
                                  .options = rbd_options(),
                                  .max_iodepth = 4096},
                  .completion = CompletionMode::kCallback,
                  .has_submit_latency = true,
                  .target_key = rbd_target_key,
                  .create = make_rbd_engine});
  rows.push_back({.description = {.name = "rados",
                                  .summary = "objects through librados, one per file of the job",
                                  .options = rados_options(),
                                  .max_iodepth = 4096},
                  .completion = CompletionMode::kCallback,
                  .lays_out = true,
                  .has_submit_latency = true,
                  .target_key = rados_target_key,
                  .create = make_rados_engine});
  rows.push_back(
      {.description = {.name = "rados-bench",
                       .summary = "objects through librados, laid out as rados bench does",
                       .options = rados_bench_options(),
                       .max_iodepth = 65536},
       .completion = CompletionMode::kCallback,
       .own_contents = true,
       .has_submit_latency = true,
       .target_key = rados_bench_target_key,
       .create = make_rados_bench_engine});
  return rows;
}

}  // namespace

std::span<const EngineRow> engine_table() {
  static const std::vector<EngineRow> rows = make_rows();
  return rows;
}

const EngineRow* find_engine(std::string_view name) {
  for (const EngineRow& row : engine_table())
    if (row.description.name == name) return &row;
  return nullptr;
}

std::vector<EngineDescription> engine_descriptions() {
  std::vector<EngineDescription> out;
  for (const EngineRow& row : engine_table()) out.push_back(row.description);
  return out;
}

}  // namespace cephmark
