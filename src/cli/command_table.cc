#include "cli/command_table.h"

#include <array>

#include "cli/commands.h"

namespace cephmark {
namespace {

constexpr auto kCommands = std::to_array<CommandRow>({
    {"run", "run fio jobs natively, on a fleet of VM disks or on files", run_run_command},
    {"fio", "fio's own command line and reports, run natively", run_fio_command},
    {"rbd", "rbd's bench by its own command line, with latencies", run_rbd_command},
    {"osd", "the benchmark inside each OSD, and what mClock was told of it", run_osd_command},
    {"sysbench", "sysbench's fileio test: prepare, run, cleanup", run_sysbench_command},
    {"rados", "rados bench and rados cleanup: objects, by rados's own command line",
     run_rados_command},
    {"lab", "a small real Ceph cluster on this machine", run_lab_command},
    {"results", "list, show and export the results that were kept", run_results_command},
    {"volumes", "make, prefill, list and remove the images of VMs", run_volumes_command},
    {"cleanup", "undo what dead runs left", run_cleanup_command},
    {"completion", "print a completion script for bash, zsh or fish", run_completion_command},
    {"man", "print the manual page", run_man_command},
    {"version", "print the version", run_version_command},
});

}  // namespace

std::span<const CommandRow> command_table() {
  return kCommands;
}

}  // namespace cephmark
