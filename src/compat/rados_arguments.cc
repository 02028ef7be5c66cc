#include "compat/rados_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <set>

namespace cephmark {
namespace {

constexpr int kUnreadable = 234;  ///< the original leaves with -EINVAL for a value it cannot read
constexpr uint64_t kMaxDepth = 65536;  ///< of the engine
constexpr const char* kUsage =
    "rados -p POOL bench SECONDS write|seq|rand [options], or rados -p POOL cleanup [options]";

// Options of the original's other subcommands that take a word: it is not the subcommand.
const std::set<std::string_view> kOthersWithValue = {"target-pool",     "snap",
                                                     "snapid",          "min-object-size",
                                                     "max-object-size", "min-op-size",
                                                     "max-op-size",     "max-ops",
                                                     "max-backlog",     "target-throughput",
                                                     "offset-align",    "read-percent",
                                                     "num-objects",     "run-length",
                                                     "workers",         "lock-tag",
                                                     "lock-cookie",     "lock-description",
                                                     "lock-duration",   "lock-type",
                                                     "obj-name-file",   "input-file",
                                                     "object-locator",  "pgid",
                                                     "offset",          "mon-host",
                                                     "keyfile",         "key",
                                                     "omap-key-file"};
const std::map<char, std::string_view> kOthersLetters = {
    {'s', "snap"}, {'S', "snapid"}, {'m', "mon-host"}, {'i', "id"}};

const RadosOptionHelp* find_option(std::string_view name) {
  for (const RadosOptionHelp& option : rados_option_help())
    if (option.name == name) return &option;
  return nullptr;
}

/// The words of a command line, told apart.
struct Words {
  std::vector<std::string> positional;
  std::vector<std::pair<std::string_view, std::string>> options;  ///< name in kOptions, value
  std::vector<std::string> unknown;
  std::string missing_value;  ///< the first option that stands last without its value, as written
};

// The original takes any setting of Ceph's, too: --debug-ms 1, --objecter_inflight_ops=9.
bool looks_like_value(const std::string& word) {
  return !word.empty() && word.find_first_not_of("0123456789./") == std::string::npos;
}

class Splitter {
 public:
  explicit Splitter(const std::vector<std::string>& argv) : argv_(argv) {}

  Words split() {
    for (at_ = 1; at_ < argv_.size(); ++at_) {
      const std::string& word = argv_[at_];
      if (only_words_ || word.size() < 2 || word[0] != '-')
        words_.positional.push_back(word);
      else if (word == "--")
        only_words_ = true;
      else
        take_option(word);
    }
    return std::move(words_);
  }

 private:
  void take_option(const std::string& word) {
    const size_t equals = std::min(word.find('='), word.size());
    std::string name = word.substr(0, equals);
    const bool is_long = name.starts_with("--");
    name.erase(0, is_long ? 2 : 1);
    std::replace(name.begin(), name.end(), '_', '-');
    const RadosOptionHelp* option = is_long ? find_option(name) : find_letter(name);
    bool others = kOthersWithValue.contains(name);
    if (!option && !is_long && name.size() == 1 && kOthersLetters.contains(name[0])) {
      option = find_option(kOthersLetters.at(name[0]));
      others = !option;
    }
    if (!option) {
      const bool next = equals == word.size() && at_ + 1 < argv_.size();
      const bool takes = next && (others || (is_long && looks_like_value(argv_[at_ + 1])));
      words_.unknown.push_back(takes ? word + "=" + argv_[++at_] : word);
      return;
    }
    std::string value;
    if (!option->value.empty()) {
      if (equals < word.size()) {
        value = word.substr(equals + 1);
      } else if (at_ + 1 < argv_.size()) {
        value = argv_[++at_];
      } else {
        if (words_.missing_value.empty()) words_.missing_value = word;
        return;
      }
    }
    words_.options.emplace_back(option->name, value);
  }

  static const RadosOptionHelp* find_letter(const std::string& name) {
    for (const RadosOptionHelp& option : rados_option_help())
      if (option.letter && name.size() == 1 && name[0] == option.letter) return &option;
    return nullptr;
  }

