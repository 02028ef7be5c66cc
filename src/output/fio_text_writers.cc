// fio's reports for people and for old scripts: normal and terse.
#include "output/fio_json.h"
#include "output/fio_normal.h"
#include "output/fio_terse.h"
#include "output/writers.h"

namespace cephmark {
namespace {

class FioNormalWriter final : public Writer {
 public:
  explicit FioNormalWriter(std::ostream& out) : out_(out) {}
  void end(const RunResult& result) override {
    out_ << fio_normal_text(fio_json_document(result), fio_job_headers(result));
  }

 private:
  std::ostream& out_;
};

class FioTerseWriter final : public Writer {
 public:
  explicit FioTerseWriter(std::ostream& out) : out_(out) {}
  void end(const RunResult& result) override { out_ << fio_terse_text(fio_json_document(result)); }

 private:
  std::ostream& out_;
};

}  // namespace

std::unique_ptr<Writer> make_fio_normal_writer(std::ostream& out, const WriterOptions&) {
  return std::make_unique<FioNormalWriter>(out);
}

std::unique_ptr<Writer> make_fio_terse_writer(std::ostream& out, const WriterOptions&) {
  return std::make_unique<FioTerseWriter>(out);
}

}  // namespace cephmark
