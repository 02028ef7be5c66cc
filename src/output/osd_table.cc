#include "output/osd_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "output/cells.h"
#include "stats/summary.h"

namespace cephmark {
namespace {

constexpr size_t kFewestPeers = 3;
constexpr double kUsualDistances = 3;     ///< median absolute deviations, as of a normal
constexpr double kNormalFactor = 1.4826;  ///< from a median deviation to a standard deviation
constexpr double kThrottles = 0.8, kPromises = 1.25;
constexpr size_t kLineWidth = 100;

/// "+/- 3 %": half the way from the lowest to the highest, of the median.
std::string spread_text(const Repetitions& runs) {
  if (runs.size() < 2) return "-";
  const auto [low, high] = std::minmax_element(runs.begin(), runs.end());
  const double middle = median(runs);
  return middle > 0 ? fmt::format("+/- {:.0f} %", 50 * (*high - *low) / middle) : "-";
}

std::string value_text(const Repetitions& runs, std::string (*text)(double)) {
  return runs.empty() ? "-" : text(median(runs));
}

using Values = Repetitions OsdBenchRow::*;

// By device class: row -> how it stands.
std::map<size_t, Standing> standings(const std::vector<OsdBenchRow>& rows, Values values) {
  std::map<std::string, std::vector<size_t>> classes;
  for (size_t i = 0; i < rows.size(); ++i)
    if (!(rows[i].*values).empty()) classes[rows[i].device_class].push_back(i);
  std::map<size_t, Standing> out;
  for (const auto& [name, members] : classes) {
    std::vector<double> medians;
    for (const size_t i : members) medians.push_back(median(rows[i].*values));
    const auto all = standings_of(medians);
    for (size_t i = 0; i < members.size(); ++i) out[members[i]] = all[i];
  }
  return out;
}

std::string outlier_lines(const std::vector<OsdBenchRow>& rows, Values values, const char* what) {
  std::string text;
  for (const auto& [i, standing] : standings(rows, values))
    if (standing.outlier)
      text += fmt::format("osd.{} {} {}: {:.2f} of the median of its class ({})\n", rows[i].id,
                          standing.ratio < 1 ? "is slow in" : "is fast in", what, standing.ratio,
                          rows[i].device_class.empty() ? "none" : rows[i].device_class);
  return text;
}

std::string capacity_lines(const std::vector<OsdBenchRow>& rows) {
  std::string text;
  for (const OsdBenchRow& row : rows) {
    if (row.iops.empty() || row.capacity_iops <= 0) continue;
    const double measured = median(row.iops), ratio = row.capacity_iops / measured;
    if (ratio >= kThrottles && ratio <= kPromises) continue;
    std::string line =
        fmt::format("osd.{}: {} says {} IOPS, {} were measured: ", row.id, row.capacity_option,
                    iops_text(row.capacity_iops), iops_text(measured));
    if (row.scheduler != "mclock_scheduler")
      line += fmt::format("without effect while osd_op_queue is {}", row.scheduler);
    else if (ratio < 1)
      line += "mClock throttles recovery and clients below what the OSD can do";
    else
      line += "mClock lets recovery and clients have more than the OSD can do";
    text += wrap(line, kLineWidth, 2) + "\n";
  }
  return text;
}

Json values_json(const Repetitions& runs) {
  if (runs.empty()) return nullptr;
  return {{"runs", runs}, {"median", median(runs)}};
}

}  // namespace

std::vector<Standing> standings_of(const std::vector<double>& values, double far) {
  const double middle = median(values);
  std::vector<double> distances;
  for (const double value : values) distances.push_back(std::abs(value - middle));
  const double usual = kUsualDistances * kNormalFactor * median(distances);
  std::vector<Standing> out;
  for (size_t i = 0; i < values.size(); ++i)
    out.push_back({middle > 0 ? values[i] / middle : 1, values.size() >= kFewestPeers &&
                                                            distances[i] > far * middle &&
                                                            distances[i] > usual});
  return out;
}

std::string osd_bench_text(const std::vector<OsdBenchRow>& rows) {
  TextTable table({"OSD", "HOST", "CLASS", "MiB/s", "SPREAD", "4K IOPS", "SPREAD", "mClock IOPS"},
                  3);
  std::string failures;
  for (const OsdBenchRow& row : rows) {
    table.add({fmt::format("osd.{}", row.id), shorten(row.host, 24), row.device_class,
               value_text(row.bytes_per_s, mib_text), spread_text(row.bytes_per_s),
               value_text(row.iops, iops_text), spread_text(row.iops),
               row.capacity_iops > 0 ? iops_text(row.capacity_iops) : "-"});
    if (!row.failure.empty()) failures += fmt::format("osd.{}: {}\n", row.id, row.failure);
  }
  const std::string notes = outlier_lines(rows, &OsdBenchRow::bytes_per_s, "throughput") +
                            outlier_lines(rows, &OsdBenchRow::iops, "4 KiB writes") +
                            capacity_lines(rows) + failures;
  return table.text() + (notes.empty() ? "" : "\n" + notes);
}

Json osd_bench_json(const std::vector<OsdBenchRow>& rows) {
  Json osds = Json::array();
  const auto throughput = standings(rows, &OsdBenchRow::bytes_per_s),
             iops = standings(rows, &OsdBenchRow::iops);
  const auto is_outlier = [](const std::map<size_t, Standing>& all, size_t i) {
    const auto found = all.find(i);
    return found != all.end() && found->second.outlier;
  };
  for (size_t i = 0; i < rows.size(); ++i) {
    const OsdBenchRow& row = rows[i];
    Json osd = {{"id", row.id},
                {"host", row.host},
                {"device_class", row.device_class},
                {"bytes_per_s", values_json(row.bytes_per_s)},
                {"iops", values_json(row.iops)},
                {"outlier", is_outlier(throughput, i) || is_outlier(iops, i)},
                {"scheduler", row.scheduler},
                {"mclock_capacity_option", row.capacity_option}};
    osd["mclock_capacity_iops"] = row.capacity_iops > 0 ? Json(row.capacity_iops) : Json(nullptr);
    if (!row.failure.empty()) osd["failure"] = row.failure;
    osds.push_back(std::move(osd));
  }
  return {{"osds", osds}};
}

}  // namespace cephmark
