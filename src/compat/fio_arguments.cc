#include "compat/fio_arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include "base/spelling.h"
#include "job/known_options.h"
#include "job/numbers.h"

namespace cephmark {
namespace {

enum class Takes : uint8_t { kNothing, kOptional, kValue };

/// What becomes of an option that is fio's own and no job option.
enum class Fate : uint8_t {
  kHonoured,
  kIgnored,  ///< changes nothing that we do
  kRefused,
};

struct ProgramOption {
  std::string_view name;
  Takes takes = Takes::kValue;
  Fate fate = Fate::kHonoured;
  std::string_view why = "";  ///< kRefused: what to use instead
};

constexpr ProgramOption kProgramOptions[] = {
    {"name"},
    {"section"},
    {"output"},
    {"output-format"},
    {"minimal", Takes::kNothing},
    {"append-terse", Takes::kNothing},
    {"terse-version"},
    {"eta"},
    {"eta-newline", Takes::kValue, Fate::kIgnored},
    {"eta-interval", Takes::kValue, Fate::kIgnored},
    {"status-interval"},
    {"readonly", Takes::kNothing},
    {"parse-only", Takes::kNothing},
    {"warnings-fatal", Takes::kNothing},
    {"cmdhelp", Takes::kOptional},
    {"enghelp", Takes::kOptional},
    {"version", Takes::kNothing},
    {"v", Takes::kNothing},
    {"help", Takes::kNothing},
    {"h", Takes::kNothing},
    {"explain", Takes::kNothing},
    {"allow-unsupported", Takes::kNothing},
    {"allow-write"},
    {"max-jobs", Takes::kValue, Fate::kIgnored},
    {"alloc-size", Takes::kValue, Fate::kIgnored},
    {"idle-prof", Takes::kOptional, Fate::kIgnored},
    {"debug", Takes::kValue, Fate::kIgnored},
    {"showcmd", Takes::kOptional, Fate::kRefused, "--parse-only checks a job without running it"},
    {"bandwidth-log", Takes::kOptional, Fate::kRefused,
     "the result keeps the bandwidth of every half second: cephmark results export"},
    {"latency-log", Takes::kValue, Fate::kRefused, "--write_lat_log=PREFIX is the option"},
    {"client", Takes::kValue, Fate::kRefused, "cephmark run --hosts drives many machines"},
    {"server", Takes::kOptional, Fate::kRefused, "cephmark run --hosts drives many machines"},
    {"daemonize", Takes::kValue, Fate::kRefused, "cephmark run --hosts drives many machines"},
    {"remote-config", Takes::kValue, Fate::kRefused, "cephmark run --hosts drives many machines"},
    {"profile", Takes::kValue, Fate::kRefused, "write its options into a job file"},
    {"trigger", Takes::kValue, Fate::kRefused, ""},
    {"trigger-file", Takes::kValue, Fate::kRefused, ""},
    {"trigger-timeout", Takes::kValue, Fate::kRefused, ""},
    {"trigger-remote", Takes::kValue, Fate::kRefused, ""},
    {"aux-path", Takes::kValue, Fate::kRefused, "directory= says where files go"},
    {"inflate-log", Takes::kValue, Fate::kRefused, ""},
    {"merge-blktrace-only", Takes::kNothing, Fate::kRefused, ""},
    {"crctest", Takes::kOptional, Fate::kRefused, ""},
    {"cpuclock-test", Takes::kNothing, Fate::kRefused, ""},
};

const ProgramOption* find_program_option(std::string_view name) {
  for (const auto& option : kProgramOptions)
    if (option.name == name) return &option;
  return nullptr;
}

/// One word of the command line that begins with a dash, taken apart.
struct Word {
  std::string name;  ///< as written, without dashes
  std::string value;
  bool has_value = false;
  SourcePosition where, value_where;
};

class Reader {
 public:
  Reader(const std::vector<std::string>& argv, std::span<const EngineDescription> engines,
         Diagnostics& diagnostics)
      : argv_(argv), engines_(engines), diagnostics_(diagnostics) {
    auto source = std::make_shared<SourceFile>();
    source->name = "command line";
    std::string line;
    for (const std::string& word : argv) {
      columns_.push_back(static_cast<int>(line.size()) + (line.empty() ? 1 : 2));
      line += (line.empty() ? "" : " ") + word;
    }
    source->lines.push_back(line);
    source_ = std::move(source);
  }

