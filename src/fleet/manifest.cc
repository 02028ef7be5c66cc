#include "fleet/manifest.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>

#include "base/error.h"

namespace cephmark {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 7> kResourceNames = {"image",     "object",  "pool", "file",
                                                            "directory", "setting", "flag"};

ResourceKind kind_from(const std::string& name, const std::string& path) {
  for (size_t i = 0; i < kResourceNames.size(); ++i)
    if (kResourceNames[i] == name) return static_cast<ResourceKind>(i);
  throw Error(fmt::format("{}: it lists a '{}', which this version does not know", path, name),
              "use the version of cephmark that wrote it");
}

std::string lock_path(const std::string& path) {
  return fs::path(path).replace_extension(".lock").string();
}

/// Locks without waiting. Empty when somebody else holds it. A lock file that was removed meanwhile
/// does not count.
UniqueFd try_lock(const std::string& path) {
  for (;;) {
    UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!fd) throw Error(fmt::format("cannot create {}: {}", path, errno_text(errno)));
    if (::flock(fd.get(), LOCK_EX | LOCK_NB)) {
      if (errno == EWOULDBLOCK) return {};
      throw Error(fmt::format("cannot lock {}: {}", path, errno_text(errno)));
    }
    struct stat mine {
    }, there{};
    if (!::fstat(fd.get(), &mine) && !::stat(path.c_str(), &there) && mine.st_ino == there.st_ino)
      return fd;
  }
}

void sync_directory(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd || ::fsync(fd.get()))
    throw Error(fmt::format("cannot sync {}: {}", path, errno_text(errno)));
}

Json ceph_json(const CephTarget& ceph) {
  return {{"conf", ceph.conf},
          {"user", ceph.user},
          {"keyring", ceph.keyring},
          {"cluster", ceph.cluster}};
}

Json line_of(const ManifestEntry& entry) {
  Json line = {
      {"add", entry.id}, {"kind", resource_kind_name(entry.kind)}, {"target", entry.target}};
  line["notes"] = entry.notes;
  return line;
}

void apply(ManifestContent& content, const Json& line, const std::string& path) {
  const auto entry_of = [&](int id) {
    return std::find_if(content.open.begin(), content.open.end(),
                        [&](const auto& e) { return e.id == id; });
  };
  if (line.contains("run")) content.identity = run_identity_from(line);
  if (line.contains("ceph")) {
    const Json& ceph = line.at("ceph");
    content.ceph = {ceph.value("conf", ""), ceph.value("user", ""), ceph.value("keyring", ""),
                    ceph.value("cluster", "")};
    content.fsid = line.value("fsid", "");
  }
  if (line.contains("instance")) content.instances.push_back(line.at("instance").get<uint64_t>());
  if (line.contains("add"))
    content.open.push_back({line.at("add").get<int>(),
                            kind_from(line.at("kind").get<std::string>(), path),
                            line.at("target").get<std::string>(),
                            line.at("notes").get<std::map<std::string, std::string>>()});
  if (line.contains("note"))
    if (const auto entry = entry_of(line.at("note").get<int>()); entry != content.open.end())
      entry->notes[line.at("key").get<std::string>()] = line.at("value").get<std::string>();
  if (line.contains("out"))
    if (const auto entry = entry_of(line.at("out").get<int>()); entry != content.open.end())
      content.open.erase(entry);
}

}  // namespace

std::string_view resource_kind_name(ResourceKind kind) {
  return kResourceNames[static_cast<int>(kind)];
}

std::string manifest_directory() {
  return state_directory() + "/manifests";
}

ManifestContent load_manifest(const std::string& path) {
  ManifestContent content;
  content.path = path;
  const std::string text = read_file(path);
  size_t at = 0;
  while (at < text.size()) {
    const auto end = text.find('\n', at);
    if (end == std::string::npos) break;  // cut off: never synced
    try {
      apply(content, parse_json(text.substr(at, end - at), path), path);
    } catch (const Json::exception& error) {
      throw Error(fmt::format("{}: a line is not what it should be: {}", path, error.what()));
    }
    at = end + 1;
  }
  return content;
}

std::vector<ManifestContent> list_manifests(std::vector<std::string>* unreadable) {
  std::vector<ManifestContent> all;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(manifest_directory(), ignored)) {
    if (entry.path().extension() != ".jsonl") continue;
    try {
      all.push_back(load_manifest(entry.path().string()));
    } catch (const Error& error) {
      if (unreadable && fs::exists(entry.path(), ignored)) unreadable->push_back(error.what());
    }
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return a.identity.started_wall_ns < b.identity.started_wall_ns;
  });
  return all;
}

bool manifest_is_live(const ManifestContent& content) {
  const std::string path = lock_path(content.path);
  std::error_code ignored;
  if (fs::exists(path, ignored) && !try_lock(path)) return true;
  return liveness_of(content.identity) == Liveness::kAlive;
}

