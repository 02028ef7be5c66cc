// The core options that cephmark honours: one row each. A new option is a row here and its setter.
#include "job/effective_options.h"
#include "job/option_setters.h"

namespace cephmark {

namespace {

using Kind = CoreOption::Kind;

std::string number_text(uint64_t value) {
  return std::to_string(value);
}
std::string bool_text(bool value) {
  return value ? "1" : "0";
}

const CoreOption kOptions[] = {
    {"name", "", Kind::kText, "the section's name", setters::name,
     [](const JobSpec& j) { return j.name; }, "Name of the job in reports."},
    {"description", "", Kind::kText, "", setters::description,
     [](const JobSpec& j) { return j.description; }, "Free text, shown in reports."},
    {"ioengine", "", Kind::kChoice, "psync", setters::ioengine,
     [](const JobSpec& j) { return j.ioengine; },
     "How I/O is done; each engine has options of its own."},
    {"kb_base", "", Kind::kChoice, "1024", setters::kb_base, nullptr,
     "1024: k, m, g are powers of 1024 and KiB, MiB, GiB powers of 1000 (sic); 1000: the other way "
     "round."},
    {"filename", "", Kind::kList, "", setters::filename,
     [](const JobSpec& j) { return filenames_text(j.filenames); },
     "Files or devices, separated by ':' (a colon in a name is written \\:). Replaces an inherited "
     "list."},
    {"directory", "", Kind::kText, "", setters::directory,
     [](const JobSpec& j) { return directories_text(j); },
     "Where files without a path lie. Several, with colons between them: the clones of numjobs "
     "take turns."},
    {"nrfiles", "nr_files", Kind::kInteger, "1", setters::nrfiles,
     [](const JobSpec& j) { return number_text(j.nrfiles); },
     "Files (rados: objects) of a job; size is divided among them."},
    {"file_service_type", "", Kind::kChoice, "roundrobin", setters::file_service_type,
     [](const JobSpec& j) {
       return std::string(j.file_service_type == FileService::kSequential ? "sequential"
                                                                          : "roundrobin");
     },
     "Several files of a sequential job: roundrobin, they take turns; sequential, one is finished "
     "before the next is begun."},
    {"rw", "readwrite", Kind::kChoice, "read", setters::rw,
     [](const JobSpec& j) { return rw_text(j.rw); },
     "read, write, trim, randread, randwrite, randtrim, rw, readwrite, randrw, trimwrite, "
     "randtrimwrite; with :N, "
     "N sequential I/Os per random offset, or a hole of N bytes between sequential ones."},
    {"rwmixread", "", Kind::kInteger, "50", setters::rwmixread,
     [](const JobSpec& j) { return j.rw.reads && j.rw.writes ? number_text(j.rwmixread) : ""; },
     "Per cent of reads in a mix."},
    {"rwmixwrite", "", Kind::kInteger, "50", setters::rwmixwrite, nullptr,
     "Per cent of writes in a mix; of rwmixread and rwmixwrite the later one wins."},
    {"bs", "blocksize", Kind::kSize, "4096", setters::bs,
     [](const JobSpec& j) { return bs_text(j); },
     "Bytes of one I/O; READ,WRITE,TRIM for each direction."},
    {"bsrange", "blocksize_range", Kind::kSize, "", setters::bsrange,
     [](const JobSpec& j) { return bsrange_text(j); },
     "Random sizes between MIN-MAX, multiples of MIN; a list for each direction. Wins over bs."},
    {"bssplit", "", Kind::kList, "", setters::bssplit,
     [](const JobSpec& j) { return block_splits_text(j); },
     "SIZE/PERCENT:SIZE/PERCENT...; wins over bs and bsrange."},
    {"size", "", Kind::kSize, "the whole target", setters::size,
     [](const JobSpec& j) { return size_text(j.size); },
     "The region a job works on, and the bytes it moves; bytes or per cent."},
    {"io_size", "io_limit", Kind::kSize, "size", setters::io_size,
     [](const JobSpec& j) { return size_text(j.io_size); },
     "The bytes a job moves, when that differs from its region."},
    {"filesize", "", Kind::kSize, "", setters::filesize,
     [](const JobSpec& j) { return size_text(j.filesize); }, "Length of each file."},
    {"offset", "fileoffset", Kind::kSize, "0", setters::offset,
     [](const JobSpec& j) { return size_text(j.offset); },
     "Where the region begins; bytes or per cent."},
    {"offset_increment", "", Kind::kSize, "0", setters::offset_increment,
     [](const JobSpec& j) { return size_text(j.offset_increment); },
     "Clone i of numjobs begins at offset + i x this."},
    {"number_ios", "", Kind::kInteger, "0", setters::number_ios,
     [](const JobSpec& j) { return number_text(j.number_ios); },
     "End after so many I/Os; 0: no limit."},
    {"loops", "", Kind::kInteger, "1", setters::loops,
     [](const JobSpec& j) { return number_text(j.loops); }, "How often the job is repeated."},
    {"random_distribution", "", Kind::kChoice, "random", setters::random_distribution,
     [](const JobSpec& j) { return distribution_text(j); },
     "random, zipf:THETA[:CENTER], pareto:H[:CENTER], normal:DEVIATION, zoned:ACCESS/SIZE:..., "
     "zoned_abs:...; all but random imply norandommap."},
    {"norandommap", "", Kind::kFlag, "0", setters::norandommap,
     [](const JobSpec& j) { return bool_text(j.norandommap); },
     "Draw random offsets anew instead of visiting each block once."},
    {"randrepeat", "allrandrepeat", Kind::kBool, "1", setters::randrepeat,
     [](const JobSpec& j) { return bool_text(j.randrepeat); },
     "The same random numbers in each run."},
    {"randseed", "", Kind::kInteger, "", setters::randseed,
     [](const JobSpec& j) { return j.randseed ? number_text(*j.randseed) : ""; },
     "Seed of the random numbers; wins over randrepeat."},
    {"direct", "", Kind::kBool, "0", setters::direct,
     [](const JobSpec& j) { return bool_text(j.direct); },
     "Past the page cache (files); librbd's cache off (rbd)."},
    {"buffered", "", Kind::kBool, "1", setters::buffered, nullptr, "The opposite of direct."},
    {"sync", "", Kind::kChoice, "none", setters::sync,
     [](const JobSpec& j) {
       return std::string(j.sync == SyncWrites::kNone   ? "none"
                          : j.sync == SyncWrites::kSync ? "sync"
                                                        : "dsync");
     },
     "Open files with O_SYNC (sync, 1) or O_DSYNC (dsync): a write is durable when it is done."},
    {"overwrite", "", Kind::kBool, "0", setters::overwrite,
     [](const JobSpec& j) { return bool_text(j.overwrite); },
     "Lay the files of a job that only writes out first, too."},
    {"invalidate", "", Kind::kBool, "1", setters::invalidate,
     [](const JobSpec& j) { return bool_text(j.invalidate); },
     "Drop cached data of the target before the job."},
    {"iodepth", "", Kind::kInteger, "1", setters::iodepth,
     [](const JobSpec& j) { return number_text(j.iodepth); }, "I/Os in flight of each clone."},
    {"numjobs", "", Kind::kInteger, "1", setters::numjobs,
     [](const JobSpec& j) { return number_text(j.numjobs); },
     "Clones of the job that run at once."},
    {"rate", "", Kind::kSize, "0", setters::rate,
     [](const JobSpec& j) { return per_direction_text(j.rate_bytes_per_s); },
     "Bytes per second; READ,WRITE,TRIM. Excludes rate_iops."},
    {"rate_iops", "", Kind::kInteger, "0", setters::rate_iops,
     [](const JobSpec& j) { return per_direction_text(j.rate_iops); },
     "I/Os per second; READ,WRITE,TRIM. Excludes rate."},
    {"rate_process", "", Kind::kChoice, "linear", setters::rate_process,
     [](const JobSpec& j) {
       return std::string(j.rate_process == RateProcess::kPoisson ? "poisson" : "linear");
     },
     "linear: evenly spaced; poisson: as independent users arrive."},
    {"fsync", "", Kind::kInteger, "0", setters::fsync,
     [](const JobSpec& j) { return number_text(j.fsync); },
     "A flush after every N writes; 0: never."},
    {"fdatasync", "", Kind::kInteger, "0", setters::fdatasync,
     [](const JobSpec& j) { return number_text(j.fdatasync); }, "As fsync, data only."},
    {"end_fsync", "", Kind::kBool, "0", setters::end_fsync,
     [](const JobSpec& j) { return bool_text(j.end_fsync); },
     "A flush at the end of a job that writes."},
    {"runtime", "timeout", Kind::kTime, "0", setters::runtime,
     [](const JobSpec& j) { return time_text(j.runtime_ns); },
     "The longest a job measures; a bare number is seconds, 0 no limit."},
    {"time_based", "", Kind::kFlag, "0", setters::time_based,
     [](const JobSpec& j) { return bool_text(j.time_based); },
     "Go on until runtime is over, beginning anew at the end of the region."},
    {"ramp_time", "", Kind::kTime, "0", setters::ramp_time,
     [](const JobSpec& j) { return time_text(j.ramp_time_ns); },
     "Warm-up before runtime begins; not in the results."},
    {"startdelay", "", Kind::kTime, "0", setters::startdelay,
     [](const JobSpec& j) { return startdelay_text(j); },
     "Wait before the job, counted from the start of its own stage (see stonewall)."},
    {"stonewall", "wait_for_previous", Kind::kFlag, "0", setters::stonewall, nullptr,
     "Begin when all jobs above have ended: a new stage, and a new group."},
    {"new_group", "", Kind::kFlag, "0", setters::new_group, nullptr, "A new reporting group."},
    {"group_reporting", "", Kind::kFlag, "0", setters::group_reporting,
     [](const JobSpec& j) { return bool_text(j.group_reporting); },
     "fio's reports show one entry per group."},
    {"thread", "", Kind::kFlag, "0", setters::thread, nullptr,
     "Accepted; jobs never are processes here."},
    {"zero_buffers", "", Kind::kFlag, "0", setters::zero_buffers,
     [](const JobSpec& j) { return bool_text(j.zero_buffers); }, "Write zeros."},
    {"refill_buffers", "", Kind::kFlag, "0", setters::refill_buffers,
     [](const JobSpec& j) { return bool_text(j.refill_buffers); },
     "New random data for each write."},
    {"scramble_buffers", "", Kind::kBool, "1", setters::scramble_buffers,
     [](const JobSpec& j) { return bool_text(j.scramble_buffers); },
     "Make each write differ a little, so that it cannot be deduplicated."},
    {"buffer_compress_percentage", "", Kind::kInteger, "", setters::buffer_compress_percentage,
     [](const JobSpec& j) {
       return j.buffer_compress_percentage < 0 ? "" : number_text(j.buffer_compress_percentage);
     },
     "How well written data compresses; not given: not at all."},
    {"buffer_compress_chunk", "", Kind::kSize, "512", setters::buffer_compress_chunk,
     [](const JobSpec& j) {
       return j.buffer_compress_percentage < 0 ? "" : number_text(j.buffer_compress_chunk);
     },
     "Unit of buffer_compress_percentage."},
};

}  // namespace

std::span<const CoreOption> core_options() {
  return kOptions;
}

const CoreOption* find_core_option(std::string_view name) {
  if (name.empty()) return nullptr;
  for (const CoreOption& option : kOptions)
    if (option.name == name || option.alias == name) return &option;
  return nullptr;
}

}  // namespace cephmark
