#include "stats/series.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "stats/json_reader.h"

namespace cephmark {

void SlotSample::merge(const SlotSample& other) {
  ios += other.ios;
  bytes += other.bytes;
  errors += other.errors;
  response_sum_ns += other.response_sum_ns;
  response_max_ns = std::max(response_max_ns, other.response_max_ns);
}

void Series::merge(const Series& other) {
  if (other.slots_.empty()) return;
  if (slots_.empty()) slot_ns_ = other.slot_ns_;
  if (slot_ns_ != other.slot_ns_)
    throw Error(fmt::format("interval series of {} ns and of {} ns per slot cannot be merged",
                            slot_ns_, other.slot_ns_),
                "run all hosts with the same interval");
  at(other.slots_.size() - 1);
  for (size_t i = 0; i < other.slots_.size(); ++i) slots_[i].merge(other.slots_[i]);
}

Json Series::to_json() const {
  Json slots = Json::array();
  for (const auto& slot : slots_)
    slots.push_back(Json::array(
        {slot.ios, slot.bytes, slot.errors, slot.response_sum_ns, slot.response_max_ns}));
  Json json;
  json["slot_ns"] = slot_ns_;
  json["slots"] = std::move(slots);
  return json;
}

Series Series::from_json(const Json& json, const std::string& what) {
  const JsonReader reader(json, what, 2);
  Series series(reader.nanoseconds("slot_ns"));
  if (series.slot_ns_ == 0) reader.fail("\"slot_ns\" is 0");
  const Json& slots = reader.array("slots");
  series.slots_.reserve(slots.size());
  for (const Json& row : slots) {
    const auto place = [&](const char* field) {
      return fmt::format("{} of slot {}", field, series.slots_.size());
    };
    if (!row.is_array() || row.size() != 5)
      reader.fail(fmt::format("slot {} is not a row of 5 numbers", series.slots_.size()));
    SlotSample slot;
    slot.ios = reader.count_at(row[0], place("ios"));
    slot.bytes = reader.count_at(row[1], place("bytes"));
    slot.errors = reader.count_at(row[2], place("errors"));
    slot.response_sum_ns =
        static_cast<int64_t>(reader.count_at(row[3], place("response_sum_ns"), INT64_MAX));
    slot.response_max_ns =
        static_cast<int64_t>(reader.count_at(row[4], place("response_max_ns"), INT64_MAX));
    if (slot.response_max_ns > slot.response_sum_ns)
      reader.fail(fmt::format("slot {} has a maximum above its sum", series.slots_.size()));
    series.slots_.push_back(slot);
  }
  return series;
}

}  // namespace cephmark
