#include "output/fio_normal_direction.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "output/fio_number.h"

namespace cephmark {
namespace {

struct Unit {
  const char* name;
  uint64_t ns;
};

/// fio's choice of nsec, usec or msec, so that neither end of the range is lost.
Unit unit_for(uint64_t min_ns, uint64_t max_ns, double deviation_ns) {
  if (min_ns > 2'000'000 && max_ns > 99'999'999 && deviation_ns > 1'000'000)
    return {"msec", 1'000'000};
  if (min_ns > 2'000 && max_ns > 99'999 && deviation_ns > 1'000) return {"usec", 1'000};
  return {"nsec", 1};
}

/// "    slat (nsec): min=275, max=9200.7k, avg=28856.57, stdev=226494.30"
std::string latency_line(const Json& latency, const char* label) {
  if (latency.at("N").get<uint64_t>() == 0) return "";
  const auto min = latency.at("min").get<uint64_t>(), max = latency.at("max").get<uint64_t>();
  const auto mean = latency.at("mean").get<double>(), dev = latency.at("stddev").get<double>();
  const Unit unit = unit_for(min, max, dev);
  const auto scale = static_cast<double>(unit.ns);
  return fmt::format("    {} ({}): min={}, max={}, avg={:5.2f}, stdev={:5.2f}\n", label, unit.name,
                     fio_number(min / unit.ns, 6, FioScale::kDecimal),
                     fio_number(max / unit.ns, 6, FioScale::kDecimal), mean / scale, dev / scale);
}

/// The table of percentiles, as many to a line as fit 80 columns.
std::string percentile_lines(const Json& latency, const char* label) {
  const auto found = latency.find("percentile");
  if (found == latency.end() || found->empty()) return "";
  std::vector<std::pair<double, uint64_t>> values;
  for (const auto& [key, value] : found->items())
    values.emplace_back(std::stod(key), value.get<uint64_t>());
  uint64_t least = values.front().second, most = least;
  for (const auto& [percent, ns] : values) {
    least = std::min(least, ns);
    most = std::max(most, ns);
  }
  const Unit unit = unit_for(least, most, HUGE_VAL);
  const auto shown = [&](uint64_t ns) { return (ns + unit.ns - 1) / unit.ns; };
  constexpr int kPrecision = 2;
  const size_t width = std::max<size_t>(5, std::to_string(shown(most)).size());
  const size_t per_line = (80 - 7) / (kPrecision + 10 + width);
  std::string out = fmt::format("    {} percentiles ({}):\n     |", label, unit.name);
  for (size_t i = 0; i < values.size(); ++i) {
    if (i != 0 && i % per_line == 0) out += "     |";
    const bool last = i + 1 == values.size();
    out += fmt::format(" {:{}.{}f}th=[{:{}}]{}", values[i].first, kPrecision + 3, kPrecision,
                       shown(values[i].second), width, last ? "\n" : ",");
    if (!last && i % per_line == per_line - 1) out += "\n";
  }
  return out;
}

std::string bandwidth_line(const Json& direction) {
  if (direction.at("bw_samples").get<uint64_t>() == 0) return "";
  auto min = direction.at("bw_min").get<uint64_t>(), max = direction.at("bw_max").get<uint64_t>();
  auto mean = direction.at("bw_mean").get<double>(), dev = direction.at("bw_dev").get<double>();
  const char* unit = "KiB";
  if (mean > 1024.0 * 1024) {
    min /= 1024;
    max /= 1024;
    mean /= 1024;
    dev /= 1024;
    unit = "MiB";
  }
  return fmt::format(
      "   bw ({:>5}/s): min={:5}, max={:5}, per={:3.2f}%, avg={:5.2f}, stdev={:5.2f}, samples={}\n",
      unit, min, max, direction.at("bw_agg").get<double>(), mean, dev,
      direction.at("bw_samples").get<uint64_t>());
}

std::string iops_line(const Json& direction) {
  if (direction.at("iops_samples").get<uint64_t>() == 0) return "";
  return fmt::format(
      "   iops        : min={:5}, max={:5}, avg={:5.2f}, stdev={:5.2f}, samples={}\n",
      direction.at("iops_min").get<uint64_t>(), direction.at("iops_max").get<uint64_t>(),
      direction.at("iops_mean").get<double>(), direction.at("iops_stddev").get<double>(),
      direction.at("iops_samples").get<uint64_t>());
}

}  // namespace

std::string fio_direction_lines(const Json& direction, const char* name) {
  const auto runtime_ms = direction.at("runtime").get<uint64_t>();
  if (runtime_ms == 0) return "";
  const auto bytes = direction.at("io_bytes").get<uint64_t>();
  // Whole numbers throughout, as fio computes them.
  const uint64_t iops = 1000 * direction.at("total_ios").get<uint64_t>() / runtime_ms;
  std::string out =
      fmt::format("  {}: IOPS={}, BW={}({}/{}msec)\n", name,
                  fio_number(iops, 4, FioScale::kDecimal), fio_rate_pair(1000 * bytes / runtime_ms),
                  fio_number(bytes, 4, FioScale::kBinary, "B"), runtime_ms);
  out += latency_line(direction.at("slat_ns"), "slat");
  out += latency_line(direction.at("clat_ns"), "clat");
  out += latency_line(direction.at("lat_ns"), " lat");
  out += percentile_lines(direction.at("slat_ns"), "slat");
  out += percentile_lines(direction.at("clat_ns"), "clat");
  out += percentile_lines(direction.at("lat_ns"), "lat");
  return out + bandwidth_line(direction) + iops_line(direction);
}

std::string fio_sync_lines(const Json& sync) {
  if (sync.at("lat_ns").at("N").get<uint64_t>() == 0) return "";
  return "  fsync/fdatasync/sync_file_range/syncfs:\n" + latency_line(sync["lat_ns"], "sync") +
         percentile_lines(sync["lat_ns"], "sync");
}

}  // namespace cephmark
