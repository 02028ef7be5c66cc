#include "ceph/forgotten_watch.h"

#include <fmt/format.h>
#include <rados/librados.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <string>
#include <string_view>

#include "base/error.h"

namespace cephmark {
namespace {

using Pairs = std::map<std::string, std::string>;

/// All that an object in a replicated pool holds, but for the bytes.
struct ObjectContent {
  uint64_t version = 0, size_bytes = 0;
  Pairs omap, attributes;
};

[[noreturn]] void fail(const std::string& object, const char* what, int error) {
  throw Error(fmt::format("cannot {} the header {}: {}", what, object, errno_text(error)));
}

Pairs take_omap(rados_omap_iter_t iterator) {
  Pairs pairs;
  char *key = nullptr, *value = nullptr;
  size_t key_length = 0, value_length = 0;
  while (rados_omap_get_next2(iterator, &key, &value, &key_length, &value_length) == 0 && key)
    pairs.emplace(std::string(key, key_length), std::string(value, value_length));
  rados_omap_get_end(iterator);
  return pairs;
}

Pairs take_attributes(rados_xattrs_iter_t iterator) {
  Pairs pairs;
  const char *name = nullptr, *value = nullptr;
  size_t length = 0;
  while (rados_getxattrs_next(iterator, &name, &value, &length) == 0 && name)
    pairs.emplace(name, std::string(value, length));
  rados_getxattrs_end(iterator);
  return pairs;
}

/// One read operation, and so of one moment; nothing when there is more than one answer holds.
std::optional<ObjectContent> read_object(rados_ioctx_t io, const std::string& object) {
  constexpr uint64_t kMostPairs = 10'000;
  ObjectContent content;
  rados_omap_iter_t omap = nullptr;
  rados_xattrs_iter_t attributes = nullptr;
  unsigned char more = 0;
  int omap_error = 0, attributes_error = 0, stat_error = 0;
  time_t modified = 0;
  const auto operation = rados_create_read_op();
  rados_read_op_omap_get_vals2(operation, "", "", kMostPairs, &omap, &more, &omap_error);
  rados_read_op_getxattrs(operation, &attributes, &attributes_error);
  rados_read_op_stat(operation, &content.size_bytes, &modified, &stat_error);
  const int r = rados_read_op_operate(operation, io, object.c_str(), LIBRADOS_OPERATION_NOFLAG);
  if (r == 0) content.version = rados_get_last_version(io);
  if (omap) content.omap = take_omap(omap);
  if (attributes) content.attributes = take_attributes(attributes);
  rados_release_read_op(operation);
  for (const int error : {r, omap_error, attributes_error, stat_error})
    if (error < 0) fail(object, "read", error);
  if (more || content.size_bytes > 0) return std::nullopt;
  return content;
}

/// False when somebody changed the object since it was read.
bool make_anew(rados_ioctx_t io, const std::string& object, const ObjectContent& content) {
  std::vector<const char*> keys, values;
  std::vector<size_t> key_lengths, value_lengths;
  for (const auto& [key, value] : content.omap) {
    keys.push_back(key.data());
    key_lengths.push_back(key.size());
    values.push_back(value.data());
    value_lengths.push_back(value.size());
  }
  const auto operation = rados_create_write_op();
  rados_write_op_assert_version(operation, content.version);
  rados_write_op_remove(operation);
  rados_write_op_create(operation, LIBRADOS_CREATE_EXCLUSIVE, nullptr);
  for (const auto& [name, value] : content.attributes)
    rados_write_op_setxattr(operation, name.c_str(), value.data(), value.size());
  if (!keys.empty())
    rados_write_op_omap_set2(operation, keys.data(), values.data(), key_lengths.data(),
                             value_lengths.data(), keys.size());
  const int r =
      rados_write_op_operate(operation, io, object.c_str(), nullptr, LIBRADOS_OPERATION_NOFLAG);
  rados_release_write_op(operation);
  if (r == -ERANGE || r == -EOVERFLOW) return false;  // rados_write_op_assert_version
  if (r < 0) fail(object, "rewrite", r);
  return true;
}

}  // namespace

bool drop_forgotten_watches(const std::shared_ptr<Cluster>& cluster, const ImageSpec& spec,
                            const std::set<uint64_t>& dead) {
  const auto image = Image::open(cluster, spec, true);
  if (!image) return true;
  const std::string header = "rbd_header." + image->id();
  const auto io = cluster->io(spec.pool, spec.rados_namespace);
  const auto content = read_object(io.get(), header);
  if (!content) return false;
  const auto watchers = image->watchers();
  if (watchers.empty()) return true;
  const auto is_dead = [&](const ImageWatcher& watcher) { return dead.count(watcher.client) > 0; };
  if (!std::all_of(watchers.begin(), watchers.end(), is_dead)) return false;
  return make_anew(io.get(), header, *content) && image->watchers().empty();
}

}  // namespace cephmark
