// Units: sizes, rates and durations as people read and write them. Pure functions.
// These are the rules of our own command line and reports; fio's rules for numbers live in src/job.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cephmark {

inline constexpr uint64_t kKiB = 1024, kMiB = 1024 * kKiB, kGiB = 1024 * kMiB, kTiB = 1024 * kGiB;

/// Our own command line's sizes: a number (decimals allowed) with a unit: K, M, G, T, P and Ki..Pi,
/// KiB..PiB are powers of 1024 (as Ceph's own tools read them), kB, MB.. powers of 1000, B bytes. A
/// bare number is refused with the two readings it could have. `what` names the option in the
/// error. Throws UsageError.
uint64_t parse_size(std::string_view text, std::string_view what);

/// Our own command line's durations: 500ms, 30s, 2m, 1h, 1d, us, ns; a bare number is refused.
/// Throws UsageError.
int64_t parse_duration_ns(std::string_view text, std::string_view what);

/// "4 KiB", "1.5 GiB", "512 B": three significant digits, exact when it is.
std::string format_size(uint64_t bytes);
/// "21.3 MiB/s".
std::string format_rate(double bytes_per_second);
/// "850 ns", "12.3 us", "4.56 ms", "1.20 s", "2m 05s".
std::string format_duration(int64_t ns);
/// "1,234,567".
std::string format_count(uint64_t value);

}  // namespace cephmark
