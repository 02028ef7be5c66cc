#include "ceph/image.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <map>

#include "base/error.h"
#include "base/units.h"

namespace cephmark {
namespace {

/// rbd's names of the features that may be asked for (rbd help create).
const std::map<std::string, uint64_t> kFeatures = {
    {"layering", RBD_FEATURE_LAYERING},
    {"striping", RBD_FEATURE_STRIPINGV2},
    {"exclusive-lock", RBD_FEATURE_EXCLUSIVE_LOCK},
    {"object-map", RBD_FEATURE_OBJECT_MAP},
    {"fast-diff", RBD_FEATURE_FAST_DIFF},
    {"deep-flatten", RBD_FEATURE_DEEP_FLATTEN},
    {"journaling", RBD_FEATURE_JOURNALING},
};

uint64_t feature_bits(const std::vector<std::string>& names) {
  uint64_t bits = 0;
  for (const auto& name : names) {
    const auto found = kFeatures.find(name);
    if (found == kFeatures.end())
      throw UsageError(
          fmt::format("rbd has no image feature '{}'", name),
          "layering, striping, exclusive-lock, object-map, fast-diff, deep-flatten, journaling");
    bits |= found->second;
  }
  return bits;
}

uint64_t object_order(uint64_t bytes) {
  if (!std::has_single_bit(bytes) || bytes < 4 * kKiB || bytes > 32 * kMiB)
    throw UsageError(fmt::format("an object size of {} bytes is not possible", bytes),
                     "a power of two from 4K to 32M");
  return std::countr_zero(bytes);
}

[[noreturn]] void fail_on(const ImageSpec& spec, const char* what, int error) {
  const char* hint = "";
  if (error == -EPERM || error == -EACCES)
    hint =
        "the user lacks the osd cap for this pool, or its OSDs may not load the object class rbd "
        "(osd_class_load_list)";
  if (error == -EOPNOTSUPP)
    hint = "its OSDs cannot load the object class rbd: see their osd_class_dir and their logs";
  throw Error(fmt::format("cannot {} image {}: {}", what, spec.text(), errno_text(error)), hint);
}

// librbd moves an image into the trash before it removes it. In a full pool that has no trash yet,
// the OSDs refuse the object that holds it, and librbd says ENOENT. It is empty and may be made all
// the same. False: it was there.
bool make_trash(rados_ioctx_t io) {
  constexpr const char* kTrash = "rbd_trash";  // librbd's name of it
  if (rados_stat(io, kTrash, nullptr, nullptr) != -ENOENT) return false;
  const rados_write_op_t op = rados_create_write_op();
  rados_write_op_create(op, LIBRADOS_CREATE_IDEMPOTENT, nullptr);
  const int r = rados_write_op_operate(op, io, kTrash, nullptr, LIBRADOS_OPERATION_FULL_FORCE);
  rados_release_write_op(op);
  return r == 0;
}

class ImageOptions {
 public:
  ImageOptions() { rbd_image_options_create(&options_); }
  ~ImageOptions() { rbd_image_options_destroy(options_); }
  ImageOptions(const ImageOptions&) = delete;
  ImageOptions& operator=(const ImageOptions&) = delete;
  rbd_image_options_t get() const { return options_; }
  void set(int option, uint64_t value) const {
    rbd_image_options_set_uint64(options_, option, value);
  }

