#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "base/error.h"
#include "base/time.h"
#include "lab/lab.h"
#include "lab/lab_daemons.h"
#include "lab/lab_remove.h"

namespace cephmark {
namespace {

namespace fs = std::filesystem;

// Tools of a `lab up` that was killed end a moment after it, and may write here until then.
constexpr int64_t kLastWrites_ns = 20 * kNsPerSecond;

void remove_tree(const std::string& path) {
  std::error_code error;
  for (const int64_t end_ns = monotonic_ns() + kLastWrites_ns;; ::usleep(100'000)) {
    fs::remove_all(path, error);
    const bool may_pass =
        error == std::errc::no_such_file_or_directory || error == std::errc::directory_not_empty;
    if (!may_pass || monotonic_ns() > end_ns) break;
  }
  if (error)
    throw Error(fmt::format("cannot remove {}: {}", path, error.message()),
                "remove it yourself, and try again");
}

}  // namespace

void remove_lab_content(const std::string& directory, LabState& state, const LabProgress& say) {
  LabDaemons(directory, state).kill_all();
  const std::string& run = state.setup.run_directory;
  if (run.starts_with("/tmp/cephmark-lab-")) remove_tree(run);
  for (const char* name : {"run", "log", "crash", "mon", "mgr", "osd", "mds", "ceph.conf",
                           "keyring", "mon.keyring", "monmap"})
    remove_tree(directory + "/" + name);
  // Temporary files of a write that was cut off ("ceph.conf.XXXXXX", see write_file_atomically).
  for (const auto& entry : fs::directory_iterator(directory)) {
    const std::string name = entry.path().filename();
    for (const std::string base : {"ceph.conf.", "keyring.", "mon.keyring.", "cephmark-lab.json."})
      if (name.size() == base.size() + 6 && name.starts_with(base)) remove_tree(entry.path());
  }
  remove_tree(directory + "/" + kLabMarker);
  for (const auto& entry : fs::directory_iterator(directory))
    say(fmt::format("{} is not the lab's: it stays", entry.path().string()));
}

bool lab_down(const std::string& given, const LabProgress& report) {
  const LabProgress say = report ? report : [](const std::string&) {};
  const std::string directory = lab_directory(given);
  if (!fs::exists(directory)) return false;
  const LabLock lock(directory, say);
  std::optional<LabState> state = load_lab_state(directory);
  if (!state) {
    if (fs::is_empty(directory)) return false;
    throw Error(fmt::format("{} has files in it and is not a lab: it stays as it is", directory),
                "name the lab's directory with --dir");
  }
  remove_lab_content(directory, *state, say);
  if (fs::is_empty(directory) && ::rmdir(directory.c_str()))
    say(fmt::format("{} is empty now, but stays: {}", directory, errno_text(errno)));
  return true;
}

}  // namespace cephmark
