// The functions that the rows of engine_table are made of, one group per engine file. Internal to
// src/engine.
#pragma once

#include "engine/engine_table.h"

namespace cephmark {

std::string null_target_key(const JobSpec& job, const EngineContext& context);
std::unique_ptr<Engine> make_null_engine(const JobSpec& job, const EngineContext& context);
std::unique_ptr<Port> make_null_port(unsigned depth, const JobSpec& job);

std::unique_ptr<Engine> make_psync_engine(const JobSpec& job, const EngineContext& context);

std::unique_ptr<Engine> make_mmap_engine(const JobSpec& job, const EngineContext& context);

std::unique_ptr<Engine> make_libaio_engine(const JobSpec& job, const EngineContext& context);
std::unique_ptr<Port> make_libaio_port(unsigned depth, const JobSpec& job);
std::span<const EngineOption> libaio_options();

std::unique_ptr<Engine> make_io_uring_engine(const JobSpec& job, const EngineContext& context);
std::unique_ptr<Port> make_io_uring_port(unsigned depth, const JobSpec& job);
std::span<const EngineOption> io_uring_options();

std::string rbd_target_key(const JobSpec& job, const EngineContext& context);
std::unique_ptr<Engine> make_rbd_engine(const JobSpec& job, const EngineContext& context);
std::span<const EngineOption> rbd_options();

std::string rados_target_key(const JobSpec& job, const EngineContext& context);
std::unique_ptr<Engine> make_rados_engine(const JobSpec& job, const EngineContext& context);
std::span<const EngineOption> rados_options();

std::string rados_bench_target_key(const JobSpec& job, const EngineContext& context);
std::unique_ptr<Engine> make_rados_bench_engine(const JobSpec& job, const EngineContext& context);
std::span<const EngineOption> rados_bench_options();

}  // namespace cephmark
