#include "compat/sysbench_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <variant>

#include "compat/sysbench_options.h"

namespace cephmark {
namespace {

using Arguments = SysbenchArguments;
using Files = SysbenchFileOptions;
using Place = SysbenchRefusal::Place;
using Option = SysbenchOption;
using Group = SysbenchOption::Group;
using namespace sysbench_kinds;

constexpr uint64_t kLeastCheckedBlock = 13;  ///< a byte, its checksum and its offset

[[noreturn]] void fatal(const std::string& text) {
  throw SysbenchRefusal("FATAL: " + text, Place::kStdoutBanner);
}

Place place_of(const Option& option) {
  return option.group == Group::kFile ? Place::kStderrBanner : Place::kStderr;
}

[[noreturn]] void bad_value(const Option& option, const std::string& value) {
  // sysbench names options of tests with underscores here.
  std::string name = option.name;
  std::replace(name.begin(), name.end(), '-', '_');
  throw SysbenchRefusal(fmt::format("Invalid value for the '{}' option: '{}'", name, value),
                        place_of(option));
}

template <typename T>
T number_of(const Option& option, const std::string& text) {
  if (text.empty()) return 0;
  try {
    size_t end = 0;
    if constexpr (std::is_floating_point_v<T>) {
      const double value = std::stod(text, &end);
      if (end == text.size() && std::isfinite(value)) return value;
    } else {
      const int64_t value = std::stoll(text, &end);
      if (end == text.size() && value >= std::numeric_limits<T>::min() &&
          value <= std::numeric_limits<T>::max())
        return static_cast<T>(value);
    }
  } catch (const std::logic_error&) {
  }
  bad_value(option, text);
}

/// 0 for what is no size: its checks then name the option.
uint64_t size_of(const std::string& text) {
  try {
    size_t end = 0;
    const uint64_t value = text.empty() || text[0] == '-' ? 0 : std::stoull(text, &end);
    if (end == text.size()) return value;
    constexpr std::string_view kUnits = "KMGTP";
    const auto unit = kUnits.find(static_cast<char>(std::toupper(text[end])));
    if (end + 1 != text.size() || unit == std::string_view::npos) return 0;
    const unsigned shift = 10 * (static_cast<unsigned>(unit) + 1);
    return value > (UINT64_MAX >> 1 >> shift) ? 0 : value << shift;
  } catch (const std::logic_error&) {
    return 0;
  }
}

std::vector<std::string> list_of(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char c : text)
    if (c == ',')
      parts.emplace_back();
    else if (c != ' ')
      parts.back() += c;
  std::erase(parts, "");
  return parts;
}

void set_extra_flags(const std::string& text, Files& file) {
  file.sync = file.dsync = file.direct = false;
  for (const std::string& flag : list_of(text)) {
    if (flag == "sync")
      file.sync = true;
    else if (flag == "dsync")
      file.dsync = true;
    else if (flag == "direct")
      file.direct = true;
    else
      fatal("Invalid value for file-extra-flags: " + flag);
  }
}

bool switch_of(const std::optional<std::string>& value, const Option& option,
               const std::string& word) {
  if (!value || *value == "on") return true;
  if (*value == "off") return false;
  throw SysbenchRefusal("invalid option: " + word, place_of(option));
}

struct Setter {
  const Option& option;
  const std::optional<std::string>& value;
  const std::string& word;
  Arguments& out;

