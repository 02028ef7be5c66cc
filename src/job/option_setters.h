// option_setters: what each core option does with its text. Called through the rows of core_options
// only.
#pragma once

#include "job/job_draft.h"

namespace cephmark::setters {

using Setter = void (*)(JobDraft&, const OptionInput&);

// scalar_options.cc
void description(JobDraft&, const OptionInput&);
void name(JobDraft&, const OptionInput&);
void filename(JobDraft&, const OptionInput&);
void directory(JobDraft&, const OptionInput&);
void ioengine(JobDraft&, const OptionInput&);
void kb_base(JobDraft&, const OptionInput&);
void numjobs(JobDraft&, const OptionInput&);
void nrfiles(JobDraft&, const OptionInput&);
void iodepth(JobDraft&, const OptionInput&);
void loops(JobDraft&, const OptionInput&);
void fsync(JobDraft&, const OptionInput&);
void fdatasync(JobDraft&, const OptionInput&);
void number_ios(JobDraft&, const OptionInput&);
void randseed(JobDraft&, const OptionInput&);
void rwmixread(JobDraft&, const OptionInput&);
void rwmixwrite(JobDraft&, const OptionInput&);
void buffer_compress_percentage(JobDraft&, const OptionInput&);
void buffer_compress_chunk(JobDraft&, const OptionInput&);
void direct(JobDraft&, const OptionInput&);
void buffered(JobDraft&, const OptionInput&);
void sync(JobDraft&, const OptionInput&);
void overwrite(JobDraft&, const OptionInput&);
void invalidate(JobDraft&, const OptionInput&);
void randrepeat(JobDraft&, const OptionInput&);
void end_fsync(JobDraft&, const OptionInput&);
void scramble_buffers(JobDraft&, const OptionInput&);
void time_based(JobDraft&, const OptionInput&);
void norandommap(JobDraft&, const OptionInput&);
void stonewall(JobDraft&, const OptionInput&);
void new_group(JobDraft&, const OptionInput&);
void group_reporting(JobDraft&, const OptionInput&);
void thread(JobDraft&, const OptionInput&);
void zero_buffers(JobDraft&, const OptionInput&);
void refill_buffers(JobDraft&, const OptionInput&);
void runtime(JobDraft&, const OptionInput&);
void ramp_time(JobDraft&, const OptionInput&);
void startdelay(JobDraft&, const OptionInput&);

// size_options.cc
void size(JobDraft&, const OptionInput&);
void io_size(JobDraft&, const OptionInput&);
void filesize(JobDraft&, const OptionInput&);
void offset(JobDraft&, const OptionInput&);
void offset_increment(JobDraft&, const OptionInput&);
void bs(JobDraft&, const OptionInput&);
void bsrange(JobDraft&, const OptionInput&);
void bssplit(JobDraft&, const OptionInput&);
void rate(JobDraft&, const OptionInput&);
void rate_iops(JobDraft&, const OptionInput&);
void rate_process(JobDraft&, const OptionInput&);

// pattern_options.cc
void rw(JobDraft&, const OptionInput&);
void random_distribution(JobDraft&, const OptionInput&);
void file_service_type(JobDraft&, const OptionInput&);

/// "a, b or c": the values that a choice has.
std::string list_choices(std::span<const std::string_view> choices);
/// Refuses a word that is none of the choices, with "did you mean". A blank in front is called by
/// its name.
bool check_choice(const OptionInput& input, std::string_view word,
                  std::span<const std::string_view> choices);
/// Splits a filename= list at ':' ("\:" is a colon). Blanks around the whole are dropped, empty
/// names too.
std::vector<std::string> split_filenames(std::string_view text);

}  // namespace cephmark::setters
