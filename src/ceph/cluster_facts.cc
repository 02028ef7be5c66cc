#include "ceph/cluster_facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sstream>

#include "base/error.h"

namespace cephmark {
namespace {

/// "ceph version 16.2.15 (618f...) pacific (stable)" -> "16.2.15 pacific".
std::string short_version(const std::string& text) {
  std::istringstream words(text);
  std::string ceph, version, number, hash, name;
  words >> ceph >> version >> number >> hash >> name;
  if (version != "version") return text;
  return name.empty() ? number : number + " " + name;
}

/// An object without members when there is no such row.
Json pool_row(const Json& answer, const char* key, const std::string& pool) {
  if (!answer.is_object() || !answer.contains("pools")) return Json::object();
  for (const Json& row : answer.at("pools"))
    if (row.value(key, "") == pool) return row;
  return Json::object();
}

/// `ceph osd dump` has a profile's numbers as text.
std::string profile_text(const Json& osd_dump, const std::string& name) {
  const Json profile =
      osd_dump.value("erasure_code_profiles", Json::object()).value(name, Json::object());
  const std::string k = profile.value("k", ""), m = profile.value("m", "");
  return k.empty() || m.empty() ? "EC" : fmt::format("EC {}+{}", k, m);
}

template <typename Ask>
Json asked(Ask ask) {
  try {
    return ask();
  } catch (const Error&) {
    return Json();  // the key may not ask
  }
}

}  // namespace

std::string versions_text(const Json& versions) {
  if (!versions.is_object()) return "";
  const Json overall = versions.value("overall", Json::object());
  if (overall.size() == 1) return short_version(overall.begin().key());
  std::vector<std::string> kinds;
  for (const auto& [kind, counts] : versions.items()) {
    if (kind == "overall" || !counts.is_object() || counts.empty()) continue;
    std::vector<std::string> words;
    for (const auto& [version, count] : counts.items())
      words.push_back(fmt::format("{} ({})", short_version(version), count.dump()));
    kinds.push_back(fmt::format("{}: {}", kind, fmt::join(words, ", ")));
  }
  return fmt::format("{}", fmt::join(kinds, "; "));
}

std::string pool_text(const Json& osd_dump, const std::string& pool) {
  const Json row = pool_row(osd_dump, "pool_name", pool);
  if (row.empty()) return "";
  const bool erasure = row.value("type", 1) == 3;
  std::string text = erasure ? profile_text(osd_dump, row.value("erasure_code_profile", ""))
                             : fmt::format("{} replicas", row.value("size", 0));
  text += fmt::format(" (min_size {}), {} PGs", row.value("min_size", 0), row.value("pg_num", 0));
  const std::string mode = row.value("options", Json::object()).value("compression_mode", "none");
  text += mode == "none" ? ", no compression set" : ", compression " + mode;
  std::vector<std::string> applications;
  const Json metadata = row.value("application_metadata", Json::object());
  for (const auto& item : metadata.items()) applications.push_back(item.key());
  text += applications.empty() ? ", no application"
                               : fmt::format(", application {}", fmt::join(applications, ", "));
  return text;
}

double pool_fill(const Json& df, const std::string& pool) {
  const Json row = pool_row(df, "name", pool);
  return row.empty() ? -1 : row.value("stats", Json::object()).value("percent_used", 0.0);
}

std::map<std::string, std::string> cluster_facts(Cluster& cluster,
                                                 const std::vector<std::string>& pools) {
  std::map<std::string, std::string> facts;
  const auto add = [&](const std::string& key, const std::string& value) {
    if (!value.empty()) facts[key] = value;
  };
  try {
    add("version", versions_text(asked([&] {
          return cluster.monitor_command({{"prefix", "versions"}});
        })));
    if (pools.empty()) return facts;
    const Json dump = asked([&] { return cluster.monitor_command({{"prefix", "osd dump"}}); });
    const Json df = asked([&] { return cluster.monitor_command({{"prefix", "df"}}); });
    for (const auto& pool : pools) {
      add("pool " + pool, pool_text(dump, pool));
      const double fill = pool_fill(df, pool);
      if (fill >= 0) add("fill " + pool, fmt::format("{:.1f} %", fill * 100));
    }
  } catch (const std::exception&) {
    // An answer in a form that we do not know: the facts so far stand.
  }
  return facts;
}

}  // namespace cephmark
