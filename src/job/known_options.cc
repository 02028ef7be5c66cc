#include "job/known_options.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

namespace cephmark {

namespace {

// name|alias=neutral/neutral_too, blank-separated. Facts from fio 3.42's options.c.
constexpr std::string_view kCore =
    "description name wait_for filename filetype=none directory filename_format unique_filename=1 "
    "lockfile=none opendir rw|readwrite rw_sequencer=sequential ioengine iodepth "
    "iodepth_batch|iodepth_batch_submit=1 iodepth_batch_complete_min|iodepth_batch_complete=1 "
    "iodepth_batch_complete_max iodepth_low serialize_overlap=0 io_submit_mode=inline size "
    "io_size|io_limit fill_device|fill_fs=0 filesize file_append=0 offset|fileoffset "
    "offset_align=0 "
    "offset_increment number_ios num_range=1 bs|blocksize ba|blockalign bsrange|blocksize_range "
    "bssplit bs_unaligned|blocksize_unaligned bs_is_seq_rand=0 randrepeat|allrandrepeat randseed "
    "norandommap softrandommap=0 sprandom=0 spr_num_regions=100 spr_op spr_cs=0 "
    "random_generator=tausworthe random_distribution random_sequence_stride=0 "
    "percentage_random=100 percentage_sequential nrfiles|nr_files openfiles "
    "file_service_type fallocate=native fadvise_hint=1 fsync fdatasync write_barrier=0 "
    "sync_file_range direct atomic=0 buffered overwrite loops numjobs startdelay runtime|timeout "
    "time_based verify_only ramp_time ramp_size clocksource mem|iomem=malloc "
    "iomem_align|mem_align=0 verify=0 do_verify=1 verify_policy=completed verifysort verifysort_nr "
    "verify_interval verify_offset verify_pattern verify_pattern_interval=0 verify_fatal=0 "
    "verify_dump=0 verify_async=0 verify_backlog=0 verify_backlog_batch verify_async_cpus "
    "experimental_verify=0 verify_state_load=0 verify_state_save=0 verify_write_sequence=1 "
    "verify_header_seed=1 trim_percentage=0 trim_verify_zero=1 trim_backlog=0 trim_backlog_batch "
    "write_iolog read_iolog read_iolog_chunked=0 replay_no_stall=0 replay_redirect replay_scale=1 "
    "replay_align replay_time_scale=100 replay_skip merge_blktrace_file merge_blktrace_scalars "
    "merge_blktrace_iters exec_prerun exec_postrun ioscheduler zonemode=none zonesize=0 "
    "zonecapacity=0 zonerange=0 zoneskip=0 read_beyond_wp=0 max_open_zones=0 job_max_open_zones=0 "
    "ignore_zone_limits=0 zone_reset_threshold zone_reset_frequency recover_zbd_write_error=0 "
    "write_zone_remainder=0 fdp=0 dataplacement|data_placement=none "
    "plid_select|fdp_pli_select=roundrobin plids|fdp_pli dp_scheme lockmem=0 rwmixread rwmixwrite "
    "rwmixcycle comm nice=0 prio prioclass priohint thinktime=0 thinktime_spin=0 thinkcycles=0 "
    "thinktime_blocks=1 thinktime_blocks_type=complete thinktime_iotime=0 rate rate_min|ratemin=0 "
    "rate_iops rate_iops_min=0 rate_process rate_cycle|ratecycle=1000 rate_ignore_thinktime=0 "
    "max_latency=0 latency_target=0 latency_window latency_percentile=100 latency_run=0 invalidate "
    "sync write_hint=none create_serialize=1 create_fsync=1 create_on_open=0 create_only=0 "
    "allow_file_create=1 allow_mounted_write=0 pre_read=0 cpumask cpus_allowed cpus_allowed_policy "
    "numa_cpu_nodes numa_mem_policy gpu_dev_id=0 end_fsync fsync_on_close=0 end_syncfs=0 unlink=0 "
    "unlink_each_loop=0 exitall=0 exit_what=group exitall_on_error=0 stonewall|wait_for_previous "
    "new_group thread per_job_logs=1 write_bw_log write_lat_log write_iops_log log_entries "
    "log_avg_msec=0 log_hist_msec=0 log_hist_coarseness=0 write_hist_log "
    "log_window_value|log_max_value=avg log_offset=0 log_prio=0 log_issue_time=0 log_compression "
    "log_compression_cpus log_store_compressed=0 log_alternate_epoch|log_unix_epoch=0 "
    "log_alternate_epoch_clock_id block_error_percentiles=0 bwavgtime=500 iopsavgtime=500 "
    "group_reporting stats=1 zero_buffers refill_buffers scramble_buffers buffer_pattern "
    "buffer_compress_percentage buffer_compress_chunk dedupe_percentage=0 dedupe_global=0 "
    "dedupe_mode=repeat dedupe_working_set_percentage=5 clat_percentiles=1 lat_percentiles=0 "
    "slat_percentiles=0 percentile_list significant_figures=4 disk_util=1 gtod_reduce=0 "
    "disable_lat=0 disable_clat=0 disable_slat=0 disable_bw_measurement|disable_bw=0 gtod_cpu "
    "job_start_clock_id unified_rw_reporting=none/0 continue_on_error=none ignore_error "
    "error_dump=0 "
    "profile cgroup cgroup_nodelete=0 cgroup_weight uid gid kb_base unit_base=0 hugepage-size "
    "flow_id=0 flow=0 flow_watermark flow_sleep=0 steadystate|ss steadystate_duration|ss_dur=0 "
    "steadystate_ramp_time|ss_ramp=0 steadystate_check_interval|ss_interval=1";

constexpr std::pair<std::string_view, std::string_view> kEngineOptions[] = {
    {"cpuio", "cpuload cpumode cpuchunks exit_on_io_done"},
    {"dfs", "pool cont chunk_size object_class svcl"},
    {"e4defrag", "donorname inplace"},
    {"exec", "program arguments grace_time std_redirect"},
    {"filestat", "stat_type"},
    {"gfapi", "volume brick single-instance"},
    {"http",
     "https http_host http_user http_pass http_s3_key http_s3_keyid http_s3_security_token "
     "http_swift_auth_token http_s3_region http_s3_sse_customer_key "
     "http_s3_sse_customer_algorithm http_s3_storage_class http_mode http_verbose "
     "http_object_mode"},
    {"io_uring",
     "hipri readfua writefua write_mode verify_mode fixedbufs registerfiles sqthread_poll "
     "sqthread_poll_cpu nonvectored uncached nowait force_async cmd_type cdb_len verify_bytchk "
     "read_mode md_per_io_size pi_act pi_chk apptag apptag_mask deac cmdprio_percentage "
     "cmdprio_class cmdprio cmdprio_hint cmdprio_bssplit"},
    {"libaio",
     "userspace_reap nowait libaio_vectored cmdprio_percentage cmdprio_class cmdprio cmdprio_hint "
     "cmdprio_bssplit"},
    {"libblkio",
     "libblkio_driver libblkio_path libblkio_pre_connect_props libblkio_num_entries "
     "libblkio_queue_size libblkio_pre_start_props hipri libblkio_vectored "
     "libblkio_write_zeroes_on_trim libblkio_wait_mode libblkio_force_enable_completion_eventfd"},
    {"libcufile", "gpu_dev_ids cuda_io"},
    {"libhdfs",
     "namenode hostname port hdfsdirectory chunk_size|chunck_size single_instance hdfs_use_direct"},
    {"libhipfile", "gpu_dev_ids rocm_io"},
    {"libiscsi", "initiator"},
    {"mmap", "thp"},
    {"mtd", "skip_bad"},
    {"nbd", "uri"},
    {"net", "hostname port protocol|proto nodelay listen pingpong interface ttl window_size mss"},
    {"nfs", "nfs_url"},
    {"rados", "clustername pool clientname conf busy_poll touch_objects"},
    {"rbd",
     "clustername rbdname pool clientname busy_poll rbd_encryption_format "
     "rbd_encryption_passphrase"},
    {"rdma", "hostname bindname port verb|proto"},
    {"sg", "hipri readfua writefua sg_write_mode stream_id"},
    {"external", "dummy"},
    {"pvsync2", "hipri hipri_percentage uncached nowait"},
    {"windowsaio", "no_completion_thread"},
    {"xnvme",
     "hipri sqthread_poll xnvme_be xnvme_mem xnvme_async xnvme_sync xnvme_admin xnvme_dev_nsid "
     "xnvme_dev_subnqn xnvme_iovec md_per_io_size pi_act pi_chk apptag apptag_mask"},
};

constexpr std::string_view kEngines =
    "sync psync vsync pvsync pvsync2 libaio io_uring io_uring_cmd posixaio solarisaio windowsaio "
    "rbd "
    "rados mmap splice netsplice sg null net cpuio rdma e4defrag falloc ftruncate gfapi "
    "gfapi_async "
    "libhdfs ime_psync ime_psyncv ime_aio dev-dax filecreate filestat filedelete fileoperations "
    "dircreate dirstat dirdelete external libpmem http nbd dfs nfs xnvme libblkio libcufile "
    "libhipfile libiscsi mtd exec";

constexpr std::string_view kCommandLineOnly =
    "output output-format minimal append-terse terse-version eta eta-newline eta-interval "
    "status-interval section showcmd parse-only readonly warnings-fatal max-jobs bandwidth-log "
    "debug "
    "idle-prof alloc-size trigger trigger-file trigger-timeout trigger-remote aux-path inflate-log "
    "client server daemonize remote-config cmdhelp enghelp crctest cpuclock-test version help "
    "latency-log merge-blktrace-only";

constexpr std::string_view kFlags =
    "bs_unaligned blocksize_unaligned norandommap time_based verify_only exitall exitall_on_error "
    "stonewall wait_for_previous new_group thread group_reporting zero_buffers refill_buffers "
    "hipri "
    "fixedbufs registerfiles sqthread_poll userspace_reap";

template <typename Use>
void for_each_word(std::string_view words, Use use) {
  while (!words.empty()) {
    const size_t end = std::min(words.find(' '), words.size());
    if (end > 0) use(words.substr(0, end));
    words.remove_prefix(std::min(end + 1, words.size()));
  }
}

bool has_word(std::string_view words, std::string_view word) {
  bool found = false;
  for_each_word(words, [&](std::string_view candidate) { found |= candidate == word; });
  return found;
}

KnownOption parse_word(std::string_view word, std::string_view engine) {
  KnownOption option;
  option.engine = engine;
  if (const size_t equals = word.find('='); equals != std::string_view::npos) {
    option.neutral = word.substr(equals + 1);
    if (const size_t slash = option.neutral.find('/'); slash != std::string_view::npos) {
      option.neutral_too = option.neutral.substr(slash + 1);
      option.neutral = option.neutral.substr(0, slash);
    }
    word = word.substr(0, equals);
  }
  const size_t bar = word.find('|');
  option.name = word.substr(0, bar);
  if (bar != std::string_view::npos) option.alias = word.substr(bar + 1);
  return option;
}

std::vector<KnownOption> build_table() {
  std::vector<KnownOption> table;
  for_each_word(kCore, [&](std::string_view word) { table.push_back(parse_word(word, "")); });
  for (const auto& row : kEngineOptions)  // no structured binding: clang 14 cannot capture one
    for_each_word(row.second,
                  [&](std::string_view word) { table.push_back(parse_word(word, row.first)); });
  return table;
}

}  // namespace

std::span<const KnownOption> known_options() {
  static const std::vector<KnownOption> table = build_table();
  return table;
}

const KnownOption* find_known_core(std::string_view name) {
  static const auto index = [] {
    std::unordered_map<std::string_view, const KnownOption*> out;
    for (const KnownOption& option : known_options()) {
      if (!option.engine.empty()) continue;
      out.emplace(option.name, &option);
      if (!option.alias.empty()) out.emplace(option.alias, &option);
    }
    return out;
  }();
  const auto found = index.find(name);
  return found == index.end() ? nullptr : found->second;
}

std::vector<std::string_view> engines_that_know(std::string_view name) {
  std::vector<std::string_view> engines;
  if (name.empty()) return engines;
  for (const KnownOption& option : known_options())
    if (!option.engine.empty() && (option.name == name || option.alias == name))
      engines.push_back(option.engine);
  return engines;
}

bool is_known_engine(std::string_view name) {
  return has_word(kEngines, name);
}

bool is_flag_of_fio(std::string_view name) {
  return has_word(kFlags, name);
}

bool is_command_line_only(std::string_view name) {
  std::string dashed(name);
  std::replace(dashed.begin(), dashed.end(), '_', '-');
  return has_word(kCommandLineOnly, dashed);
}

}  // namespace cephmark
