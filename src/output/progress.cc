#include "output/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "base/time.h"
#include "base/units.h"
#include "output/cells.h"

namespace cephmark {
namespace {

void add(TickSample& sum, const TickSample& sample) {
  const int64_t interval_ns = sum.interval_ns + sample.interval_ns;
  for (int i = 0; i < kOpCount; ++i) {
    sum.ios[i] += sample.ios[i];
    sum.bytes[i] += sample.bytes[i];
    sum.errors[i] += sample.errors[i];
  }
  sum.response.merge(sample.response);
  sum.interval_ns = interval_ns;
  sum.at_ns = sample.at_ns;
  sum.phase = sample.phase;
  sum.stage = sample.stage;
  sum.phase_left_ns = sample.phase_left_ns;
  sum.fraction_done = sample.fraction_done;
  sum.in_flight = sample.in_flight;
  sum.vms_active = sample.vms_active;
}

std::string clock_text(int64_t ns) {
  const int64_t seconds = (ns + kNsPerSecond - 1) / kNsPerSecond;
  return seconds < 3600
             ? fmt::format("{:02}:{:02}", seconds / 60, seconds % 60)
             : fmt::format("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

}  // namespace

std::string tick_text(const TickSample& sample) {
  uint64_t ios = 0, bytes = 0, errors = 0;
  for (int i = 0; i < kOpCount; ++i) {
    if (i != op_index(Op::kFlush)) ios += sample.ios[i];
    bytes += sample.bytes[i];
    errors += sample.errors[i];
  }
  std::string text = phase_name(sample.phase);
  if (sample.stage > 0) text += fmt::format(" (stage {})", sample.stage + 1);
  if (sample.fraction_done >= 0)
    text += fmt::format("  {:.0f} %", std::min(1.0, sample.fraction_done) * 100);
  if (sample.phase_left_ns >= 0) text += "  eta " + clock_text(sample.phase_left_ns);
  const double seconds = static_cast<double>(sample.interval_ns) / kNsPerSecond;
  text += seconds > 0
              ? fmt::format("  {} IOPS  {} MiB/s", iops_text(static_cast<double>(ios) / seconds),
                            mib_text(static_cast<double>(bytes) / seconds))
              : std::string("  - IOPS  - MiB/s");
  // No star here: one second's p99 is told for what it is, a glimpse.
  text += sample.response.empty()
              ? std::string("  p99 -")
              : fmt::format("  p99 {}{}", sample.response.quantile_is_floor(0.99) ? ">=" : "",
                            format_duration(sample.response.quantile_ns(0.99)));
  text += fmt::format("  {} error{}  {} VM{}", format_count(errors), errors == 1 ? "" : "s",
                      sample.vms_active, sample.vms_active == 1 ? "" : "s");
  return text;
}

std::string step_text(const std::string& what, uint64_t done, uint64_t total) {
  constexpr std::string_view kInBytes = " (bytes)";
  const bool bytes = what.ends_with(kInBytes);
  const std::string step = bytes ? what.substr(0, what.size() - kInBytes.size()) : what;
  if (total == 0) return step + " ...";
  if (!bytes) return fmt::format("{}: {} of {}", step, format_count(done), format_count(total));
  return fmt::format("{}: {} of {} ({:.0f} %)", step, format_size(done), format_size(total),
                     100 * static_cast<double>(done) / static_cast<double>(total));
}

ProgressOptions progress_options(int fd, bool quiet) {
  ProgressOptions options;
  options.mode = quiet          ? ProgressMode::kQuiet
                 : ::isatty(fd) ? ProgressMode::kLive
                                : ProgressMode::kPlain;
  if (options.mode == ProgressMode::kLive) options.terminal_fd = fd;
  return options;
}

void Progress::show(const std::string& line) {
  if (options_.mode == ProgressMode::kPlain) {
    out_ << line << "\n" << std::flush;
    return;
  }
  winsize size{};
  if (::ioctl(options_.terminal_fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    options_.columns = size.ws_col;
  // One line, never the last column: a terminal would wrap and leave half a line behind.
  const size_t width = static_cast<size_t>(std::max(20, options_.columns - 1));
  const std::string text = line.substr(0, width);
  out_ << "\r" << text;
  if (shown_columns_ > text.size()) out_ << std::string(shown_columns_ - text.size(), ' ');
  out_ << std::flush;
  shown_columns_ = text.size();
}

void Progress::progress(const std::string& what, uint64_t done, uint64_t total) {
  if (options_.mode == ProgressMode::kQuiet) return;
  const int64_t now_ns = options_.clock ? options_.clock() : monotonic_ns();
  const bool first = what != step_;
  // Elsewhere than on a terminal: one line when a step begins, and more only while it takes long.
  if (options_.mode == ProgressMode::kPlain && !first &&
      now_ns - step_told_ns_ < options_.step_interval_ns)
    return;
  step_ = what;
  step_told_ns_ = now_ns;
  const bool count = total > 0 && (options_.mode == ProgressMode::kLive || !first);
  show(step_text(what, done, count ? total : 0));
}

void Progress::note(const std::string& text) {
  if (options_.mode == ProgressMode::kQuiet) return;
  finish();
  out_ << text << "\n" << std::flush;
}

void Progress::tick(const TickSample& sample) {
  if (options_.mode == ProgressMode::kQuiet) return;
  if (has_pending_ && (pending_.phase != sample.phase || pending_.stage != sample.stage)) {
    pending_ = {};  // a glimpse of two phases at once would be of neither
  }
  if (!has_pending_ || pending_.interval_ns == 0) pending_ = {};
  add(pending_, sample);
  has_pending_ = true;
  // Ticks come a little early or late: half an interval of a tick's own length is close enough.
  const int64_t wanted_ns =
      options_.mode == ProgressMode::kLive ? options_.live_interval_ns : options_.plain_interval_ns;
  if (pending_.interval_ns + sample.interval_ns / 2 < wanted_ns) return;
  show(tick_text(pending_));
  pending_ = {};
  has_pending_ = false;
}

void Progress::finish() {
  if (shown_columns_ == 0) return;
  out_ << "\r" << std::string(shown_columns_, ' ') << "\r" << std::flush;
  shown_columns_ = 0;
}

}  // namespace cephmark
