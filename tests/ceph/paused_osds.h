// paused_osds: stops every ceph-osd of one cluster on this machine (SIGSTOP) and lets them go on,
// also when the test fails. Tests only; one test at a time.
#pragma once

#include <signal.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace cephmark::test {

/// Processes called ceph-osd whose arguments or environment name this conf file.
inline std::vector<pid_t> osd_pids(const std::string& conf) {
  auto slurp = [](const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
  };
  std::vector<pid_t> pids;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (slurp(entry.path() / "comm") != "ceph-osd\n") continue;
    const std::string words = slurp(entry.path() / "cmdline") + slurp(entry.path() / "environ");
    if (words.find(conf) != std::string::npos) pids.push_back(std::stoi(name));
  }
  return pids;
}

class PausedOsds {
 public:
  explicit PausedOsds(const std::string& conf) : pids_(osd_pids(conf)) {
    for (pid_t pid : pids_) ::kill(pid, SIGSTOP);
  }
  ~PausedOsds() { resume(); }
  PausedOsds(const PausedOsds&) = delete;
  PausedOsds& operator=(const PausedOsds&) = delete;

  void resume() {
    for (pid_t pid : pids_) ::kill(pid, SIGCONT);
    pids_.clear();
  }
  bool any() const { return !pids_.empty(); }

 private:
  std::vector<pid_t> pids_;
};

}  // namespace cephmark::test