  FioArguments read() {
    bool options_over = false;
    for (at_ = 1; at_ < argv_.size(); ++at_) {
      const std::string& word = argv_[at_];
      if (!options_over && word == "--")
        options_over = true;
      else if (options_over || word == "-" || word.empty() || word[0] != '-')
        out_.job_files.push_back(word);
      else
        read_option(word);
    }
    if (!formats_chosen_) out_.formats.normal = true;
    out_.formats.terse |= append_terse_;
    return std::move(out_);
  }

 private:
  SourcePosition position(size_t word, size_t offset, size_t length) const {
    return {source_, 1, columns_[word] + static_cast<int>(offset),
            static_cast<int>(std::max<size_t>(1, length))};
  }

  void read_option(const std::string& text) {
    const size_t dashes = text.starts_with("--") ? 2 : 1;
    const size_t equals = std::min(text.find('='), text.size());
    Word word;
    word.name = text.substr(dashes, equals - dashes);
    word.where = position(at_, dashes, word.name.size());
    word.value_where = word.where;
    if (equals < text.size()) {
      word.has_value = true;
      word.value = text.substr(equals + 1);
      word.value_where = position(at_, equals + 1, word.value.size());
    }
    const std::string name = full_name(word);
    if (name.empty()) return;
    if (const ProgramOption* option = find_program_option(name)) {
      if (take_value(word, name, option->takes)) read_program_option(*option, word);
    } else if (take_value(word, name, is_flag(name) ? Takes::kOptional : Takes::kValue)) {
      add_job_option(name, word);
    }
  }

  /// Fetches the next word where the option needs a value and has none.
  bool take_value(Word& word, const std::string& name, Takes takes) {
    if (takes == Takes::kNothing && word.has_value) {
      diagnostics_.error(word.value_where, fmt::format("--{} takes no value", name));
      return false;
    }
    if (word.has_value || takes != Takes::kValue) return true;
    if (at_ + 1 == argv_.size()) {
      diagnostics_.error(word.where, fmt::format("--{} needs a value", name),
                         fmt::format("--{}=VALUE", name));
      return false;
    }
    ++at_;
    word.has_value = true;
    word.value = argv_[at_];
    word.value_where = position(at_, 0, word.value.size());
    return true;
  }

  bool is_flag(std::string_view name) const {
    if (is_flag_of_fio(name)) return true;
    for (const auto& engine : engines_)
      for (const EngineOption& option : engine.options)
        if ((option.name == name || option.alias == name) &&
            option.kind == EngineOption::Kind::kFlag)
          return true;
    return false;
  }

  /// Every name that an option may have here. An engine's own ones count before ioengine= too:
  /// which engine it is in the end is known only when the job is whole.
  const std::set<std::string, std::less<>>& names() {
    if (!names_.empty()) return names_;
    const auto add = [&](std::string_view name) {
      if (!name.empty()) names_.emplace(name);
    };
    for (const auto& option : kProgramOptions)
      if (option.name.size() > 1) add(option.name);
    for (const KnownOption& option : known_options())
      if (option.engine.empty()) add(option.name), add(option.alias);
    for (const auto& engine : engines_)
      for (const EngineOption& option : engine.options) add(option.name), add(option.alias);
    return names_;
  }

