#include "compat/rbd_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <limits>

#include "base/units.h"

namespace cephmark {
namespace {

using RbdSetter = void (*)(RbdArguments&, const std::string& value);

[[noreturn]] void rbd_invalid(std::string_view option) {
  throw RbdRefusal(fmt::format("the argument for option '--{}' is invalid", option));
}

uint64_t rbd_size_of(std::string_view option, const std::string& text) {
  static constexpr std::string_view kUnits = "BKMGTPE";
  uint64_t number = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number);
  const std::string_view unit(end, static_cast<size_t>(last - end));
  const size_t power = unit.empty() ? 0 : kUnits.find(unit[0]);
  const bool is_unit = unit.size() < 2 || (unit.size() == 2 && unit[1] == 'i' && unit[0] != 'B');
  if (error != std::errc() || power == std::string_view::npos || !is_unit ||
      number > (uint64_t{std::numeric_limits<int64_t>::max()} >> (10 * power)))
    rbd_invalid(option);
  return number << (10 * power);
}

unsigned rbd_count_of(std::string_view option, const std::string& text) {
  unsigned number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size())
    throw RbdRefusal(fmt::format("the argument ('{}') for option '--{}' is invalid", text, option));
  return number;
}

void set_rbd_type(RbdArguments& out, const std::string& text) {
  if (text == "read")
    out.type = RbdBenchType::kRead;
  else if (text == "write")
    out.type = RbdBenchType::kWrite;
  else if (text == "readwrite" || text == "rw")
    out.type = RbdBenchType::kReadWrite;
  else
    rbd_invalid("io-type");
}

void set_rbd_pattern(RbdArguments& out, const std::string& text) {
  if (text == "seq")
    out.pattern = RbdBenchPattern::kSequential;
  else if (text == "rand")
    out.pattern = RbdBenchPattern::kRandom;
  else if (text == "full-seq")
    out.pattern = RbdBenchPattern::kFullSequential;
  else
    rbd_invalid("io-pattern");
}

void set_rbd_payload(RbdArguments& out, const std::string& text) {
  using Kind = RbdBenchPayload::Kind;
  if (text == "rand") {
    out.payload.kind = Kind::kRandomByte;
  } else if (text == "rand-str") {
    out.payload.kind = Kind::kRandom;
  } else {
    const unsigned byte = rbd_count_of("pattern-byte", text);
    if (byte > 255) rbd_invalid("pattern-byte");
    out.payload = {Kind::kByte, static_cast<uint8_t>(byte)};
  }
}

// Users are written with their type behind --name and -n, without it behind --id and --user.
std::string rbd_user_of(const std::string& text) {
  return text.starts_with("client.") ? text.substr(7) : text;
}

bool is_plain_value(const std::string& word) {
  return word == "true" || word == "false" || word == "yes" || word == "no" ||
         (!word.empty() && word.find_first_not_of("0123456789") == std::string::npos);
}

struct RbdRow {
  RbdOptionHelp help;
  RbdSetter set;
};

