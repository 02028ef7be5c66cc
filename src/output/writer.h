// Writer: turns a run into something people or programs read. One file per format, one row in
// writer_table; the only place below src/cli that writes to the terminal.
#pragma once

#include <memory>
#include <ostream>
#include <span>
#include <string_view>

#include "result/observer.h"
#include "result/run_result.h"

namespace cephmark {

class Writer {
 public:
  virtual ~Writer() = default;
  virtual void begin(const Plan&) {}
  virtual void tick(const TickSample&) {}
  virtual void end(const RunResult& result) = 0;
};

struct WriterOptions {
  bool colour = false;
  int columns = 100;
};

struct WriterRow {
  std::string_view name;  ///< --output NAME
  std::string_view summary;
  std::string_view extension;  ///< ".json"
  std::unique_ptr<Writer> (*create)(std::ostream& out, const WriterOptions& options);
  bool for_people = false;  ///< when nothing was measured, an error message says more
};

std::span<const WriterRow> writer_table();
const WriterRow* find_writer(std::string_view name);

}  // namespace cephmark
