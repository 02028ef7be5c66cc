// The RunResult itself, as docs/result-schema.json describes it.
#include "output/writers.h"
#include "result/codec.h"

namespace cephmark {
namespace {

class JsonWriter final : public Writer {
 public:
  explicit JsonWriter(std::ostream& out) : out_(out) {}
  void end(const RunResult& result) override { out_ << result_text(result); }

 private:
  std::ostream& out_;
};

}  // namespace

std::unique_ptr<Writer> make_json_writer(std::ostream& out, const WriterOptions&) {
  return std::make_unique<JsonWriter>(out);
}

}  // namespace cephmark