constexpr auto kRbdRows = std::to_array<RbdRow>({
    {{"io-type", 0, "TYPE", "read, write, readwrite or rw (bench needs it)"}, set_rbd_type},
    {{"io-size", 0, "SIZE", "bytes of one I/O (default 4K, less than 4G)"},
     [](RbdArguments& out, const std::string& v) {
       out.io_size_bytes = rbd_size_of("io-size", v);
     }},
    {{"io-threads", 0, "N", "I/Os in flight (default 16)"},
     [](RbdArguments& out, const std::string& v) {
       out.io_threads = rbd_count_of("io-threads", v);
     }},
    {{"io-total", 0, "SIZE", "bytes to move in all (default 1G)"},
     [](RbdArguments& out, const std::string& v) {
       out.io_total_bytes = rbd_size_of("io-total", v);
       out.io_total_given = true;
     }},
    {{"io-pattern", 0, "PATTERN",
      "seq: each thread goes through its own part; full-seq: all through the image one after the "
      "other; rand (default seq)"},
     set_rbd_pattern},
    {{"rw-mix-read", 0, "PERCENT", "share of reads of readwrite (default 50)"},
     [](RbdArguments& out, const std::string& v) {
       out.rw_mix_read = rbd_count_of("rw-mix-read", v);
     }},
    {{"pattern-byte", 0, "BYTE",
      "write this byte (0 to 255) again and again, rand: one drawn at the start, rand-str: data "
      "that does not compress"},
     set_rbd_payload},
    {{"pool", 'p', "POOL", "the image's pool (default rbd)"},
     [](RbdArguments& out, const std::string& v) { out.pool = v; }},
    {{"namespace", 0, "NAME", "the image's namespace"},
     [](RbdArguments& out, const std::string& v) { out.rados_namespace = v; }},
    {{"image", 0, "NAME", "the image"},
     [](RbdArguments& out, const std::string& v) { out.image = v; }},
    {{"conf", 'c', "FILE", "ceph.conf"},
     [](RbdArguments& out, const std::string& v) { out.ceph.conf = v; }},
    {{"cluster", 0, "NAME", "name of the cluster"},
     [](RbdArguments& out, const std::string& v) { out.ceph.cluster = v; }},
    {{"name", 'n', "USER", "Ceph user, with 'client.'"},
     [](RbdArguments& out, const std::string& v) { out.ceph.user = rbd_user_of(v); }},
    {{"id", 0, "USER", "Ceph user, without 'client.'"},
     [](RbdArguments& out, const std::string& v) { out.ceph.user = rbd_user_of(v); }},
    {{"user", 0, "USER", "the same"},
     [](RbdArguments& out, const std::string& v) { out.ceph.user = rbd_user_of(v); }},
    {{"keyring", 'k', "FILE", "keyring of that user"},
     [](RbdArguments& out, const std::string& v) { out.ceph.keyring = v; }},
    {{"keyfile", 'K', "FILE", "file with the key of that user"},
     [](RbdArguments& out, const std::string& v) { out.ceph_options.emplace_back("keyfile", v); }},
    {{"mon_host", 'm', "HOST", "monitors"},
     [](RbdArguments& out, const std::string& v) { out.ceph_options.emplace_back("mon_host", v); }},
    {{"run-time", 0, "TIME", "end after this time (30s, 5m), whatever --io-total says", true},
     [](RbdArguments& out, const std::string& v) {
       out.run_time_ns = parse_duration_ns(v, "--run-time");
     }},
    {{"allow-write", 0, "TARGET", "write to this image although it holds data that is not ours",
      true},
     [](RbdArguments& out, const std::string& v) { out.allow_write.push_back(v); }},
    {{"compat", 0, "", "the original's text and nothing else (the default of a link named rbd)",
      true},
     [](RbdArguments& out, const std::string&) { out.compat = true; }},
    {{"no-compat", 0, "", "latencies, and data that does not compress", true},
     [](RbdArguments& out, const std::string&) { out.compat = false; }},
});

const RbdRow* rbd_row_of(std::string_view name) {
  for (const RbdRow& row : kRbdRows)
    if (row.help.name == name) return &row;
  return nullptr;
}

const RbdRow* rbd_row_of_letter(char letter) {
  for (const RbdRow& row : kRbdRows)
    if (row.help.letter == letter) return &row;
  return nullptr;
}

class RbdReader {
 public:
  explicit RbdReader(const std::vector<std::string>& argv) : argv_(argv) {}

  RbdArguments read() {
    std::vector<std::string> words;
    for (at_ = 1; at_ < argv_.size(); ++at_) {
      const std::string& word = argv_[at_];
      if (word.size() < 2 || word[0] != '-') {
        words.push_back(word);
        if (words.size() == 1 && !take_command(word)) return std::move(out_);
      } else if (word == "--help" || word == "-h") {
        out_.action = RbdAction::kHelp;
        return std::move(out_);
      } else {
        take_option(word);
      }
    }
    if (words.empty()) return std::move(out_);
    if (!unknown_.empty()) throw RbdRefusal(fmt::format("unrecognised option '{}'", unknown_));
    if (words.size() > 2) throw RbdRefusal("too many arguments");
    if (words.size() == 2) out_.image_spec = words[1];
    check();
    return std::move(out_);
  }

