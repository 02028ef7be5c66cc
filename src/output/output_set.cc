#include "output/output_set.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "base/error.h"
#include "base/fd.h"
#include "base/spelling.h"

namespace cephmark {
namespace {

std::string all_formats() {
  std::string all;
  for (const auto& row : writer_table()) all += (all.empty() ? "" : ", ") + std::string(row.name);
  return all;
}

const WriterRow* writer_of(const std::string& format, const std::string& spec) {
  if (const WriterRow* row = find_writer(format)) return row;
  std::vector<std::string> names;
  for (const auto& row : writer_table()) names.emplace_back(row.name);
  const std::string all = all_formats();
  const std::string near = closest(format, names);
  throw UsageError(
      fmt::format("--output {}: there is no format '{}'", spec, format),
      near.empty() ? "formats: " + all : fmt::format("did you mean '{}'? formats: {}", near, all));
}

/// Pipes and devices (/dev/null, /dev/fd/3) are written to as they are, never replaced.
bool is_regular_or_new(const std::string& file) {
  struct stat info {};
  return ::stat(file.c_str(), &info) != 0 || S_ISREG(info.st_mode);
}

void check_writable(const std::string& file) {
  struct stat info {};
  if (::stat(file.c_str(), &info) == 0 && S_ISDIR(info.st_mode))
    throw Error(fmt::format("cannot write {}: it is a directory", file), "name a file in it");
  std::string directory = std::filesystem::path(file).parent_path().string();
  if (directory.empty()) directory = ".";
  const bool direct = !is_regular_or_new(file);
  if (::access(direct ? file.c_str() : directory.c_str(), direct ? W_OK : W_OK | X_OK) != 0)
    throw Error(fmt::format("cannot write {}: {}", file, errno_text(errno)),
                fmt::format("make the directory {} or name another one", directory));
}

void write_document(const std::string& file, const std::string& text) {
  if (is_regular_or_new(file)) {
    // A link keeps pointing where it points: what it points to is replaced.
    std::error_code none;
    const auto real = std::filesystem::canonical(file, none);
    write_file_atomically(none ? file : real.string(), text);
    return;
  }
  std::ofstream out(file, std::ios::binary);
  errno = 0;
  out << text << std::flush;
  if (!out) throw Error(fmt::format("cannot write {}: {}", file, errno_text(errno ? errno : EIO)));
}

}  // namespace

std::string output_option_help() {
  return "FORMAT[:FILE], repeatable: " + all_formats();
}

std::ostream& OutputSet::default_out() {
  return std::cout;
}

OutputSet::OutputSet(const std::vector<std::string>& specs, const WriterOptions& options,
                     std::ostream& standard_out)
    : standard_out_(standard_out) {
  for (const auto& spec : specs.empty() ? std::vector<std::string>{"text"} : specs)
    add(spec, options);
}

OutputSet::OutputSet(std::unique_ptr<Writer> own, const std::vector<std::string>& specs,
                     const WriterOptions& options)
    : standard_out_(default_out()) {
  Output output;
  output.writer = std::move(own);
  outputs_.push_back(std::move(output));
  for (const auto& spec : specs) add(spec, options);
}

void OutputSet::add(const std::string& spec, const WriterOptions& options) {
  const size_t colon = spec.find(':');
  Output output;
  output.row = writer_of(spec.substr(0, colon), spec);
  if (colon != std::string::npos) output.file = spec.substr(colon + 1);
  if (colon != std::string::npos && output.file.empty())
    throw UsageError(
        fmt::format("--output {}: the name of the file is missing", spec),
        fmt::format("write {}{}", spec, "report" + std::string(output.row->extension)));
  if (output.file == "-") output.file.clear();
  if (output.file.empty()) {
    if (!on_stdout_.empty())
      throw UsageError(
          fmt::format("--output {} and --output {} both go to standard output", on_stdout_, spec),
          fmt::format("give one of them a file: --output {}:report{}", output.row->name,
                      output.row->extension));
    on_stdout_ = spec;
  } else {
    check_writable(output.file);
  }
  for (const auto& other : outputs_)
    if (!output.file.empty() && other.file == output.file)
      throw UsageError(fmt::format("--output names the file {} twice", output.file));
  WriterOptions own = options;
  if (!output.file.empty()) own.colour = false;
  output.document = std::make_unique<std::ostringstream>();
  output.writer = output.row->create(*output.document, own);
  outputs_.push_back(std::move(output));
}

void OutputSet::begin(const Plan& plan) {
  for (auto& output : outputs_) output.writer->begin(plan);
}

void OutputSet::tick(const TickSample& sample) {
  for (auto& output : outputs_) output.writer->tick(sample);
}

void OutputSet::finish(const RunResult& result, bool measured) {
  std::string failures;
  const auto failed = [&](const std::string& text) {
    failures += (failures.empty() ? "" : "; ") + text;
  };
  for (auto& output : outputs_) {
    if (!output.document) {
      if (measured) output.writer->end(result);
      continue;
    }
    if (!measured && output.row->for_people && output.file.empty()) continue;
    try {
      output.writer->end(result);
      if (!output.file.empty()) {
        write_document(output.file, output.document->str());
        written_files_.push_back(output.file);
        continue;
      }
      errno = 0;
      standard_out_ << output.document->str() << std::flush;
      // A reader that has seen enough (`| head -1`) is no failure.
      if (!standard_out_ && errno != EPIPE)
        failed(fmt::format("cannot write {} to standard output: {}", output.row->name,
                           errno_text(errno ? errno : EIO)));
    } catch (const std::exception& error) {
      failed(fmt::format("--output {}: {}", output.row->name, error.what()));
    }
  }
  if (!failures.empty())
    throw Error(failures,
                "the result is kept all the same where it could be: cephmark results list");
}

}  // namespace cephmark
