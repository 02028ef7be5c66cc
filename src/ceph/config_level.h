// config_level: the effective value of an rbd option for an open image, and the level it comes from
// (image > pool > global or ceph.conf or what we set on the connection). Blocks; any thread but a
// library callback.
#pragma once

#include <rbd/librbd.h>

#include <cstdint>
#include <map>
#include <string>

namespace cephmark {

enum class ConfigSource : uint8_t { kConfig, kPool, kImage };

struct ConfigValue {
  std::string value;
  ConfigSource source = ConfigSource::kConfig;
};

/// "the configuration", "the pool", "the image".
const char* config_source_name(ConfigSource source);

/// All rbd options of an open image by name ("rbd_cache", "rbd_qos_iops_limit", ...). Throws Error.
std::map<std::string, ConfigValue> image_options(rbd_image_t image, const std::string& image_name);

/// Limits in force: "iops_limit 50 (the image), read_bps_limit 1048576 (the pool)"; "" when there
/// is none.
std::string qos_text(const std::map<std::string, ConfigValue>& options);

/// What the cache does: "off", "on (writearound)", "on (writeback, write-through until the first
/// flush)".
bool cache_is_on(const std::map<std::string, ConfigValue>& options);
std::string cache_text(const std::map<std::string, ConfigValue>& options);

}  // namespace cephmark
