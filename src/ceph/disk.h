// Disk: an RBD image opened for measured I/O, as a VM opens it: read-write without taking the lock.
// Owned by the rbd engine; opened, prepared and closed on set-up and tear-down threads; I/O goes to
// image() directly. Every wait has a limit: what did not return by then is left alone, and its
// connection is abandoned.
#pragma once

#include <rbd/librbd.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "ceph/config_level.h"
#include "ceph/connection.h"
#include "ceph/image.h"

namespace cephmark {

struct DiskSetup {
  ImageSpec spec;
  bool read_only = false;           ///< asked for; a snapshot always is
  bool will_write = false;          ///< else a key without write caps makes the open read-only
  RbdCache cache = RbdCache::kOff;  ///< kConf: as configured
  int64_t timeout_ns = 30'000'000'000;
};

class Disk {
 public:
  /// Throws Error that names pool/image, user, errno and, where it helps, a similar name, the trash
  /// or the namespace.
  static std::unique_ptr<Disk> open(Connection& connection, ConnectionPool& pool,
                                    const DiskSetup& setup);
  /// Leaks the image unless close() was called.
  ~Disk() = default;

  rbd_image_t image() const { return image_; }
  const std::string& name() const { return name_; }
  bool read_only() const { return read_only_; }
  /// Why it is read-only: "a snapshot", "asked for", "the key may not write"; empty otherwise.
  const std::string& read_only_reason() const { return read_only_reason_; }

  uint64_t size_bytes() const;
  uint64_t object_size_bytes() const;
  std::string id() const;
  std::string parent() const;  ///< "pool/image@snap"; empty: no clone, or not to be told
  bool has_exclusive_lock_feature() const;
  std::map<std::string, ConfigValue> options() const { return image_options(image_, name_); }

  /// Flushes (with a limit): lifts write-through-until-flush. Throws Error.
  void flush(int64_t timeout_ns);
  /// Empties librbd's cache of the image, which must be clean (with a limit). Throws Error.
  void invalidate_cache(int64_t timeout_ns);
  /// Makes this client the owner of the exclusive lock, as a first write does, without writing
  /// anything: the lock is handed over when another client asks for it, as usual. Nothing happens
  /// on images without the feature. Throws Error that says what it waited for and who holds the
  /// lock.
  void acquire_lock(int64_t timeout_ns);

  /// Nothing is in flight. Blocks while the cluster does not answer. Throws Error.
  void close();

 private:
  Disk(Connection& connection, ConnectionPool& pool, const ImageSpec& spec)
      : connection_(connection), pool_(pool), spec_(spec), name_(spec.text()) {}
  void open_image(const DiskSetup& setup);
  std::string lock_owner_text() const;

  Connection& connection_;
  ConnectionPool& pool_;
  ImageSpec spec_;
  std::string name_;
  std::shared_ptr<IoContext> io_;
  rbd_image_t image_ = nullptr;
  bool read_only_ = false;
  bool stuck_ = false;  ///< a call did not return in its limit: never closed
  std::string read_only_reason_;
};

}  // namespace cephmark
