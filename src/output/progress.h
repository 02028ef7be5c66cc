// Progress: what a person sees while a run goes on: set-up steps, a live line each second on a
// terminal, a plain line every ten seconds elsewhere, nothing with --quiet. Goes to stderr (or the
// stream given). Called by one thread at a time.
#pragma once

#include <ostream>
#include <string>

#include "result/observer.h"

namespace cephmark {

enum class ProgressMode : uint8_t { kQuiet, kPlain, kLive };

struct ProgressOptions {
  ProgressMode mode = ProgressMode::kPlain;
  int columns = 100;
  int terminal_fd = -1;  ///< asked for its present width before each line; -1: `columns` holds
  int64_t live_interval_ns = 1'000'000'000;
  int64_t plain_interval_ns = 10'000'000'000;
  int64_t step_interval_ns = 2'000'000'000;  ///< plain: between two lines about one set-up step
  int64_t (*clock)() = nullptr;              ///< null: monotonic_ns
};

/// kLive when `fd` is a terminal (then with its width), else kPlain; kQuiet when `quiet`.
ProgressOptions progress_options(int fd, bool quiet);

class Progress : public Observer {
 public:
  Progress(std::ostream& out, const ProgressOptions& options) : out_(out), options_(options) {}
  ~Progress() override { finish(); }

  void progress(const std::string& what, uint64_t done, uint64_t total) override;
  void note(const std::string& text) override;
  void tick(const TickSample& sample) override;

  /// Takes the live line away, so that what is printed next starts on a clean line. May be called
  /// twice.
  void finish();

 private:
  void show(const std::string& line);

  std::ostream& out_;
  ProgressOptions options_;
  TickSample pending_;  ///< what came since the last line
  bool has_pending_ = false;
  size_t shown_columns_ = 0;  ///< length of the live line that stands there
  std::string step_;          ///< the set-up step told last
  int64_t step_told_ns_ = 0;
};

/// "opening targets: 3 of 64"; "prefilling: 1.5 GiB of 4 GiB (38 %)" when `what` ends in "
/// (bytes)"; "opening targets ..." without a total.
std::string step_text(const std::string& what, uint64_t done, uint64_t total);

/// "measure  42 %  eta 01:10  21,772 IOPS  85.0 MiB/s  p99 11.0 ms  0 errors  64 VMs". An interval
/// in which nothing completed has no latency: "-".
std::string tick_text(const TickSample& sample);

}  // namespace cephmark
