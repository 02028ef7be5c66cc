#include "ceph/config_level.h"

#include <fmt/format.h>

#include <cerrno>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace cephmark {
namespace {

std::string value_of(const std::map<std::string, ConfigValue>& options, const std::string& name) {
  const auto found = options.find(name);
  return found == options.end() ? "" : found->second.value;
}

}  // namespace

const char* config_source_name(ConfigSource source) {
  switch (source) {
    case ConfigSource::kPool:
      return "the pool";
    case ConfigSource::kImage:
      return "the image";
    case ConfigSource::kConfig:
      break;
  }
  return "the configuration";
}

std::map<std::string, ConfigValue> image_options(rbd_image_t image, const std::string& image_name) {
  std::vector<rbd_config_option_t> rows(256);
  int count = static_cast<int>(rows.size());
  int r;
  while ((r = rbd_config_image_list(image, rows.data(), &count)) == -ERANGE) rows.resize(count);
  if (r < 0)
    throw Error(fmt::format("cannot read the settings of image {}: {}", image_name, errno_text(r)));
  std::map<std::string, ConfigValue> options;
  for (int i = 0; i < count; ++i) {
    const auto source = rows[i].source == RBD_CONFIG_SOURCE_IMAGE  ? ConfigSource::kImage
                        : rows[i].source == RBD_CONFIG_SOURCE_POOL ? ConfigSource::kPool
                                                                   : ConfigSource::kConfig;
    options[rows[i].name] = {rows[i].value, source};
  }
  rbd_config_image_list_cleanup(rows.data(), count);
  return options;
}

std::string qos_text(const std::map<std::string, ConfigValue>& options) {
  constexpr std::string_view kPrefix = "rbd_qos_";
  std::string text;
  for (const auto& [name, option] : options) {
    if (!name.starts_with(kPrefix) || !name.ends_with("_limit") || option.value == "0") continue;
    if (!text.empty()) text += ", ";
    text += fmt::format("{} {} (set on {})", name.substr(kPrefix.size()), option.value,
                        config_source_name(option.source));
  }
  return text;
}

bool cache_is_on(const std::map<std::string, ConfigValue>& options) {
  return value_of(options, "rbd_cache") == "true";
}

std::string cache_text(const std::map<std::string, ConfigValue>& options) {
  if (!cache_is_on(options)) return "off";
  std::string text = "on (" + value_of(options, "rbd_cache_policy");
  if (value_of(options, "rbd_cache_writethrough_until_flush") == "true")
    text += ", write-through until the first flush";
  return text + ")";
}

}  // namespace cephmark
