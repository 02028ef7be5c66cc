#include "result/results_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <filesystem>
#include <random>

#include "base/error.h"
#include "base/fd.h"
#include "base/spelling.h"
#include "base/time.h"
#include "result/codec.h"

namespace cephmark {
namespace {

/// Of a document of ours: the line of its "summary", without the megabytes behind it.
std::string summary_line(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) throw Error(fmt::format("cannot open {}: {}", path, errno_text(errno)));
  std::string head;
  char block[4096];
  constexpr size_t kMost = 64 << 10;
  const std::string key = "\n\"summary\": ";
  while (head.size() < kMost) {
    const ssize_t n = ::read(fd.get(), block, sizeof block);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    head.append(block, n);
    const size_t start = head.find(key);
    const size_t end = start == std::string::npos ? start : head.find(",\n", start + key.size());
    if (end != std::string::npos) return head.substr(start + key.size(), end - start - key.size());
  }
  throw Error(fmt::format("{}: is no result of cephmark", path));
}

ResultEntry read_entry(const std::string& id, const std::string& path) {
  ResultEntry entry;
  entry.id = id;
  try {
    const Json summary = parse_json(summary_line(path), path);
    entry.title = summary.at("title").get<std::string>();
    entry.command = summary.at("command").get<std::string>();
    entry.start_utc = summary.at("start_utc").get<std::string>();
    entry.vms = summary.at("vms").get<uint64_t>();
    entry.errors = summary.at("errors").get<uint64_t>();
    entry.doubts = summary.at("doubts").get<uint64_t>();
    entry.stopped = summary.at("stopped").get<bool>();
    if (const Json& stages = summary.at("stages"); !stages.empty()) {
      entry.iops = stages.front().at("iops").get<double>();
      entry.bytes_per_s = stages.front().at("bytes_per_s").get<double>();
    }
  } catch (const std::exception& error) {
    entry = {};
    entry.id = id;
    entry.problem = error.what();
  }
  return entry;
}

std::string file_name_part(const std::string& title) {
  std::string part;
  for (const char c : title) {
    if (part.size() >= 40) break;
    if (std::isalnum(static_cast<unsigned char>(c)))
      part += c;
    else if (!part.empty() && part.back() != '-')
      part += '-';
  }
  while (!part.empty() && part.back() == '-') part.pop_back();
  return part.empty() ? "run" : part;
}

}  // namespace

ResultsDirectory::ResultsDirectory(std::string path)
    : path_(path.empty() ? data_directory() + "/results" : std::move(path)) {}

std::string ResultsDirectory::make_id(const std::string& title, int64_t wall_ns) {
  std::string time;
  for (const char c : local_time_text(wall_ns)) {
    if (c == ' ')
      time += '-';
    else if (c != '-' && c != ':')
      time += c;
  }
  std::string name = title;
  if (name.ends_with(".fio")) name.resize(name.size() - 4);
  std::random_device random;
  return fmt::format("{}-{}-{:04x}", time, file_name_part(name), random() & 0xffff);
}

std::string ResultsDirectory::save(RunResult& result) const {
  try {
    make_directories(path_);
  } catch (const Error& error) {
    throw Error(error.what(),
                "set XDG_DATA_HOME to a folder that can be written, or give --no-keep");
  }
  const bool own_id = result.id.empty();
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    if (own_id)
      result.id =
          make_id(result.plan.title, result.start_wall_ns > 0 ? result.start_wall_ns : wall_ns());
    std::string path = file_of(result.id);
    // The name is taken before the content is there, so that no other process can take it in
    // between.
    UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
    if (!fd && errno == EEXIST && own_id) continue;
    if (!fd) throw Error(fmt::format("cannot keep the result in {}: {}", path, errno_text(errno)));
    try {
      write_file_atomically(path, result_text(result));
    } catch (...) {
      ::unlink(path.c_str());
      throw;
    }
    return path;
  }
  throw Error(fmt::format("cannot find a free name for the result in {}", path_));
}

std::vector<std::string> ResultsDirectory::ids() const {
  std::vector<std::string> all;
  std::error_code none;
  for (const auto& file : std::filesystem::directory_iterator(path_, none)) {
    std::error_code ignored;
    // An empty file is a name that another process has just taken.
    if (file.path().extension() != ".json" || file.file_size(ignored) == 0 || ignored) continue;
    all.push_back(file.path().stem().string());
  }
  std::sort(all.rbegin(), all.rend());
  return all;
}

std::vector<ResultEntry> ResultsDirectory::list() const {
  std::vector<ResultEntry> entries;
  for (const auto& id : ids()) entries.push_back(read_entry(id, file_of(id)));
  return entries;
}

std::string ResultsDirectory::find(const std::string& name) const {
  const std::vector<std::string> all = ids();
  if (all.empty()) throw UsageError(fmt::format("there are no results in {} yet", path_));
  if (name == "last") return all.front();
  std::vector<std::string> matches;
  for (const auto& id : all) {
    if (id == name) return id;
    if (!name.empty() && id.rfind(name, 0) == 0) matches.push_back(id);
  }
  if (matches.size() == 1) return matches.front();
  if (matches.size() > 1)
    throw UsageError(
        fmt::format("{} results begin with '{}'", matches.size(), name),
        fmt::format("for example {} and {}: write more of it", matches[0], matches[1]));
  const std::string near = closest(name, all);
  throw UsageError(fmt::format("there is no result '{}' in {}", name, path_),
                   near.empty() ? "cephmark results list shows them; 'last' is the newest"
                                : fmt::format("did you mean {}?", near));
}

RunResult ResultsDirectory::load(const std::string& id) const {
  const std::string path = file_of(id);
  return parse_result(read_file(path), path);
}

}  // namespace cephmark
