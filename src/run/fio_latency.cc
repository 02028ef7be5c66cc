#include "run/fio_latency.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "base/error.h"

namespace cephmark {
namespace {

// fio: FIO_IO_U_PLAT_GROUP_NR 29 groups of 64; slower I/Os are all counted in the last bucket.
constexpr int64_t kFioRange_ns = int64_t{1} << 34;

double number(const Json& object, const char* key, const std::string& what) {
  const auto found = object.find(key);
  if (found == object.end()) return 0;
  if (!found->is_number()) throw Error(fmt::format("{}: \"{}\" is not a number", what, key));
  return found->get<double>();
}

using Points = std::map<int64_t, uint64_t>;  // value -> how many

Points points_of_bins(const Json& bins, const std::string& what) {
  Points points;
  for (const auto& [key, count] : bins.items()) {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), value);
    if (error != std::errc() || end != key.data() + key.size() || !count.is_number_unsigned())
      throw Error(fmt::format("{}: the bin \"{}\" is malformed", what, key));
    if (count.get<uint64_t>() > 0) points[value] += count.get<uint64_t>();
  }
  return points;
}

// The samples between two percentiles are put where the upper one stands; those above the last at
// the maximum.
Points points_of_percentiles(const Json& percentiles, uint64_t total, int64_t max_ns,
                             const std::string& what) {
  std::map<double, int64_t> list;
  for (const auto& [key, value] : percentiles.items()) {
    double percent = 0;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), percent);
    if (error != std::errc() || end != key.data() + key.size() || !value.is_number())
      throw Error(fmt::format("{}: the percentile \"{}\" is malformed", what, key));
    list[percent] = value.get<int64_t>();
  }
  Points points;
  uint64_t placed = 0;
  for (const auto& [percent, value] : list) {
    const auto up_to = static_cast<uint64_t>(std::ceil(percent / 100 * static_cast<double>(total)));
    if (up_to <= placed) continue;
    const uint64_t reached = std::min(up_to, total);
    points[value] += reached - placed;
    placed = reached;
  }
  if (placed < total) points[max_ns] += total - placed;
  return points;
}

// Histogram::from_json is the one way to give a histogram exact sums beside its buckets.
Histogram assemble(const Points& points, double mean, double stddev, int64_t min_ns,
                   int64_t max_ns) {
  std::map<int, uint64_t> buckets;
  uint64_t count = 0, overflow = 0;
  for (const auto& [value, n] : points) {
    count += n;
    if (value >= Histogram::kRange_ns)
      overflow += n;
    else
      buckets[Histogram::bucket_of(value)] += n;
  }
  if (count == 0) return {};
  const double n = static_cast<double>(count);
  const double low = static_cast<double>(min_ns), high = static_cast<double>(max_ns);
  mean = std::clamp(mean, low, high);
  // fio prints the sample deviation (divided by N - 1).
  const double squares =
      std::clamp(stddev * stddev * (n - 1) / n + mean * mean, mean * mean, high * high);
  Json json;
  json["count"] = count;
  json["min_ns"] = min_ns;
  json["max_ns"] = max_ns;
  json["sum_ns"] = mean * n;
  json["sum_squares"] = squares * n;
  json["overflow"] = overflow;
  json["buckets"] = Json::array();
  for (const auto& [bucket, n_in_it] : buckets) json["buckets"].push_back({bucket, n_in_it});
  return Histogram::from_json(json, "fio latency");
}

// Sees to it that the smallest and the largest sample lie in the first and the last bucket that is
// filled. fio's own bins agree with its min and max but for samples above its range; rebuilt points
// may not.
void fit_ends(Points& points, int64_t min_ns, int64_t max_ns) {
  Points inside;
  uint64_t count = 0;
  for (const auto& [value, n] : points) {
    inside[std::clamp(value, min_ns, max_ns)] += n;
    count += n;
  }
  const auto take_one = [&](Points::iterator at) {
    if (--at->second == 0) inside.erase(at);
  };
  const auto bucket = [](int64_t value) {
    return value < Histogram::kRange_ns ? Histogram::bucket_of(value) : Histogram::kBuckets;
  };
  if (count > 0 && bucket(inside.rbegin()->first) != bucket(max_ns)) {
    take_one(std::prev(inside.end()));
    inside[max_ns] += 1;
  }
  if (count > 1 && bucket(inside.begin()->first) != bucket(min_ns)) {
    take_one(inside.begin());
    inside[min_ns] += 1;
  }
  points = std::move(inside);
}

bool has_entries(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_object() && !found->empty();
}

}  // namespace

FioLatency fio_latency(const Json& latency, const Json* shape, const std::string& what) {
  FioLatency result;
  const auto total = static_cast<uint64_t>(number(latency, "N", what));
  if (total == 0) return result;
  const auto min_ns = static_cast<int64_t>(number(latency, "min", what));
  const auto max_ns = std::max(min_ns, static_cast<int64_t>(number(latency, "max", what)));
  const double mean = number(latency, "mean", what);
  result.beyond_range = max_ns >= kFioRange_ns;

  const bool own = has_entries(latency, "bins") || has_entries(latency, "percentile");
  const Json& from = own || !shape ? latency : *shape;
  Points points;
  if (has_entries(from, "bins")) {
    points = points_of_bins(from["bins"], what);
    result.exact = own;
  } else {
    result.exact = false;
    const Json& list = has_entries(from, "percentile") ? from["percentile"] : Json::object();
    points = list.empty() ? Points{{static_cast<int64_t>(mean), total}}
                          : points_of_percentiles(list, total, max_ns, what);
  }
  if (!own && shape) {
    const auto moved_by = static_cast<int64_t>(mean - number(*shape, "mean", what));
    Points moved;
    for (const auto& [value, n] : points) moved[std::max<int64_t>(0, value + moved_by)] += n;
    points = std::move(moved);
  }
  fit_ends(points, min_ns, max_ns);
  result.histogram = assemble(points, mean, number(latency, "stddev", what), min_ns, max_ns);
  return result;
}

}  // namespace cephmark
