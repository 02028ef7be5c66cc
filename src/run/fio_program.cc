#include "run/fio_program.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <vector>

#include "base/error.h"
#include "base/subprocess.h"

namespace cephmark {
namespace {

constexpr const char* kWhereToGetIt =
    "install fio (apt install fio), put one beside cephmark, or name it with --fio PATH";

bool same_file(const std::string& a, const std::string& b) {
  struct stat x, y;  // stat follows links, so a link to us is us
  return ::stat(a.c_str(), &x) == 0 && ::stat(b.c_str(), &y) == 0 && x.st_dev == y.st_dev &&
         x.st_ino == y.st_ino;
}

bool can_be_run(const std::string& path) {
  struct stat entry;
  return ::stat(path.c_str(), &entry) == 0 && S_ISREG(entry.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

std::vector<std::string> split_path(const std::string& text) {
  std::vector<std::string> folders;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(':', begin), text.size());
    folders.push_back(end == begin ? "." : text.substr(begin, end - begin));
    begin = end + 1;
  }
  return folders;
}

std::string locate_requested(const FioSearch& search) {
  const std::string& path = search.requested;
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    throw UsageError(fmt::format("--fio {}: is a directory", path),
                     fmt::format("name the program: --fio {}/fio", path));
  std::string found = can_be_run(path)                      ? path
                      : path.find('/') == std::string::npos ? find_program(path)
                                                            : "";
  if (found.empty())
    throw UsageError(fmt::format("--fio {}: there is no such program, or it may not be run", path),
                     kWhereToGetIt);
  if (same_file(found, search.own_program))
    throw UsageError(fmt::format("--fio {}: is cephmark itself under another name", path),
                     "name a real fio; 'cephmark run' without --runner fio measures natively");
  return found;
}

}  // namespace

std::string locate_fio(const FioSearch& search) {
  if (!search.requested.empty()) return locate_requested(search);
  std::vector<std::string> folders;
  std::error_code error;
  const auto own = std::filesystem::canonical(search.own_program, error);
  if (!error) folders.push_back(own.parent_path().string());
  for (const auto& folder : split_path(search.path)) folders.push_back(folder);
  std::string passed_over;
  for (const auto& folder : folders) {
    std::string candidate = folder + "/fio";
    if (!can_be_run(candidate)) continue;
    if (!same_file(candidate, search.own_program)) return candidate;
    if (passed_over.empty()) passed_over = candidate;
  }
  throw Error(
      fmt::format("--runner fio: no fio beside cephmark or on PATH{}",
                  passed_over.empty() ? "" : fmt::format(" ({} is cephmark itself)", passed_over)),
      kWhereToGetIt);
}

FioProgram find_fio(const std::string& requested) {
  FioSearch search;
  search.requested = requested;
  const char* path = std::getenv("PATH");
  search.path = path ? path : "/usr/local/bin:/usr/bin:/bin";
  FioProgram fio;
  fio.path = locate_fio(search);
  const CommandResult asked = run_command({fio.path, "--version"});
  std::string said = asked.out.substr(0, asked.out.find('\n'));
  // "fio-3.33", "fio-3.42-12-gabcdef"
  if (asked.exit_code != 0 || !said.starts_with("fio-"))
    throw Error(fmt::format("{} does not seem to be fio: --version ended with {} and said '{}'",
                            fio.path, asked.exit_code,
                            said.empty() ? asked.err.substr(0, asked.err.find('\n')) : said),
                kWhereToGetIt);
  if (said.find("cephmark") != std::string::npos)  // another copy of us under the name fio
    throw UsageError(fmt::format("{} is a cephmark under the name of fio ({})", fio.path, said),
                     "name a real fio with --fio PATH, or leave --runner fio out");
  if (std::atoi(said.c_str() + 4) < 3)
    throw Error(fmt::format("{} is {}: its reports cannot be read, fio 3.0 or newer is needed",
                            fio.path, said),
                kWhereToGetIt);
  said[3] = ' ';
  fio.version = said;
  return fio;
}

void require_fio_engines(const FioProgram& fio, const Plan& plan) {
  std::set<std::string> engines;
  for (const auto& vm : plan.vms)
    for (const auto& job : vm.jobs) engines.insert(job.ioengine);
  for (const auto& engine : engines) {
    const CommandResult asked = run_command({fio.path, "--enghelp=" + engine});
    const std::string said = asked.out + asked.err;
    if (said.find("not loadable") == std::string::npos &&
        said.find("not found") == std::string::npos)
      continue;
    throw Error(
        fmt::format("{} ({}) is built without the engine '{}'", fio.path, fio.version, engine),
        engine == "rbd" || engine == "rados"
            ? "Debian's and Ubuntu's fio have it; Red Hat's needs the package fio-engine-" +
                  engine + "; or leave out --runner fio to measure natively"
            : "use another fio (--fio PATH), or leave out --runner fio to measure natively");
  }
}

}  // namespace cephmark
