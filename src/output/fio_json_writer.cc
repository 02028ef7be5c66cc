#include "output/fio_json.h"
#include "output/writers.h"

namespace cephmark {
namespace {

class FioJsonWriter final : public Writer {
 public:
  FioJsonWriter(std::ostream& out, bool bins) : out_(out), bins_(bins) {}
  void end(const RunResult& result) override { out_ << fio_json_text(result, {.bins = bins_}); }

 private:
  std::ostream& out_;
  bool bins_;
};

}  // namespace

std::unique_ptr<Writer> make_fio_json_writer(std::ostream& out, const WriterOptions&) {
  return std::make_unique<FioJsonWriter>(out, false);
}

std::unique_ptr<Writer> make_fio_json_plus_writer(std::ostream& out, const WriterOptions&) {
  return std::make_unique<FioJsonWriter>(out, true);
}

}  // namespace cephmark