bool run_is_under_way(const RunIdentity& run) {
  if (liveness_of(run) != Liveness::kAlive) return false;
  const std::string lock = lock_path(fmt::format("{}/{}.jsonl", manifest_directory(), run.run_id));
  std::error_code ignored;
  if (fs::exists(lock, ignored)) return !try_lock(lock);
  if (is_this_process(run)) return false;
  for (const auto& other : list_manifests())
    if (other.identity.pid == run.pid && other.identity.pid_start == run.pid_start) return false;
  return true;  // its manifests lie elsewhere: the process is all there is to go by
}

std::unique_ptr<Manifest> Manifest::create(const std::string& run_id, const CephTarget& ceph,
                                           const std::string& fsid) {
  try {
    make_directories(manifest_directory());
  } catch (const Error& error) {
    throw Error(
        error.what(),
        "what a run makes is written down there first; set XDG_STATE_HOME to a folder that can "
        "be written");
  }
  std::unique_ptr<Manifest> manifest(new Manifest);
  auto& content = manifest->content_;
  content.path = fmt::format("{}/{}.jsonl", manifest_directory(), run_id);
  content.identity = current_run_identity(run_id);
  manifest->lock_ = try_lock(lock_path(content.path));
  if (!manifest->lock_) throw Error(fmt::format("another process uses the run id {}", run_id));
  manifest->file_.reset(
      ::open(content.path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600));
  if (!manifest->file_)
    throw Error(fmt::format("cannot create {}: {}", content.path, errno_text(errno)));
  manifest->append({to_json(content.identity)}, true);
  sync_directory(manifest_directory());
  if (!fsid.empty()) manifest->set_cluster(ceph, fsid);
  return manifest;
}

std::unique_ptr<Manifest> Manifest::take_over(const std::string& path) {
  std::unique_ptr<Manifest> manifest(new Manifest);
  manifest->lock_ = try_lock(lock_path(path));
  if (!manifest->lock_) return nullptr;
  manifest->file_.reset(::open(path.c_str(), O_RDWR | O_APPEND | O_CLOEXEC));
  if (!manifest->file_ && errno == ENOENT) {  // another clean-up was faster
    ::unlink(lock_path(path).c_str());
    return nullptr;
  }
  if (!manifest->file_) throw Error(fmt::format("cannot open {}: {}", path, errno_text(errno)));
  manifest->content_ = load_manifest(path);
  // What a crash cut off must not run into our first line.
  const std::string text = read_file(path);
  if (const auto last = text.rfind('\n');
      !text.empty() && last + 1 != text.size() &&
      ::ftruncate(manifest->file_.get(), last == std::string::npos ? 0 : last + 1))
    throw Error(fmt::format("cannot mend {}: {}", path, errno_text(errno)));
  for (const auto& entry : manifest->content_.open)
    manifest->next_id_ = std::max(manifest->next_id_, entry.id + 1);
  return manifest;
}

Manifest::~Manifest() {
  if (!file_ || !content_.open.empty() || (kept_ && !content_.instances.empty())) return;
  ::unlink(content_.path.c_str());
  ::unlink(lock_path(content_.path).c_str());
}

void Manifest::append(const std::vector<Json>& lines, bool sync) {
  std::string text;
  for (const auto& line : lines) text += line.dump() + "\n";
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = ::write(file_.get(), text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw Error(fmt::format("cannot write {}: {}", content_.path, errno_text(errno)));
    done += n;
  }
  if (sync && ::fdatasync(file_.get()))
    throw Error(fmt::format("cannot sync {}: {}", content_.path, errno_text(errno)));
}

void Manifest::set_cluster(const CephTarget& ceph, const std::string& fsid) {
  const std::lock_guard lock(mutex_);
  append({{{"ceph", ceph_json(ceph)}, {"fsid", fsid}}}, true);
  content_.ceph = ceph;
  content_.fsid = fsid;
}

void Manifest::add_instance(uint64_t instance) {
  const std::lock_guard lock(mutex_);
  append({{{"instance", instance}}}, true);
  content_.instances.push_back(instance);
}

int Manifest::begin(ResourceKind kind, const std::string& target,
                    const std::map<std::string, std::string>& notes) {
  return begin_all({{0, kind, target, notes}});
}

int Manifest::begin_all(const std::vector<ManifestEntry>& entries) {
  const std::lock_guard lock(mutex_);
  const int first = next_id_;
  std::vector<Json> lines;
  std::vector<ManifestEntry> numbered = entries;
  for (auto& entry : numbered) {
    entry.id = next_id_++;
    lines.push_back(line_of(entry));
  }
  append(lines, true);
  content_.open.insert(content_.open.end(), numbered.begin(), numbered.end());
  return first;
}

void Manifest::note(int id, const std::string& key, const std::string& value) {
  const std::lock_guard lock(mutex_);
  const Json line = {{"note", id}, {"key", key}, {"value", value}};
  append({line}, true);
  apply(content_, line, content_.path);
}

void Manifest::strike_out(int id) {
  const std::lock_guard lock(mutex_);
  const Json line = {{"out", id}};
  append({line}, false);  // doing it twice does no harm, so a lost line costs nothing
  apply(content_, line, content_.path);
}

size_t Manifest::open_count() const {
  const std::lock_guard lock(mutex_);
  return content_.open.size();
}

}  // namespace cephmark
