// UniqueFd: owns one file descriptor. Move-only; not shared between threads.
#pragma once

#include <unistd.h>

#include <string>
#include <utility>

namespace cephmark {

class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) reset(std::exchange(other.fd_, -1));
    return *this;
  }
  ~UniqueFd() { reset(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }
  void reset(int fd = -1) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = fd;
  }

 private:
  int fd_ = -1;
};

/// Whole content of a file. Throws Error (naming path and errno) when it cannot be read.
std::string read_file(const std::string& path);

/// Replaces `path` by `content` in one step (temporary file beside it, fsync, rename), mode 0644 or
/// `mode`. Throws Error (naming path and errno; the old file then stands untouched).
void write_file_atomically(const std::string& path, const std::string& content, int mode = 0644);

/// mkdir -p. Throws Error.
void make_directories(const std::string& path);

/// $XDG_STATE_HOME/cephmark or ~/.local/state/cephmark; $XDG_DATA_HOME/cephmark or
/// ~/.local/share/cephmark.
std::string state_directory();
std::string data_directory();

}  // namespace cephmark