  std::string text() const { return value.value_or(""); }
  template <typename Owner, typename T>
  void set(Owner& owner, T Owner::*to) const {
    if constexpr (std::is_same_v<T, bool>)
      owner.*to = switch_of(value, option, word);
    else if constexpr (std::is_same_v<T, std::string>)
      owner.*to = text();
    else
      owner.*to = number_of<T>(option, text());
  }
  template <typename T>
  void operator()(T Arguments::*to) const {
    set(out, to);
  }
  template <typename T>
  void operator()(T Files::*to) const {
    set(out.file, to);
  }
  void operator()(SizeMember member) const { out.file.*member.to = size_of(text()); }
  void operator()(Ignored) const {}
  void operator()(IgnoredFlag) const { switch_of(value, option, word); }
  void operator()(Refused refused) const {
    throw SysbenchRefusal(fmt::format("--{} is not there yet: {}", option.name, refused.instead),
                          Place::kStderr);
  }
  void operator()(ExtraFlags) const { set_extra_flags(text(), out.file); }
  void operator()(Preset) const {
    for (const std::string& word : list_of(text())) {
      if (word == "direct")
        out.preset_direct = true;
      else if (word == "incompressible")
        out.payload = "random";
      else
        throw SysbenchRefusal(fmt::format("--preset={}: there are direct and incompressible", word),
                              Place::kStderr);
    }
  }
};

struct SysbenchWord {
  const Option* option = nullptr;
  std::optional<std::string> value;
  std::string word;
};

SysbenchWord option_word(const std::string& word) {
  const auto equals = word.find('=');
  SysbenchWord out;
  out.word = word;
  out.option =
      find_sysbench_option(word.substr(2, equals == std::string::npos ? equals : equals - 2));
  if (equals != std::string::npos) out.value = word.substr(equals + 1);
  return out;
}

bool is_one_of(const std::string& word, std::initializer_list<const char*> words) {
  return std::any_of(words.begin(), words.end(), [&](const char* one) { return word == one; });
}

void check_common(Arguments& arguments) {
  if (arguments.threads <= 0)
    throw SysbenchRefusal(
        fmt::format("FATAL: Invalid value for --threads: {}.\n", arguments.threads),
        Place::kStdout);
  if (arguments.percentile < 0 || arguments.percentile > 100)
    throw SysbenchRefusal(
        fmt::format("FATAL: Invalid value for --percentile: {}", arguments.percentile),
        Place::kStdout);
  if (!is_one_of(arguments.rand_type, {"uniform", "gaussian", "special", "pareto"}))
    throw SysbenchRefusal(
        fmt::format("FATAL: Invalid random numbers distribution: {}.", arguments.rand_type),
        Place::kStdout);
  const auto not_negative = [](const char* name, int64_t value) {
    if (value < 0)
      throw SysbenchRefusal(fmt::format("FATAL: Invalid value for --{}: {}", name, value),
                            Place::kStdout);
  };
  not_negative("time", arguments.time_s);
  not_negative("rate", arguments.rate);
  not_negative("report-interval", arguments.report_interval_s);
  not_negative("warmup-time", arguments.warmup_time_s);
  if (arguments.events < 0) arguments.events = 0;
  if (arguments.forced_shutdown != "off") {
    const Option& option = *find_sysbench_option("forced-shutdown");
    arguments.forced_shutdown_s = number_of<int>(option, arguments.forced_shutdown);
    if (arguments.forced_shutdown_s < 0) bad_value(option, arguments.forced_shutdown);
  }
  if (!is_one_of(arguments.layout, {"1.0", "1.1"}))
    throw SysbenchRefusal(fmt::format("--layout={}: there are 1.0 and 1.1", arguments.layout),
                          Place::kStderr);
  if (!is_one_of(arguments.payload, {"zeros", "random"}))
    throw SysbenchRefusal(
        fmt::format("--payload={}: there are zeros and random", arguments.payload), Place::kStderr);
}

void check_files(const Files& file) {
  if (file.num <= 0) fatal(fmt::format("Invalid value for file-num: {}", file.num));
  if (file.total_bytes == 0) fatal("Invalid value for file-total-size: 0");
  if (file.block_bytes == 0) fatal("Invalid value for file-block-size: 0.");
  if (file.file_bytes() == 0)
    fatal(
        fmt::format("Invalid value for file-total-size: {} is less than a byte for each of {} "
                    "files",
                    file.total_bytes, file.num));
}

SysbenchAction action_of(const std::string& command) {
  if (command == "prepare") return SysbenchAction::kPrepare;
  if (command == "run") return SysbenchAction::kRun;
  if (command == "cleanup") return SysbenchAction::kCleanup;
  if (command == "help") return SysbenchAction::kFileHelp;
  throw SysbenchRefusal("Unknown command: " + command, Place::kStderrBanner);
}

void apply(const std::vector<SysbenchWord>& words, bool of_test, Arguments& out,
           std::vector<std::string>& warnings) {
  for (const SysbenchWord& word : words) {
    if (!word.option) {
      if (of_test) throw SysbenchRefusal("invalid option: " + word.word, Place::kStderrBanner);
      continue;
    }
    if ((word.option->group == Group::kFile) != of_test) continue;
    if (*word.option->deprecated_for)
      warnings.push_back(fmt::format("WARNING: --{} is deprecated, use --{} instead",
                                     word.option->name, word.option->deprecated_for));
    std::visit(Setter{*word.option, word.value, word.word, out}, word.option->target);
  }
}

}  // namespace

SysbenchMode SysbenchFileOptions::mode() const {
  constexpr std::array kModes = {"seqwr", "seqrewr", "seqrd", "rndrd", "rndwr", "rndrw"};
  return static_cast<SysbenchMode>(std::find(kModes.begin(), kModes.end(), test_mode) -
                                   kModes.begin());
}

SysbenchIo SysbenchFileOptions::io() const {
  return io_mode == "async"  ? SysbenchIo::kAsync
         : io_mode == "mmap" ? SysbenchIo::kMmap
                             : SysbenchIo::kSync;
}

