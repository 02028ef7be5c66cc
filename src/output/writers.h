// The makers of the writers, one per foo_writer.cc. Rows of writer_table point here.
#pragma once

#include "output/writer.h"

namespace cephmark {

std::unique_ptr<Writer> make_text_writer(std::ostream& out, const WriterOptions& options);
std::unique_ptr<Writer> make_table_writer(std::ostream& out, const WriterOptions& options);
std::unique_ptr<Writer> make_json_writer(std::ostream& out, const WriterOptions& options);
std::unique_ptr<Writer> make_fio_json_writer(std::ostream& out, const WriterOptions& options);
std::unique_ptr<Writer> make_fio_json_plus_writer(std::ostream& out, const WriterOptions& options);
std::unique_ptr<Writer> make_fio_normal_writer(std::ostream& out, const WriterOptions& options);
std::unique_ptr<Writer> make_fio_terse_writer(std::ostream& out, const WriterOptions& options);
std::unique_ptr<Writer> make_csv_writer(std::ostream& out, const WriterOptions& options);

}  // namespace cephmark
