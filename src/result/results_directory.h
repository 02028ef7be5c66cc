// ResultsDirectory: where every run's RunResult is kept, as ID.json under the XDG data folder.
// Files appear whole or not at all and are never overwritten; several processes may use the
// directory at once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "result/run_result.h"

namespace cephmark {

/// What `results list` shows of one result; read from the first few KiB of its file.
struct ResultEntry {
  std::string id;
  std::string title, command, start_utc;
  uint64_t vms = 0, errors = 0, doubts = 0;
  bool stopped = false;              ///< interrupted, stopped by a guard, or failed
  double iops = 0, bytes_per_s = 0;  ///< of its first stage
  std::string problem;               ///< why it cannot be read; the other fields are then empty
};

class ResultsDirectory {
 public:
  /// "" : data_directory()/results.
  explicit ResultsDirectory(std::string path = "");

  const std::string& path() const { return path_; }
  std::string file_of(const std::string& id) const { return path_ + "/" + id + ".json"; }

  /// "20261130-141502-write-4k-3f9a": local time, title without what file names should not hold,
  /// four random digits.
  static std::string make_id(const std::string& title, int64_t wall_ns);

  /// Gives the result an id unless it has one, and writes it. Returns the file. Throws Error when
  /// it cannot be written (nothing is left behind then) or when there is a result of that id.
  std::string save(RunResult& result) const;

  /// Newest first. A file that cannot be read is listed with its problem. An absent directory is an
  /// empty one.
  std::vector<ResultEntry> list() const;

  /// The id that `name` means: an id, the beginning of exactly one, or "last". Throws UsageError.
  std::string find(const std::string& name) const;
  RunResult load(const std::string& id) const;

 private:
  std::vector<std::string> ids() const;  ///< newest first

  std::string path_;
};

}  // namespace cephmark