 private:
  rbd_image_options_t options_ = nullptr;
};

void join(std::vector<Extent>& extents) {
  std::sort(extents.begin(), extents.end(),
            [](const Extent& a, const Extent& b) { return a.offset < b.offset; });
  std::vector<Extent> out;
  for (const auto& extent : extents) {
    if (!out.empty() && out.back().offset + out.back().length >= extent.offset)
      out.back().length =
          std::max(out.back().offset + out.back().length, extent.offset + extent.length) -
          out.back().offset;
    else
      out.push_back(extent);
  }
  extents = std::move(out);
}

}  // namespace

std::string ImageSpec::text() const {
  return pool + "/" + (rados_namespace.empty() ? "" : rados_namespace + "/") + name +
         (snapshot.empty() ? "" : "@" + snapshot);
}

ImageSpec parse_image_spec(const std::string& text, const std::string& default_pool,
                           const std::string& default_namespace) {
  ImageSpec spec{default_pool, default_namespace, text, ""};
  if (const auto at = text.rfind('@'); at != std::string::npos) {
    spec.snapshot = text.substr(at + 1);
    spec.name = text.substr(0, at);
    if (spec.snapshot.empty())
      throw UsageError(fmt::format("'{}' names no snapshot after the @", text));
  }
  const std::string path = spec.name;
  const auto first = path.find('/'), last = path.rfind('/');
  if (first != std::string::npos) {
    spec.pool = path.substr(0, first);
    spec.rados_namespace = first == last ? "" : path.substr(first + 1, last - first - 1);
    spec.name = path.substr(last + 1);
  }
  if (spec.pool.empty() || spec.name.empty() || spec.rados_namespace.find('/') != std::string::npos)
    throw UsageError(fmt::format("'{}' is not the name of an image", text),
                     "[POOL/[NAMESPACE/]]IMAGE[@SNAP]");
  return spec;
}

void create_image(Cluster& cluster, const ImageSpec& spec, const ImageShape& shape) {
  const ImageOptions options;
  if (shape.object_size_bytes)
    options.set(RBD_IMAGE_OPTION_ORDER, object_order(shape.object_size_bytes));
  if (!shape.data_pool.empty())
    rbd_image_options_set_string(options.get(), RBD_IMAGE_OPTION_DATA_POOL,
                                 shape.data_pool.c_str());
  if (!shape.features.empty()) options.set(RBD_IMAGE_OPTION_FEATURES, feature_bits(shape.features));
  const auto io = cluster.io(spec.pool, spec.rados_namespace);
  if (!shape.clone_from) {
    if (const int r = rbd_create4(io.get(), spec.name.c_str(), shape.size_bytes, options.get());
        r < 0)
      fail_on(spec, "create", r);
    return;
  }
  // A clone of a snapshot that is not protected needs clone format 2 (Mimic and later).
  options.set(RBD_IMAGE_OPTION_CLONE_FORMAT, 2);
  const auto& parent = *shape.clone_from;
  const auto parent_io = cluster.io(parent.pool, parent.rados_namespace);
  if (const int r = rbd_clone3(parent_io.get(), parent.name.c_str(), parent.snapshot.c_str(),
                               io.get(), spec.name.c_str(), options.get());
      r < 0)
    throw Error(
        fmt::format("cannot clone {} from {}: {}", spec.text(), parent.text(), errno_text(r)));
}

void remove_image(Cluster& cluster, const ImageSpec& spec, const std::function<void()>& alive) {
  const auto io = cluster.io(spec.pool, spec.rados_namespace);
  rados_set_pool_full_try(io.get());  // as rbd rm: what is in a full pool can be removed
  const auto tell = [](uint64_t, uint64_t, void* to) {
    const auto& told = *static_cast<const std::function<void()>*>(to);
    if (told) told();
    return 0;
  };
  const auto remove = [&] {
    return rbd_remove_with_progress(io.get(), spec.name.c_str(), tell,
                                    const_cast<std::function<void()>*>(&alive));
  };
  int r = remove();
  if (r == -ENOENT || r == -EDQUOT || r == -ENOSPC) {
    const auto names = list_images(cluster, spec.pool, spec.rados_namespace);
    const bool there = std::binary_search(names.begin(), names.end(), spec.name);
    if (there && make_trash(io.get())) r = remove();
  }
  if (r == -EBUSY)
    throw Error(fmt::format("cannot remove image {}: it is in use", spec.text()),
                "rbd status names the watchers");
  if (r == -ENOTEMPTY)
    throw Error(fmt::format("cannot remove image {}: it has snapshots", spec.text()),
                "rbd snap purge");
  if (r < 0) fail_on(spec, "remove", r);
}

std::vector<std::string> list_images(Cluster& cluster, const std::string& pool,
                                     const std::string& rados_namespace) {
  const auto io = cluster.io(pool, rados_namespace);
  std::vector<rbd_image_spec_t> images(1024);
  size_t count = images.size();
  int r;
  while ((r = rbd_list2(io.get(), images.data(), &count)) == -ERANGE) {
    count += 64;  // more may come meanwhile
    images.resize(count);
  }
  if (r < 0) throw Error(fmt::format("cannot list the images of pool {}: {}", pool, errno_text(r)));
  std::vector<std::string> names;
  for (size_t i = 0; i < count; ++i) names.emplace_back(images[i].name);
  rbd_image_spec_list_cleanup(images.data(), count);
  std::sort(names.begin(), names.end());
  return names;
}

bool is_in_trash(Cluster& cluster, const ImageSpec& spec) {
  const auto io = cluster.io(spec.pool, spec.rados_namespace);
  std::vector<rbd_trash_image_info_t> entries(64);
  size_t count = entries.size();
  int r;
  while ((r = rbd_trash_list(io.get(), entries.data(), &count)) == -ERANGE) entries.resize(count);
  if (r < 0) return false;
  bool found = false;
  for (size_t i = 0; i < count; ++i) found = found || spec.name == entries[i].name;
  rbd_trash_list_cleanup(entries.data(), count);
  return found;
}

std::vector<std::string> list_namespaces(Cluster& cluster, const std::string& pool) {
  const auto io = cluster.io(pool);
  std::string buffer(4096, '\0');
  size_t size = buffer.size();
  int r;
  while ((r = rbd_namespace_list(io.get(), buffer.data(), &size)) == -ERANGE) buffer.resize(size);
  if (r == -ENOENT) return {};
  if (r < 0)
    throw Error(fmt::format("cannot list the namespaces of pool {}: {}", pool, errno_text(r)));
  std::vector<std::string> names;
  for (size_t at = 0; at < size && buffer[at]; at += names.back().size() + 1)
    names.emplace_back(buffer.c_str() + at);
  return names;
}

std::unique_ptr<Image> Image::open(std::shared_ptr<Cluster> cluster, const ImageSpec& spec,
                                   bool read_only) {
  std::unique_ptr<Image> image(new Image);
  image->io_ = cluster->io(spec.pool, spec.rados_namespace);
  image->cluster_ = std::move(cluster);
  image->spec_ = spec;
  const char* snapshot = spec.snapshot.empty() ? nullptr : spec.snapshot.c_str();
  const int r = (read_only ? rbd_open_read_only : rbd_open)(image->io_.get(), spec.name.c_str(),
                                                            &image->image_, snapshot);
  if (r < 0) image->image_ = nullptr;
  if (r == -ENOENT) return nullptr;
  if (r < 0) image->fail("open", r);
  return image;
}

Image::~Image() {
  if (image_) rbd_close(image_);
}

void Image::fail(const char* what, int error) const {
  fail_on(spec_, what, error);
}

std::string Image::id() {
  char id[256] = "";
  if (const int r = rbd_get_id(image_, id, sizeof id); r < 0) fail("read the id of", r);
  return id;
}

uint64_t Image::size_bytes() {
  uint64_t size = 0;
  if (const int r = rbd_get_size(image_, &size); r < 0) fail("read the size of", r);
  return size;
}

uint64_t Image::object_size_bytes() {
  rbd_image_info_t info;
  if (const int r = rbd_stat(image_, &info, sizeof info); r < 0) fail("examine", r);
  return info.obj_size;
}

void Image::resize(uint64_t bytes) {
  const auto nothing = [](uint64_t, uint64_t, void*) { return 0; };
  if (const int r = rbd_resize2(image_, bytes, false, nothing, nullptr); r < 0) fail("resize", r);
}

std::string Image::data_pool() {
  const int64_t id = rbd_get_data_pool_id(image_);
  if (id < 0) fail("find the data pool of", static_cast<int>(id));
  char name[512] = "";
  const int r = rados_pool_reverse_lookup(cluster_->rados(), id, name, sizeof name);
  if (r < 0) fail("find the data pool of", r);
  return name;
}

std::optional<std::string> parent_of(rbd_image_t image, int* error) {
  rbd_linked_image_spec_t parent{};
  rbd_snap_spec_t snapshot{};
  const int r = rbd_get_parent(image, &parent, &snapshot);
  if (error) *error = r;
  if (r == -ENOENT) return "";
  if (r < 0) return std::nullopt;
  const ImageSpec spec{parent.pool_name, parent.pool_namespace, parent.image_name, snapshot.name};
  rbd_linked_image_spec_cleanup(&parent);
  rbd_snap_spec_cleanup(&snapshot);
  return spec.text();
}

std::string Image::parent() {
  int error = 0;
  const auto parent = parent_of(image_, &error);
  if (!parent) fail("read the parent of", error);
  return *parent;
}

std::vector<std::string> Image::snapshots() {
  std::vector<rbd_snap_info_t> list(64);
  int room = static_cast<int>(list.size()), count;
  while ((count = rbd_snap_list(image_, list.data(), &room)) == -ERANGE) list.resize(room + 1);
  if (count < 0) fail("list the snapshots of", count);
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.emplace_back(list[i].name);
  if (count > 0) rbd_snap_list_end(list.data());
  return names;
}

std::vector<ImageWatcher> Image::watchers() {
  std::vector<rbd_image_watcher_t> list(64);
  size_t count = list.size();
  int r;
  while ((r = rbd_watchers_list(image_, list.data(), &count)) == -ERANGE) list.resize(count);
  if (r < 0) fail("list the watchers of", r);
  std::vector<ImageWatcher> out;
  for (size_t i = 0; i < count; ++i)
    out.push_back({list[i].addr, static_cast<uint64_t>(list[i].id)});
  rbd_watchers_list_cleanup(list.data(), count);
  return out;
}

std::vector<std::string> Image::foreign_locks() {
  std::string tag, clients, cookies, addresses;
  int exclusive = 0;
  ssize_t count = -ERANGE;
  for (size_t room = 1024; count == -ERANGE && room < kMiB; room *= 4) {
    for (auto* text : {&tag, &clients, &cookies, &addresses}) text->assign(room, '\0');
    size_t sizes[] = {room, room, room, room};
    count = rbd_list_lockers(image_, &exclusive, tag.data(), &sizes[0], clients.data(), &sizes[1],
                             cookies.data(), &sizes[2], addresses.data(), &sizes[3]);
  }
  if (count < 0) fail("list the locks of", static_cast<int>(count));
  std::vector<std::string> locks;
  const char *client = clients.c_str(), *cookie = cookies.c_str(), *address = addresses.c_str();
  for (ssize_t i = 0; i < count; ++i) {
    // librbd/ManagedLock.cc: WATCHER_LOCK_COOKIE_PREFIX
    if (!std::string_view(cookie).starts_with("auto "))
      locks.push_back(fmt::format("{} of {} at {}", cookie, client, address));
    client += std::strlen(client) + 1;
    cookie += std::strlen(cookie) + 1;
    address += std::strlen(address) + 1;
  }
  return locks;
}

std::optional<std::string> Image::metadata(const std::string& key) {
  std::string value(4096, '\0');
  size_t length = value.size();
  int r;
  while ((r = rbd_metadata_get(image_, key.c_str(), value.data(), &length)) == -ERANGE)
    value.resize(length);
  if (r == -ENOENT) return std::nullopt;
  if (r < 0) fail("read the metadata of", r);
  return std::string(value.c_str());
}

void Image::set_metadata(const std::string& key, const std::string& value) {
  if (const int r = rbd_metadata_set(image_, key.c_str(), value.c_str()); r < 0)
    fail("write the metadata of", r);
}

void Image::remove_metadata(const std::string& key) {
  if (const int r = rbd_metadata_remove(image_, key.c_str()); r < 0 && r != -ENOENT)
    fail("change the metadata of", r);
}

bool Image::has_data() {
  if (size_bytes() == 0) return false;  // librbd asserts when it is asked for a diff of nothing
  bool found = false;
  const auto visit = [](uint64_t, size_t, int exists, void* argument) {
    if (!exists) return 0;
    *static_cast<bool*>(argument) = true;
    return -ECANCELED;
  };
  const int r = rbd_diff_iterate2(image_, nullptr, 0, size_bytes(), 1, 1, visit, &found);
  if (!found && r < 0) fail("look for data in", r);
  return found;
}

uint64_t Image::allocated_bytes(uint64_t from, uint64_t to) {
  uint64_t bytes = 0;
  to = std::min(to, size_bytes());
  if (from >= to) return 0;
  const auto visit = [](uint64_t, size_t length, int exists, void* argument) {
    if (exists) *static_cast<uint64_t*>(argument) += length;
    return 0;
  };
  if (const int r = rbd_diff_iterate2(image_, nullptr, from, to - from, 1, 1, visit, &bytes); r < 0)
    fail("look for data in", r);
  return std::min(bytes, to - from);
}

std::vector<Extent> Image::written() {
  std::vector<Extent> extents;
  if (size_bytes() == 0) return extents;
  const auto visit = [](uint64_t offset, size_t length, int exists, void* argument) {
    if (exists) static_cast<std::vector<Extent>*>(argument)->push_back({offset, length});
    return 0;
  };
  if (const int r = rbd_diff_iterate2(image_, nullptr, 0, size_bytes(), 0, 0, visit, &extents);
      r < 0)
    fail("look for data in", r);
  join(extents);
  return extents;
}

void Image::write(uint64_t offset, std::span<const char> data) {
  const ssize_t r = rbd_write(image_, offset, data.size(), data.data());
  if (r < 0) fail(fmt::format("write at {} of", offset).c_str(), static_cast<int>(r));
}

void Image::flush() {
  if (const int r = rbd_flush(image_); r < 0) fail("flush", r);
}

}  // namespace cephmark
