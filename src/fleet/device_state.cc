#include "fleet/device_state.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>
#include <sstream>

#include "base/error.h"
#include "base/fd.h"
#include "fleet/signatures.h"

namespace cephmark {
namespace {

namespace fs = std::filesystem;

std::optional<dev_t> parse_device_number(std::string_view text) {
  unsigned major_number = 0, minor_number = 0;
  const char* end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, major_number);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != ':') return std::nullopt;
  if (std::from_chars(first.ptr + 1, end, minor_number).ec != std::errc()) return std::nullopt;
  return makedev(major_number, minor_number);
}

std::optional<dev_t> number_of(const fs::path& directory) {
  std::error_code ignored;
  if (!fs::exists(directory / "dev", ignored)) return std::nullopt;
  return parse_device_number(read_file((directory / "dev").string()));
}

/// mountinfo writes space, tab, newline and backslash as \ooo.
std::string unescape(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size()) {
      out += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                               (text[i + 3] - '0'));
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

/// The device number behind a path, when it is a block device.
dev_t block_number(const std::string& path) {
  struct stat info {};
  return !::stat(path.c_str(), &info) && S_ISBLK(info.st_mode) ? info.st_rdev : 0;
}

void walk(const fs::path& directory, bool is_partition, std::vector<BlockNode>& nodes) {
  const auto number = number_of(directory);
  if (!number) return;
  for (const auto& node : nodes)
    if (node.number == *number) return;
  nodes.push_back({*number, directory.filename().string(), is_partition});
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(directory, ignored))
    if (fs::exists(entry.path() / "partition", ignored)) walk(entry.path(), true, nodes);
  for (const auto& entry : fs::directory_iterator(directory / "holders", ignored)) {
    const fs::path holder = fs::canonical(entry.path(), ignored);
    if (!ignored) walk(holder, false, nodes);
  }
}

bool is_number(const std::string& text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); });
}

/// True when a process has one of the targets open. Descriptors of processes that we may not look
/// at are skipped: the label and the exclusive open catch those.
bool process_holds(const fs::path& process, const std::vector<dev_t>& devices, dev_t file_device,
                   ino_t inode) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(process / "fd", ignored)) {
    struct stat info {};
    if (::stat(entry.path().c_str(), &info)) continue;
    if (S_ISBLK(info.st_mode) && std::count(devices.begin(), devices.end(), info.st_rdev))
      return true;
    if (inode && info.st_ino == inode && info.st_dev == file_device) return true;
  }
  return false;
}

void examine_node(const std::string& path, StateReport& report) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) {
    report.add(TargetState::kUnknown, fmt::format("cannot open {}: {}", path, errno_text(errno)));
    return;
  }
  int read_only = 0;
  if (!::ioctl(fd.get(), BLKROGET, &read_only) && read_only) report.add(TargetState::kReadOnly);
  try {
    for (const auto& signature : probe_signatures(fd.get(), path))
      report.add(signature.state, signature.name);
  } catch (const Error& error) {
    report.add(TargetState::kUnknown, error.what());
  }
  // Whoever mounts, stacks or swaps on a device opens it exclusively, also from another mount
  // namespace.
  const UniqueFd exclusive(::open(path.c_str(), O_RDONLY | O_EXCL | O_CLOEXEC | O_NONBLOCK));
  if (!exclusive && errno == EBUSY) report.add(TargetState::kHeld, "the kernel says it is busy");
}

}  // namespace

void StateReport::add(TargetState state, std::string detail) {
  for (auto& finding : findings) {
    if (finding.state != state) continue;
    if (!detail.empty() && finding.detail.find(detail) == std::string::npos)
      finding.detail += (finding.detail.empty() ? "" : ", ") + detail;
    return;
  }
  findings.push_back({state, std::move(detail)});
}

bool StateReport::has(TargetState state) const {
  return std::any_of(findings.begin(), findings.end(),
                     [&](const auto& f) { return f.state == state; });
}

std::vector<TargetState> StateReport::states() const {
  std::vector<TargetState> out;
  for (const auto& finding : findings) out.push_back(finding.state);
  return out;
}

std::string StateReport::detail_of(TargetState state) const {
  for (const auto& finding : findings)
    if (finding.state == state) return finding.detail;
  return "";
}

std::vector<BlockNode> block_tree(dev_t device, const SystemView& view) {
  std::error_code error;
  const fs::path link =
      fs::path(view.sys) / "dev/block" / fmt::format("{}:{}", major(device), minor(device));
  const fs::path directory = fs::canonical(link, error);
  std::vector<BlockNode> nodes;
  if (error) return nodes;
  const bool is_partition = fs::exists(directory / "partition", error);
  walk(directory, is_partition, nodes);
  if (is_partition)
    for (const auto& entry : fs::directory_iterator(directory.parent_path() / "holders", error)) {
      const fs::path holder = fs::canonical(entry.path(), error);
      if (!error) walk(holder, false, nodes);
    }
  return nodes;
}

