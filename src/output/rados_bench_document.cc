#include "output/rados_bench_document.h"

#include <fmt/format.h>

#include <cmath>

namespace cephmark {
namespace {

constexpr std::pair<const char*, double> kQuantiles[] = {
    {"p50", 0.5}, {"p90", 0.9}, {"p95", 0.95}, {"p99", 0.99}, {"p99.9", 0.999}, {"p99.99", 0.9999}};

Json rows_json(const std::vector<RadosBenchRow>& rows) {
  Json out = Json::array();
  for (const RadosBenchRow& row : rows)
    out.push_back({{"sec", row.second},
                   {"cur_ops", row.in_flight},
                   {"started", row.started},
                   {"finished", row.finished},
                   {"avg_bw", row.mean_mib_s},
                   {"cur_bw", row.current_mib_s},
                   {"last_lat", row.latency_s.value_or(0.0)},
                   {"avg_lat", row.mean_latency_s}});
  return out;
}

Json part(const std::optional<RadosBenchSpread>& spread, double RadosBenchSpread::*member,
          bool whole = false) {
  if (!spread) return nullptr;
  const double value = (*spread).*member;
  return whole ? Json(static_cast<int64_t>(std::floor(value + kRounding))) : Json(value);
}

void put_head(Json& out, const RadosBenchReportOptions& options) {
  out["concurrent_ios"] = options.concurrent_ios;
  out["object_size"] = options.object_size_bytes;
  out["op_size"] = options.op_size_bytes;
  out["seconds_to_run"] = options.seconds < 0 ? Json("max") : Json(options.seconds);
  out["max_objects"] = options.max_objects;
  out["object_prefix"] = options.object_prefix;
}

// What the original does not tell; its readers look keys up by name.
void put_more(Json& out, const RadosBenchSummary& summary, const RadosBenchReportOptions& options) {
  Json quantiles = Json::object();
  for (const auto& [name, quantile] : kQuantiles)
    quantiles[name] =
        summary.latency.empty() ? Json() : Json(summary.latency.quantile_ns(quantile) / kNsPerS);
  out["latency_percentiles"] = quantiles;
  out["bandwidth_bytes_per_s"] =
      summary.seconds > 0 ? Json(summary.bytes / summary.seconds) : Json();
  out["errors"] = summary.errors;
  if (!options.run_name.empty()) out["run_name"] = options.run_name;
}

// As the original prints doubles: with six decimals.
std::string value_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_null()) return "n/a";
  if (value.is_number_float()) return fmt::format("{:f}", value.get<double>());
  return value.dump();
}

void make_strings(Json& json) {
  if (json.is_structured())
    for (auto& value : json) make_strings(value);
  else
    json = value_text(json);
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else
      out += c;
  }
  return out;
}

void put_xml(std::string& out, const std::string& name, const Json& value) {
  out += "<" + name + ">";
  if (value.is_object())
    for (const auto& [key, member] : value.items()) put_xml(out, key, member);
  else if (value.is_array())
    for (const auto& element : value) put_xml(out, "data", element);
  else
    out += escaped(value_text(value));
  out += "</" + name + ">";
}

}  // namespace

Json rados_bench_json(const RadosBenchSummary& summary, const std::vector<RadosBenchRow>& rows,
                      const RadosBenchReportOptions& options) {
  using Spread = RadosBenchSpread;
  const bool writes = options.writes;
  Json out = Json::object();
  if (writes) put_head(out, options);
  out["datas"] = rows_json(rows);
  out["total_time_run"] = summary.seconds;
  out[writes ? "total_writes_made" : "total_reads_made"] = summary.ops;
  out[writes ? "write_size" : "read_size"] = options.op_size_bytes;
  out["object_size"] = options.object_size_bytes;
  out["bandwidth"] = summary.mib_s;
  if (writes) {
    out["stddev_bandwidth"] = part(summary.mib_s_spread, &Spread::stddev);
    out["max_bandwidth"] = part(summary.mib_s_spread, &Spread::max);
    out["min_bandwidth"] = part(summary.mib_s_spread, &Spread::min);
  }
  out["average_iops"] = static_cast<uint64_t>(summary.iops);
  out["stddev_iops"] = part(summary.iops_spread, &Spread::stddev);
  out["max_iops"] = part(summary.iops_spread, &Spread::max, true);
  out["min_iops"] = part(summary.iops_spread, &Spread::min, true);
  const Histogram& latency = summary.latency;
  const auto seconds = [&](double ns) { return latency.empty() ? Json() : Json(ns / kNsPerS); };
  out["average_latency"] = seconds(latency.mean_ns());
  if (writes) out["stddev_latency"] = seconds(latency.stddev_ns());
  out["max_latency"] = seconds(latency.max_ns());
  out["min_latency"] = seconds(latency.min_ns());
  if (!options.compat) put_more(out, summary, options);
  if (options.json_strings) make_strings(out);
  return out;
}

std::string rados_bench_xml(const Json& document) {
  std::string out;
  put_xml(out, "bench", document);
  return out;
}

}  // namespace cephmark