  /// The option that the word names, in full or as a unique beginning; "": an error was said.
  std::string full_name(const Word& word) {
    if (find_program_option(word.name) || names().contains(word.name) ||
        !engines_that_know(word.name).empty())
      return word.name;
    std::vector<std::string> begun;
    if (!word.name.empty())
      for (const std::string& name : names())
        if (name.starts_with(word.name)) begun.push_back(name);
    if (begun.size() == 1 || (!begun.empty() && same_option(begun))) return begun.front();
    if (!begun.empty()) {
      diagnostics_.error(word.where, fmt::format("'--{}' may mean several options", word.name),
                         fmt::format("--{}", fmt::join(begun, ", --")));
      return "";
    }
    const std::vector<std::string> all(names().begin(), names().end());
    const std::string near = closest(word.name, all);
    diagnostics_.error(word.where, fmt::format("there is no option '--{}'", word.name),
                       near.empty() ? "cephmark fio --help; --cmdhelp lists the job options"
                                    : fmt::format("did you mean --{}?", near));
    return "";
  }

  /// Whether the names are one option and its alias ("nrfiles" and "nr_files").
  static bool same_option(const std::vector<std::string>& names) {
    const KnownOption* first = find_known_core(names.front());
    return first && std::all_of(names.begin(), names.end(), [&](const std::string& name) {
             return find_known_core(name) == first;
           });
  }

  void add_job_option(const std::string& name, const Word& word) {
    RawOption option;
    option.name = name;
    option.value = word.value;
    option.has_value = word.has_value;
    option.where = word.where;
    option.value_where = word.value_where;
    if (out_.sections.empty())
      out_.globals.push_back(std::move(option));
    else
      out_.sections.back().options.push_back(std::move(option));
  }

  void open_section(const Word& word) {
    RawSection section;
    section.name = word.value;
    section.where = word.value_where;
    out_.sections.push_back(std::move(section));
    add_job_option("name", word);
  }

  void read_program_option(const ProgramOption& option, const Word& word) {
    if (option.fate == Fate::kRefused) {
      diagnostics_.error(word.where, fmt::format("cephmark fio does not have --{}", option.name),
                         std::string(option.why));
      return;
    }
    if (option.fate == Fate::kIgnored) {
      out_.ignored.emplace_back(option.name);
      return;
    }
    const std::string_view name = option.name;
    if (name == "name") return open_section(word);
    if (name == "section") return void(out_.only_sections.push_back(word.value));
    if (name == "output") return void(out_.output_file = word.value);
    if (name == "output-format") return read_formats(word);
    if (name == "minimal") return choose({.terse = true});
    if (name == "append-terse") return void(append_terse_ = true);
    if (name == "terse-version") return read_terse_version(word);
    if (name == "eta") return read_eta(word.value);
    if (name == "status-interval") return read_status_interval(word);
    if (name == "allow-write") return void(out_.allow_write.push_back(word.value));
    if (name == "cmdhelp") return ask(FioAction::kCommandHelp, word.value);
    if (name == "enghelp") return ask(FioAction::kEngineHelp, word.value);
    if (name == "version" || name == "v") return ask(FioAction::kShowVersion);
    if (name == "help" || name == "h") return ask(FioAction::kHelp);
    if (name == "parse-only") return ask(FioAction::kParseOnly);
    if (name == "readonly") out_.read_only = true;
    if (name == "warnings-fatal") out_.warnings_fatal = true;
    if (name == "explain") out_.explain = true;
    if (name == "allow-unsupported") out_.allow_unsupported = true;
  }

  void ask(FioAction action, const std::string& topic = "") {
    out_.action = action;
    out_.topic = topic;
  }

  void read_formats(const Word& word) {
    FioFormats formats;
    std::string_view rest = word.value;
    while (true) {
      const std::string_view one = rest.substr(0, rest.find(','));
      if (one == "normal")
        formats.normal = true;
      else if (one == "terse" || one == "minimal" || one == "csv")
        formats.terse = true;
      else if (one == "json" || one == "json+")
        formats.json = true, formats.bins |= one == "json+";
      else
        diagnostics_.error(word.value_where, fmt::format("'{}' is no output format", one),
                           "normal, terse, json and json+, several with commas");
      if (one.size() == rest.size()) break;
      rest.remove_prefix(one.size() + 1);
    }
    choose(formats);
  }

  /// A later choice replaces an earlier one.
  void choose(FioFormats formats) {
    formats.terse_version = out_.formats.terse_version;
    out_.formats = formats;
    formats_chosen_ = true;
  }