std::vector<MountEntry> read_mounts(const SystemView& view) {
  std::vector<MountEntry> mounts;
  std::istringstream lines(read_file(view.proc + "/self/mountinfo"));
  for (std::string line; std::getline(lines, line);) {
    // 36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw   (proc(5))
    std::istringstream words(line);
    std::string id, parent, number, root, point, word, type, source;
    words >> id >> parent >> number >> root >> point;
    while (words >> word && word != "-") {
    }
    words >> type >> source;
    MountEntry entry{parse_device_number(number).value_or(0), unescape(source), unescape(point)};
    // btrfs and others show an anonymous number: the source tells the device.
    if (const dev_t real = entry.source.starts_with("/") ? block_number(entry.source) : 0)
      entry.device = real;
    mounts.push_back(std::move(entry));
  }
  std::error_code ignored;
  if (!fs::exists(view.proc + "/swaps", ignored)) return mounts;
  std::istringstream swaps(read_file(view.proc + "/swaps"));
  for (std::string line; std::getline(swaps, line);) {
    const std::string path = unescape(line.substr(0, line.find_first_of(" \t")));
    if (path.starts_with("/")) mounts.push_back({block_number(path), path, "[swap]"});
  }
  return mounts;
}

namespace {

void for_each_osd(const SystemView& view,
                  const std::function<void(const fs::path& process, int pid)>& use) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(view.proc, ignored)) {
    const std::string name = entry.path().filename().string();
    if (!is_number(name)) continue;
    try {
      if (read_file((entry.path() / "comm").string()) != "ceph-osd\n") continue;
    } catch (const Error&) {
      continue;  // it ended meanwhile
    }
    use(entry.path(), std::atoi(name.c_str()));
  }
}

}  // namespace

std::vector<int> osds_holding(const std::vector<dev_t>& devices, dev_t file_device, ino_t inode,
                              const SystemView& view) {
  std::vector<int> pids;
  for_each_osd(view, [&](const fs::path& process, int pid) {
    if (process_holds(process, devices, file_device, inode)) pids.push_back(pid);
  });
  return pids;
}

std::map<std::pair<dev_t, ino_t>, std::set<int>> files_of_osds(const SystemView& view) {
  std::map<std::pair<dev_t, ino_t>, std::set<int>> files;
  for_each_osd(view, [&](const fs::path& process, int pid) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(process / "fd", ignored)) {
      struct stat info {};
      if (::stat(entry.path().c_str(), &info) == 0 && S_ISREG(info.st_mode))
        files[{info.st_dev, info.st_ino}].insert(pid);
    }
  });
  return files;
}

void examine_use(dev_t device, const std::string& path, const SystemView& view,
                 StateReport& report) {
  const auto nodes = block_tree(device, view);
  if (nodes.empty())
    report.add(TargetState::kUnknown, fmt::format("{} is not to be found in {}", path, view.sys));
  std::vector<dev_t> numbers{device};
  for (const auto& node : nodes) {
    numbers.push_back(node.number);
    if (node.number == device) continue;
    if (node.is_partition)
      report.add(TargetState::kPartitionTable, fmt::format("partition {}", node.name));
    else
      report.add(TargetState::kHeld, fmt::format("{} stands on it", node.name));
  }
  for (const auto& mount : read_mounts(view)) {
    if (!mount.device) continue;
    if (mount.device == device)
      report.add(TargetState::kMounted, fmt::format("on {}", mount.point));
    else
      for (const auto& node : nodes)
        if (node.number == mount.device)
          report.add(TargetState::kChildMounted, fmt::format("{} on {}", node.name, mount.point));
  }
  for (const int pid : osds_holding(numbers, 0, 0, view))
    report.add(TargetState::kOsdHolds, fmt::format("ceph-osd, pid {}", pid));
}

StateReport examine_block_device(const std::string& path, const SystemView& view) {
  StateReport report;
  const dev_t device = block_number(path);
  if (!device) {
    report.add(TargetState::kUnknown, fmt::format("{} is not a block device", path));
    return report;
  }
  try {
    examine_use(device, path, view, report);
  } catch (const Error& error) {
    report.add(TargetState::kUnknown, error.what());
  }
  examine_node(path, report);
  if (report.findings.empty()) report.add(TargetState::kEmptyUntagged);
  return report;
}

}  // namespace cephmark
