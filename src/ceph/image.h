// Image: one RBD image opened for set-up work (examining, tagging, prefill, removal), never for
// measured I/O; and what can be done to images by name. Blocks; any thread but a library callback.
// One Image may be used by several threads.
#pragma once

#include <rbd/librbd.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ceph/cluster.h"

namespace cephmark {

/// pool/namespace/image@snapshot.
struct ImageSpec {
  std::string pool, rados_namespace, name, snapshot;
  /// "rbd/HOST-0", "rbd/ns/HOST-0@snap".
  std::string text() const;
  bool operator==(const ImageSpec&) const = default;
};
/// [POOL/[NAMESPACE/]]IMAGE[@SNAP]; what is left out comes from the defaults. Throws UsageError.
ImageSpec parse_image_spec(const std::string& text, const std::string& default_pool = "rbd",
                           const std::string& default_namespace = "");

struct ImageShape {
  uint64_t size_bytes = 0;
  uint64_t object_size_bytes =
      0;  ///< 0: the library's default; else a power of two, 4 KiB to 32 MiB
  std::string data_pool;
  std::vector<std::string> features;    ///< empty: the library's default; rbd's names
  std::optional<ImageSpec> clone_from;  ///< a snapshot; size_bytes 0 then means its size
};

struct ImageWatcher {
  std::string address;
  uint64_t client = 0;  ///< librados instance id: client.N
};

struct Extent {
  uint64_t offset = 0, length = 0;
  bool operator==(const Extent&) const = default;
};

/// Throws Error that names the image and errno.
void create_image(Cluster& cluster, const ImageSpec& spec, const ImageShape& shape);
/// `alive` is called now and then while objects are being removed, from a library thread; may be
/// empty.
void remove_image(Cluster& cluster, const ImageSpec& spec, const std::function<void()>& alive = {});
/// Names in a pool and namespace, sorted.
std::vector<std::string> list_images(Cluster& cluster, const std::string& pool,
                                     const std::string& rados_namespace);
/// True when an image of that name is in the trash; false, too, when the key may not look.
bool is_in_trash(Cluster& cluster, const ImageSpec& spec);
std::vector<std::string> list_namespaces(Cluster& cluster, const std::string& pool);

/// "pool/image@snap" of an open image; empty: no clone. Nothing, and `error`, when it cannot be
/// read.
std::optional<std::string> parent_of(rbd_image_t image, int* error = nullptr);

class Image {
 public:
  /// Read-only opens register no watcher. Null when the image (or snapshot) does not exist. Throws
  /// Error otherwise.
  static std::unique_ptr<Image> open(std::shared_ptr<Cluster> cluster, const ImageSpec& spec,
                                     bool read_only);
  ~Image();

  const ImageSpec& spec() const { return spec_; }
  std::string id();
  uint64_t size_bytes();
  uint64_t object_size_bytes();
  std::string parent();         ///< "pool/image@snap"; empty: no clone
  void resize(uint64_t bytes);  ///< grows only
  std::string data_pool();  ///< where its data go: its own pool unless it was made with another one
  std::vector<std::string> snapshots();
  std::vector<ImageWatcher> watchers();
  /// Locks taken by hand ("by-hand of client.4123 at ADDRESS"): librbd's own are not among them.
  std::vector<std::string> foreign_locks();
  std::optional<std::string> metadata(const std::string& key);
  void set_metadata(const std::string& key, const std::string& value);
  void remove_metadata(const std::string& key);

  /// True when anything at all is stored, in the image or through its parent. Stops at the first
  /// extent.
  bool has_data();
  /// Bytes of the objects that exist in [from, to), in the image or its parent: whole objects
  /// (clipped to the range), and so cheap to ask. `to` is clipped to the size.
  uint64_t allocated_bytes(uint64_t from = 0, uint64_t to = UINT64_MAX);
  /// What the image itself stores (parents do not count), sorted, adjacent extents joined.
  std::vector<Extent> written();

  void write(uint64_t offset, std::span<const char> data);
  void flush();

 private:
  Image() = default;
  [[noreturn]] void fail(const char* what, int error) const;

  std::shared_ptr<Cluster> cluster_;
  ImageSpec spec_;
  IoContext io_;
  rbd_image_t image_ = nullptr;
};

}  // namespace cephmark
