// fio_number: how fio writes a number in few digits: "4821", "18.8MiB", "256k", "9200.7k". Pure
// functions; tests/peer/fio_report_test compares whole reports with the real program's.
#pragma once

#include <cstdint>
#include <string>

namespace cephmark {

enum class FioScale : uint8_t { kDecimal, kBinary };

/// The number divided by 1000 or 1024 until it has at most `digits` digits; what then is left of
/// `digits` goes to decimals (one of the digits counts for the point). `unit`: "", "B", "B/s".
std::string fio_number(uint64_t number, size_t digits, FioScale scale, const char* unit = "");

/// "18.8MiB/s (19.7MB/s)"
std::string fio_rate_pair(uint64_t bytes_per_s);

}  // namespace cephmark