  void read_terse_version(const Word& word) {
    int version = 0;
    const char* end = word.value.data() + word.value.size();
    const auto [stop, error] = std::from_chars(word.value.data(), end, version);
    if (error == std::errc() && stop == end && version >= 2 && version <= 5)
      out_.formats.terse_version = version;
    else
      diagnostics_.error(word.value_where, "bad terse version", "2, 3, 4 or 5");
  }

  void read_eta(const std::string& value) {
    out_.eta = value == "always"  ? FioEta::kAlways
               : value == "never" ? FioEta::kNever
                                  : FioEta::kAuto;
  }

  void read_status_interval(const Word& word) {
    const NumberReading number = read_number(word.value, NumberKind::kSeconds);
    if (!number.ok() || number.value < 1000) {
      diagnostics_.error(word.value_where, "the status interval is a time of at least 1 ms",
                         "--status-interval=10 for every ten seconds");
      return;
    }
    out_.status_interval_ns = number.value * 1000;
  }

  const std::vector<std::string>& argv_;
  std::span<const EngineDescription> engines_;
  Diagnostics& diagnostics_;
  std::shared_ptr<const SourceFile> source_;
  std::vector<int> columns_;  ///< where each word begins in the line
  std::set<std::string, std::less<>> names_;
  size_t at_ = 1;
  bool append_terse_ = false, formats_chosen_ = false;
  FioArguments out_;
};

}  // namespace

FioArguments parse_fio_arguments(const std::vector<std::string>& argv,
                                 std::span<const EngineDescription> engines,
                                 Diagnostics& diagnostics) {
  return Reader(argv, engines, diagnostics).read();
}

std::span<const FioOptionHelp> fio_option_help() {
  static constexpr FioOptionHelp kHelp[] = {
      {"name", "JOB", "open a job: the job options behind it are its own"},
      {"section", "JOB", "only this job of the job files; repeatable"},
      {"output", "FILE", "write the report there instead of to standard output"},
      {"output-format", "F,...", "normal, terse, json, json+; several with commas"},
      {"minimal", "", "as --output-format=terse"},
      {"append-terse", "", "terse lines besides the other formats"},
      {"terse-version", "N", "2 to 5; 3 unless given"},
      {"eta", "WHEN", "the live line: always, never or auto"},
      {"readonly", "", "refuse jobs that write or trim"},
      {"parse-only", "", "check the jobs and stop"},
      {"warnings-fatal", "", "warnings about the jobs are errors"},
      {"cmdhelp", "[OPTION]", "what a job option is; all of them without a name"},
      {"enghelp", "[ENGINE[,OPTION]]", "the engines, and the options of one"},
      {"version", "", "whose format the reports have, and who writes them"},
      {"allow-write", "TARGET", "write to a device, image or file with data we did not make", true},
      {"allow-unsupported", "", "run without options that cephmark does not honour", true},
      {"explain", "", "say on standard error what makes the numbers doubtful", true},
  };
  return kHelp;
}

std::string fio_help() {
  std::string text =
      "Usage: cephmark fio [OPTIONS] [JOB OPTIONS] [--name=JOB [JOB OPTIONS]]... [JOB FILE]...\n"
      "\n"
      "fio's command line, run natively. Job options are those of job files (--cmdhelp lists "
      "them);\n"
      "before the first --name they are defaults. Options may be written with one dash, with a\n"
      "blank instead of '=', and shortened where that is unique.\n"
      "\n";
  bool ours = false;
  for (const FioOptionHelp& option : fio_option_help()) {
    if (option.ours && !ours) text += "\nNot fio's:\n";
    ours = option.ours;
    const std::string equals = option.value.empty() || option.value[0] == '[' ? "" : "=";
    text += fmt::format("  {:<32} {}\n", fmt::format("--{}{}{}", option.name, equals, option.value),
                        option.help);
  }
  return text +
         "\nExamples:\n"
         "  cephmark fio --name=j --ioengine=rbd --pool=rbd --rbdname=img --rw=randread --bs=4k\n"
         "  cephmark fio --output-format=json --output=out.json job.fio\n";
}

}  // namespace cephmark