SysbenchArguments parse_sysbench_arguments(const std::vector<std::string>& argv,
                                           std::vector<std::string>& warnings) {
  Arguments out;
  std::vector<SysbenchWord> words;
  std::vector<std::string> names;
  bool old_form = false;
  for (size_t i = 1; i < argv.size(); ++i) {
    const std::string& word = argv[i];
    if (word.starts_with("--test=")) {
      old_form = true;
      names.insert(names.begin(), word.substr(7));
    } else if (word.starts_with("--")) {
      words.push_back(option_word(word));
    } else {
      names.push_back(word);
    }
  }
  if (!names.empty() && names[0] != "fileio") {
    out.action = SysbenchAction::kOtherTest;
    return out;
  }
  if (old_form)
    warnings.emplace_back(
        "WARNING: the --test option is deprecated. You can pass a script name or path on the "
        "command line without any options.");
  if (names.size() > 2)
    throw SysbenchRefusal("Unrecognized command line argument: " + names[2], Place::kStderr);
  apply(words, false, out, warnings);
  if (out.help || out.version) {
    out.action = out.help ? SysbenchAction::kHelp : SysbenchAction::kShowVersion;
    return out;
  }
  check_common(out);
  if (names.empty()) {
    for (const SysbenchWord& word : words)
      if (!word.option) throw SysbenchRefusal("invalid option: " + word.word, Place::kStderr);
    return out;
  }
  apply(words, true, out, warnings);
  out.file.direct |= out.preset_direct;
  if (names.size() < 2)
    throw SysbenchRefusal(
        "The 'fileio' test requires a command argument. See 'sysbench fileio help'",
        Place::kStderrBanner);
  out.action = action_of(names[1]);
  if (out.action != SysbenchAction::kFileHelp) check_files(out.file);
  return out;
}

void check_sysbench_run(const SysbenchArguments& arguments) {
  const Files& file = arguments.file;
  if (file.test_mode.empty())
    throw SysbenchRefusal("FATAL: Missing required argument: --file-test-mode\n",
                          Place::kStdoutBannerHelp);
  if (!is_one_of(file.test_mode, {"seqwr", "seqrewr", "seqrd", "rndrd", "rndwr", "rndrw"}))
    fatal(fmt::format("Invalid IO operations mode: {}.", file.test_mode));
  if (!is_one_of(file.io_mode, {"sync", "async", "mmap"}))
    fatal("unknown I/O mode: " + file.io_mode);
  if (!is_one_of(file.fsync_mode, {"fsync", "fdatasync"}))
    fatal(fmt::format("Invalid fsync mode: {}.", file.fsync_mode));
  if (file.rw_ratio < 0)
    fatal(fmt::format("Invalid value for --file-rw-ratio: {:f}.", file.rw_ratio));
  if (file.fsync_freq < 0)
    fatal(fmt::format("Invalid value for file-fsync-freq: {}.", file.fsync_freq));
  if (file.merged_requests < 0)
    fatal(fmt::format("Invalid value for file-merged-requests: {}.", file.merged_requests));
  if (file.io() == SysbenchIo::kAsync && file.async_backlog <= 0)
    fatal(fmt::format("Invalid value of file-async-backlog: {}", file.async_backlog));
  if (arguments.validate && file.block_bytes < kLeastCheckedBlock)
    fatal(fmt::format("--validate needs blocks of {} bytes or more", kLeastCheckedBlock));
  if (arguments.rand_type == "pareto" &&
      (arguments.rand_pareto_h <= 0 || arguments.rand_pareto_h >= 1))
    fatal("--rand-pareto-h takes a number between 0 and 1");
  // A sequential run reads and writes what there is.
  const bool whole_blocks =
      file.mode() >= SysbenchMode::kRndRd || file.direct || arguments.validate;
  if (whole_blocks && file.block_bytes > file.file_bytes())
    fatal(fmt::format("Block size {} is larger than a file of {}: nothing can be done in it",
                      sysbench_size_text(file.block_bytes), sysbench_size_text(file.file_bytes())));
}

std::string sysbench_banner() {
  return "sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\n";
}

std::string sysbench_flags_text(const SysbenchFileOptions& options) {
  std::string text;
  if (options.sync) text += "sync ";
  if (options.dsync) text += "dsync ";
  if (options.direct) text += "directio";
  return text.empty() ? "(none)" : text;
}

std::string sysbench_size_text(uint64_t bytes) {
  constexpr std::array kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1024 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  return fmt::format("{:.5g}{}", value, kUnits[unit]);
}

}  // namespace cephmark