 private:
  bool take_command(const std::string& word) {
    out_.action = word == "bench"         ? RbdAction::kBench
                  : word == "bench-write" ? RbdAction::kBenchWrite
                                          : RbdAction::kOther;
    if (out_.action == RbdAction::kBenchWrite) out_.type = RbdBenchType::kWrite;
    return out_.action != RbdAction::kOther;
  }

  // Before the command's word nobody knows yet whose options these are: what is not known here is
  // the original's to judge.
  void take_option(const std::string& word) {
    const bool is_long = word[1] == '-';
    const size_t equals = is_long ? word.find('=') : std::string::npos;
    std::string name =
        word.substr(is_long ? 2 : 1, equals == std::string::npos ? std::string::npos : equals - 2);
    const RbdRow* row = is_long ? rbd_row_of(name) : rbd_row_of_letter(name[0]);
    if (!row && is_long) return take_ceph_option(name, word, equals);
    if (!row) {
      if (unknown_.empty()) unknown_ = word;
      return;
    }
    if (row->help.value.empty()) return row->set(out_, "");
    if (row->help.name == "io-type") type_given_ = true;
    if (equals != std::string::npos) return row->set(out_, word.substr(equals + 1));
    if (!is_long && name.size() > 1) return row->set(out_, name.substr(1));
    if (at_ + 1 == argv_.size())
      throw RbdRefusal(
          fmt::format("the required argument for option '--{}' is missing", row->help.name));
    row->set(out_, argv_[++at_]);
  }

  void take_ceph_option(std::string name, const std::string& word, size_t equals) {
    std::replace(name.begin(), name.end(), '-', '_');
    if (equals != std::string::npos) {
      out_.ceph_options.emplace_back(name, word.substr(equals + 1));
      return;
    }
    // Which option takes a word is not known here: numbers and truth values are taken, the rest
    // is written with '='.
    const bool has_value = at_ + 1 < argv_.size() && is_plain_value(argv_[at_ + 1]);
    out_.ceph_options.emplace_back(name, has_value ? argv_[++at_] : "true");
  }

  void check() const {
    if (out_.action == RbdAction::kBench && !type_given_)
      throw RbdRefusal("--io-type must be specified.", EINVAL);
    if (out_.image_spec.empty() && out_.image.empty())
      throw RbdRefusal("image name was not specified", EINVAL);
    if (out_.type != RbdBenchType::kRead && out_.image_spec.find('@') != std::string::npos)
      throw RbdRefusal("snapshot name specified for a command that doesn't use it", EINVAL);
    if (out_.io_size_bytes == 0) throw RbdRefusal("--io-size should be greater than zero.", EINVAL);
    if (out_.io_threads == 0) throw RbdRefusal("--io-threads should be greater than zero.", EINVAL);
    if (out_.rw_mix_read > 100)
      throw RbdRefusal("--rw-mix-read should not be larger than 100.", EINVAL);
    if (out_.io_threads > kMostThreads)
      throw RbdRefusal(fmt::format("--io-threads is {}, at most {} can be in flight here",
                                   out_.io_threads, kMostThreads),
                       EINVAL);
  }

  static constexpr unsigned kMostThreads = 65'536;

  const std::vector<std::string>& argv_;
  RbdArguments out_;
  size_t at_ = 1;
  bool type_given_ = false;
  std::string unknown_;  ///< the first letter that is no option of bench's
};

constexpr auto kRbdHelp = [] {
  std::array<RbdOptionHelp, kRbdRows.size()> help{};
  for (size_t i = 0; i < kRbdRows.size(); ++i) help[i] = kRbdRows[i].help;
  return help;
}();

}  // namespace

RbdArguments parse_rbd_arguments(const std::vector<std::string>& argv) {
  return RbdReader(argv).read();
}

std::span<const RbdOptionHelp> rbd_option_help() {
  return kRbdHelp;
}

}  // namespace cephmark
