#include "base/fd.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "base/error.h"

namespace cephmark {
namespace {

std::string xdg_directory(const char* variable, const char* below_home) {
  const char* value = std::getenv(variable);
  if (value && value[0] == '/') return std::string(value) + "/cephmark";
  const char* home = std::getenv("HOME");
  if (!home || !*home) {
    const passwd* entry = getpwuid(getuid());
    home = entry ? entry->pw_dir : "/";
  }
  return std::string(home) + below_home + "/cephmark";
}

void write_all(int fd, const std::string& content, const std::string& path) {
  size_t done = 0;
  while (done < content.size()) {
    const ssize_t n = ::write(fd, content.data() + done, content.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw Error(fmt::format("cannot write {}: {}", path, errno_text(errno)));
    done += n;
  }
}

}  // namespace

std::string read_file(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) throw Error(fmt::format("cannot open {}: {}", path, errno_text(errno)));
  std::string content;
  char block[65536];
  for (;;) {
    const ssize_t n = ::read(fd.get(), block, sizeof block);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw Error(fmt::format("cannot read {}: {}", path, errno_text(errno)));
    if (n == 0) return content;
    content.append(block, n);
  }
}

void write_file_atomically(const std::string& path, const std::string& content, int mode) {
  std::string temporary = path + ".XXXXXX";
  UniqueFd fd(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!fd) throw Error(fmt::format("cannot create {}: {}", path, errno_text(errno)));
  try {
    write_all(fd.get(), content, path);
    if (::fchmod(fd.get(), mode) || ::fsync(fd.get()))
      throw Error(fmt::format("cannot write {}: {}", path, errno_text(errno)));
    fd.reset();
    if (::rename(temporary.c_str(), path.c_str()))
      throw Error(fmt::format("cannot create {}: {}", path, errno_text(errno)));
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
}

void make_directories(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) throw Error(fmt::format("cannot create directory {}: {}", path, error.message()));
}

std::string state_directory() {
  return xdg_directory("XDG_STATE_HOME", "/.local/state");
}
std::string data_directory() {
  return xdg_directory("XDG_DATA_HOME", "/.local/share");
}

}  // namespace cephmark
