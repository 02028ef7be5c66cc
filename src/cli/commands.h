// The entry points of the subcommands, one per foo_command.cc. See CommandRow::run for the
// contract.
#pragma once

#include <string>
#include <vector>

namespace cephmark {

int run_run_command(const std::vector<std::string>& argv);
int run_fio_command(const std::vector<std::string>& argv);
int run_sysbench_command(const std::vector<std::string>& argv);
/// Under a link named sysbench: --compat is on.
int run_sysbench_link(const std::vector<std::string>& argv);
int run_rados_command(const std::vector<std::string>& argv);
/// Under a link named rados: --compat is on.
int run_rados_link(const std::vector<std::string>& argv);
int run_rbd_command(const std::vector<std::string>& argv);
/// Under a link named rbd: --compat is on.
int run_rbd_link(const std::vector<std::string>& argv);
int run_osd_command(const std::vector<std::string>& argv);
int run_lab_command(const std::vector<std::string>& argv);
int run_results_command(const std::vector<std::string>& argv);
int run_cleanup_command(const std::vector<std::string>& argv);
int run_volumes_command(const std::vector<std::string>& argv);
int run_completion_command(const std::vector<std::string>& argv);
int run_man_command(const std::vector<std::string>& argv);
int run_version_command(const std::vector<std::string>& argv);

}  // namespace cephmark
