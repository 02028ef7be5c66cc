#include <array>

#include "output/writers.h"

namespace cephmark {
namespace {

constexpr auto kWriters = std::to_array<WriterRow>({
    {"text", "the report that people read", ".txt", make_text_writer, true},
    {"table", "one row per VM process and job (Process, JobName, Read_IOPS, ...)", ".txt",
     make_table_writer, true},
    {"json", "everything that was measured (docs/result-schema.json)", ".json", make_json_writer},
    {"fio-json", "as fio --output-format=json prints it", ".json", make_fio_json_writer},
    {"fio-json+", "the same with the latency histograms (json+)", ".json",
     make_fio_json_plus_writer},
    {"fio-normal", "the text that fio prints for people", ".txt", make_fio_normal_writer, true},
    {"fio-terse", "one line of fields per job, as fio --minimal prints it (version 3)", ".txt",
     make_fio_terse_writer},
    {"csv", "one row per VM, job and kind of I/O, units in the headings", ".csv", make_csv_writer},
});

}  // namespace

std::span<const WriterRow> writer_table() {
  return kWriters;
}

const WriterRow* find_writer(std::string_view name) {
  for (const auto& row : kWriters)
    if (row.name == name) return &row;
  return nullptr;
}

}  // namespace cephmark