  const std::vector<std::string>& argv_;
  Words words_;
  size_t at_ = 0;
  bool only_words_ = false;
};

[[noreturn]] void fail_value(std::string_view name, std::string_view why) {
  throw RadosUsageError(fmt::format("Invalid value for {}: {}", name, why), "", kUnreadable);
}

// Sizes and counts as the original reads them, and its words for what is wrong.
uint64_t read_number(std::string_view name, const std::string& text, uint64_t at_least) {
  const size_t digits = std::min(text.find_first_not_of("0123456789-+"), text.size());
  const std::string unit = text.substr(digits);
  if (unit == "Bi") fail_value(name, "strict_iecstrtoll: illegal prefix \"Bi\"");
  if (unit.size() > 2) fail_value(name, "strict_iecstrtoll: illegal prefix (length > 2)");
  static constexpr std::string_view kUnits = "BKMGTPE";
  const size_t power = unit.empty() ? 0 : kUnits.find(unit[0]);
  if (power == std::string_view::npos)
    fail_value(name, "strict_iecstrtoll: unit prefix not recognized");
  if (text.starts_with('-')) fail_value(name, "strict_iecstrtoll: value should not be negative");
  const size_t sign = text.starts_with('+');
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data() + sign, text.data() + digits, number);
  if (error == std::errc::invalid_argument || end != text.data() + digits)
    fail_value(name, fmt::format("expected a number, got '{}'", text));
  const uint64_t most = uint64_t{std::numeric_limits<int64_t>::max()} >> (10 * power);
  if (error != std::errc() || number > most)
    fail_value(name, "strict_iecstrtoll: value seems to be too large");
  number <<= 10 * power;
  if (number < at_least) fail_value(name, fmt::format("it must be {} or more", at_least));
  return number;
}

RadosBenchFormat read_format(const std::string& text) {
  static const std::map<std::string_view, RadosBenchFormat> formats = {
      {"plain", RadosBenchFormat::kPlain},
      {"json", RadosBenchFormat::kJson},
      {"json-pretty", RadosBenchFormat::kJsonPretty},
      {"xml", RadosBenchFormat::kXml}};
  if (const auto found = formats.find(text); found != formats.end()) return found->second;
  throw RadosUsageError("unrecognized format: " + text, "plain, json, json-pretty or xml",
                        kUnreadable);
}

bool read_payload(const std::string& text) {
  if (text == "random") return true;
  if (text == "z") return false;
  throw RadosUsageError(fmt::format("--payload: there is no '{}'", text), "z or random");
}

int64_t read_seconds(const std::string& text) {
  if (text == "max") return RadosArguments::kNoLimit;
  int seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || end != text.data() + text.size() || seconds < 0)
    throw RadosUsageError(fmt::format("Invalid value for seconds: '{}'", text),
                          "a whole number, or max");
  return seconds;
}

RadosBenchMode read_mode(const std::string& text) {
  if (text == "write") return RadosBenchMode::kWrite;
  if (text == "seq") return RadosBenchMode::kSequentialRead;
  if (text == "rand") return RadosBenchMode::kRandomRead;
  throw RadosUsageError(fmt::format("bench: there is no '{}': write, seq or rand", text), kUsage);
}

/// What only matters for the checks between options.
struct Given {
  bool block_size = false, object_size = false, format = false, old_parts = false;
  uint64_t op_bytes = 4 << 20, object_bytes = 0;
};

bool take_target(RadosArguments& out, std::string_view name, const std::string& value) {
  if (name == "pool")
    out.pool = value;
  else if (name == "namespace")
    out.rados_namespace = value;
  else if (name == "all")
    out.all_namespaces = true;
  else if (name == "conf")
    out.ceph.conf = value;
  else if (name == "keyring")
    out.ceph.keyring = value;
  else if (name == "name" || name == "id" || name == "user")
    out.ceph.user = value;
  else if (name == "cluster")
    out.ceph.cluster = value;
  else
    return false;
  return true;
}

bool take_flag(RadosArguments& out, std::string_view name, Given& given) {
  if (name == "no-cleanup")
    out.cleanup = false;
  else if (name == "no-hints")
    out.hints = false;
  else if (name == "reuse-bench")
    out.reuse_bench = true;
  else if (name == "no-verify")
    out.verify = false;
  else if (name == "show-time")
    out.show_time = true;
  else if (name == "object" || name == "write-object")
    out.parts.object = true;
  else if (name == "omap" || name == "write-omap")
    out.parts.omap = true;
  else if (name == "xattr" || name == "write-xattr")
    out.parts.xattr = true;
  else if (name == "compat")
    out.compat = true;
  else if (name == "no-compat")
    out.compat = false;
  else if (name == "lab")
    out.lab = true;
  else if (name == "json-strings")
    out.json_strings = true;
  else if (name == "allow-nearfull")
    out.allow_nearfull = true;
  else
    return false;
  given.old_parts |= name.starts_with("write-");
  return true;
}

