// OutputSet: the outputs that a command line asked for (--output FORMAT[:FILE], repeatable). Owned
// by a command; one thread at a time. stdout gets exactly one document, at the end and whole; files
// are written beside their name and put in place in one step, so that a reader never sees half of
// one and an older one survives a full disk.
#pragma once

#include <memory>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "output/writer.h"

namespace cephmark {

/// "FORMAT[:FILE], repeatable: text, table, ...": what --output takes, for help texts.
std::string output_option_help();

class OutputSet {
 public:
  /// Reads the specs; none at all: `text`. Throws UsageError for an unknown format (with "did you
  /// mean"), more than one without FILE, one FILE named twice; Error for a FILE that cannot be
  /// written (found now, not after the run). An existing file is replaced. `-` as FILE means
  /// stdout.
  explicit OutputSet(const std::vector<std::string>& specs, const WriterOptions& options = {},
                     std::ostream& standard_out = default_out());

  /// A front end's own writer alone, which writes to its stream as the run goes on; and what
  /// `specs` add to it. It is not asked for an end when nothing was measured.
  explicit OutputSet(std::unique_ptr<Writer> own, const std::vector<std::string>& specs = {},
                     const WriterOptions& options = {});

  void begin(const Plan& plan);
  void tick(const TickSample& sample);

  /// Writes all documents. One that cannot be written does not keep the others from being written;
  /// then Error (exit 3) names each that failed and why.
  void end(const RunResult& result) { finish(result, true); }
  /// The same for a run that failed before it measured anything: what people would read on stdout
  /// is left out, since the error message says it; programs get their document, with the error in
  /// it.
  void end_failed(const RunResult& result) { finish(result, false); }

  /// The files that were written, for "written to ..." on stderr.
  const std::vector<std::string>& written_files() const { return written_files_; }

 private:
  static std::ostream& default_out();
  void add(const std::string& spec, const WriterOptions& options);
  void finish(const RunResult& result, bool measured);

  struct Output {
    const WriterRow* row = nullptr;
    std::string file;                              ///< empty: stdout
    std::unique_ptr<std::ostringstream> document;  ///< null: the writer has a stream of its own
    std::unique_ptr<Writer> writer;
  };

  std::ostream& standard_out_;
  std::vector<Output> outputs_;
  std::string on_stdout_;  ///< the spec whose document goes there
  std::vector<std::string> written_files_;
};

}  // namespace cephmark