void take_option(RadosArguments& out, std::string_view name, const std::string& value,
                 Given& given) {
  if (take_target(out, name, value) || take_flag(out, name, given)) return;
  if (name == "concurrent-ios") {
    const uint64_t depth = read_number(name, value, 1);
    if (depth > kMaxDepth) fail_value(name, fmt::format("at most {}", kMaxDepth));
    out.concurrent_ios = static_cast<unsigned>(depth);
  } else if (name == "block-size") {
    given.block_size = true;
    given.op_bytes = read_number(name, value, 1);
  } else if (name == "object-size") {
    given.object_size = true;
    given.object_bytes = read_number(name, value, 1);
  } else if (name == "max-objects") {
    out.max_objects = read_number(name, value, 0);
  } else if (name == "run-name") {
    out.run_name = value;
  } else if (name == "prefix") {
    out.prefix = value;
  } else if (name == "omap-read-start-after") {
    out.omap_start_after = value;
  } else if (name == "omap-read-filter-prefix") {
    out.omap_filter_prefix = value;
  } else if (name == "omap-read-max-return") {
    out.omap_max_return = read_number(name, value, 1);
  } else if (name == "format" || name == "pretty-format") {
    given.format = true;
    out.format = name == "format" ? read_format(value) : RadosBenchFormat::kJsonPretty;
  } else if (name == "output") {
    out.output_file = value;
  } else if (name == "payload") {
    out.random_payload = read_payload(value);
  }
}

// As the original settles them: without -O an object is one op; an op is never larger than it.
void settle_sizes(RadosArguments& out, const Given& given) {
  out.op_size_bytes = given.op_bytes;
  out.object_size_bytes = given.object_size ? given.object_bytes : given.op_bytes;
  out.op_size_bytes = std::min(out.op_size_bytes, out.object_size_bytes);
}

void settle_bench(RadosArguments& out, const std::vector<std::string>& words, const Given& given) {
  if (words.size() < 3)
    throw RadosUsageError("bench needs SECONDS and one of write, seq, rand", kUsage);
  out.seconds = read_seconds(words[1]);
  out.mode = read_mode(words[2]);
  if (out.mode != RadosBenchMode::kWrite) {
    if (given.block_size)
      throw RadosUsageError("-b|--block_size option can be used only with 'write' bench test");
    if (given.old_parts)
      throw RadosUsageError(
          "--write-object, --write-omap and --write-xattr options can only be used with the "
          "'write' bench test",
          "--object, --omap, --xattr are for reads, too");
  }
  if (!out.output_file.empty() && !given.format)
    throw RadosUsageError("-o|--output option can only be used with '--format' option");
  settle_sizes(out, given);
}

}  // namespace

RadosArguments parse_rados_arguments(const std::vector<std::string>& argv) {
  const Words words = Splitter(argv).split();
  RadosArguments out;
  out.command = words.positional.empty() ? "" : words.positional[0];
  const bool bench = out.command == "bench", cleanup = out.command == "cleanup";
  if (!bench && !cleanup && !out.command.empty()) {
    out.action = RadosAction::kOther;
    return out;
  }
  for (const auto& [name, value] : words.options)
    if (name == "help") return out;
  if (!words.missing_value.empty())
    throw RadosUsageError(fmt::format("Option {} requires an argument.", words.missing_value));
  if (out.command.empty())
    throw RadosUsageError("rados: you must give an action. Try --help", kUsage);

  Given given;
  for (const auto& [name, value] : words.options) take_option(out, name, value, given);
  out.unknown = words.unknown;
  out.action = bench ? RadosAction::kBench : RadosAction::kCleanup;
  if (out.pool.empty()) throw RadosUsageError(out.command + " needs a pool: -p POOL", kUsage);
  if (bench) settle_bench(out, words.positional, given);
  if (!out.prefix.empty() && !out.prefix.starts_with("benchmark_data"))
    throw RadosUsageError("Specified --prefix invalid, it must begin with \"benchmark_data\"");
  return out;
}

}  // namespace cephmark
