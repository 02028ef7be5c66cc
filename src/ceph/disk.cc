#include "ceph/disk.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <thread>

#include "base/error.h"
#include "base/spelling.h"
#include "base/time.h"
#include "base/units.h"

namespace cephmark {
namespace {

// Waits for one asynchronous call of librbd. The state outlives both sides: a completion may come
// after the limit.
struct Waiter {
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<int64_t> result;
  rbd_image_t image = nullptr;  // what an open fills in, as late as it likes
  std::shared_ptr<IoContext> io;

  void finish(int64_t value) {
    std::lock_guard lock(mutex);
    result = value;
    changed.notify_all();
  }
  static void called_back(rbd_completion_t completion, void* argument) {
    std::unique_ptr<std::shared_ptr<Waiter>> self(static_cast<std::shared_ptr<Waiter>*>(argument));
    const int64_t value = rbd_aio_get_return_value(completion);
    rbd_aio_release(completion);
    (*self)->finish(value);
  }
  std::optional<int64_t> wait(int64_t timeout_ns) {
    std::unique_lock lock(mutex);
    changed.wait_for(lock, std::chrono::nanoseconds(timeout_ns),
                     [&] { return result.has_value(); });
    return result;
  }
};

// Starts `call(completion)` and waits; nothing when it did not come back in time.
std::optional<int64_t> call_and_wait(const std::shared_ptr<Waiter>& waiter, int64_t timeout_ns,
                                     const std::function<int(rbd_completion_t)>& call) {
  auto self = std::make_unique<std::shared_ptr<Waiter>>(waiter);
  rbd_completion_t completion = nullptr;
  int r = rbd_aio_create_completion(self.get(), &Waiter::called_back, &completion);
  if (r == 0) r = call(completion);
  if (r < 0) {
    if (completion) rbd_aio_release(completion);
    return r;
  }
  (void)self.release();
  return waiter->wait(timeout_ns);
}

// Runs a blocking question on a thread that nobody joins.
std::string ask(int64_t timeout_ns, std::function<std::string()> question) {
  struct Answer {
    std::mutex mutex;
    std::condition_variable changed;
    std::optional<std::string> text;
  };
  auto answer = std::make_shared<Answer>();
  std::thread([answer, question = std::move(question)] {
    std::string text;
    try {
      text = question();
    } catch (const std::exception&) {  // the question only adds words to another error
    }
    std::lock_guard lock(answer->mutex);
    answer->text = text;
    answer->changed.notify_all();
  }).detach();
  std::unique_lock lock(answer->mutex);
  answer->changed.wait_for(lock, std::chrono::nanoseconds(timeout_ns),
                           [&] { return answer->text.has_value(); });
  return answer->text.value_or("");
}

bool namespace_is_missing(rados_ioctx_t io, const std::string& name) {
  bool exists = true;
  return !name.empty() && rbd_namespace_exists(io, name.c_str(), &exists) == 0 && !exists;
}

// What may be meant, or where it went. The cluster answered a moment ago.
std::string missing_image_hint(Cluster& cluster, const ImageSpec& spec) {
  const IoContext plain = cluster.io(spec.pool);
  if (namespace_is_missing(plain.get(), spec.rados_namespace))
    return fmt::format(
        "the pool {} has no namespace {}; 'rbd namespace ls {}' names those that there are",
        spec.pool, spec.rados_namespace, spec.pool);
  const IoContext io = cluster.io(spec.pool, spec.rados_namespace);
  if (is_in_trash(cluster, spec))
    return fmt::format(
        "an image of that name is in the trash: 'rbd trash ls {}', 'rbd trash restore'", spec.pool);
  const auto names = list_images(cluster, spec.pool, spec.rados_namespace);
  if (!spec.snapshot.empty() && std::find(names.begin(), names.end(), spec.name) != names.end())
    return fmt::format("the image is there, its snapshot {} is not: 'rbd snap ls {}/{}'",
                       spec.snapshot, spec.pool, spec.name);
  const std::string near = closest(spec.name, names);
  return near.empty()
             ? fmt::format("the pool holds {} images, none of a similar name", names.size())
             : "similar: " + near;
}

bool is_permission(int64_t result) {
  return result == -EPERM || result == -EACCES || result == -EROFS;
}

}  // namespace

std::unique_ptr<Disk> Disk::open(Connection& connection, ConnectionPool& pool,
                                 const DiskSetup& setup) {
  std::unique_ptr<Disk> disk(new Disk(connection, pool, setup.spec));
  disk->open_image(setup);
  return disk;
}

void Disk::open_image(const DiskSetup& setup) {
  Cluster& cluster = connection_.cluster();
  io_ = std::make_shared<IoContext>(cluster.io(spec_.pool, spec_.rados_namespace));
  if (!spec_.snapshot.empty()) read_only_reason_ = "a snapshot";
  if (setup.read_only && read_only_reason_.empty()) read_only_reason_ = "asked for";
  read_only_ = !read_only_reason_.empty();
  const char* snapshot = spec_.snapshot.empty() ? nullptr : spec_.snapshot.c_str();
  auto attempt = [&] {
    auto waiter = std::make_shared<Waiter>();
    waiter->io = io_;
    connection_.begin_open(setup.cache);
    const auto result = call_and_wait(waiter, setup.timeout_ns, [&](rbd_completion_t completion) {
      auto open_call = read_only_ ? rbd_aio_open_read_only : rbd_aio_open;
      return open_call(io_->get(), spec_.name.c_str(), &waiter->image, snapshot, completion);
    });
    connection_.end_open();
    if (result && *result >= 0) image_ = waiter->image;
    return result;
  };
  auto result = attempt();
  if (result && is_permission(*result) && !read_only_ && !setup.will_write) {
    read_only_ = true;
    read_only_reason_ = "the key may not write";
    result = attempt();
  }
  const std::string& user = cluster.args().user;
  if (!result) {
    pool_.abandon();
    throw Error(
        fmt::format("cannot open {} as {}: the open did not return within {} (pool {})", name_,
                    user, format_duration(setup.timeout_ns), spec_.pool),
        "are the pool's OSDs up? 'ceph health detail' and 'ceph pg dump_stuck' say what is not");
  }
  if (*result >= 0) return;
  std::string hint;
  if (*result == -ENOENT) hint = missing_image_hint(cluster, spec_);
  if (is_permission(*result))
    hint = fmt::format(
        "{} needs the caps mon 'profile rbd', osd 'profile rbd pool={}' ('ceph auth get {}')", user,
        spec_.pool, user);
  const char* words = *result == -ENOENT ? " (image does not exist)" : "";
  throw Error(fmt::format("cannot open {} as {}: {}{}", name_, user,
                          errno_text(static_cast<int>(*result)), words),
              hint);
}

uint64_t Disk::size_bytes() const {
  uint64_t size = 0;
  if (const int r = rbd_get_size(image_, &size); r < 0)
    throw Error(fmt::format("cannot read the size of {}: {}", name_, errno_text(r)));
  return size;
}

uint64_t Disk::object_size_bytes() const {
  rbd_image_info_t info;
  return rbd_stat(image_, &info, sizeof info) < 0 ? 0 : info.obj_size;
}

std::string Disk::id() const {
  char id[128] = "";
  return rbd_get_id(image_, id, sizeof id) < 0 ? "" : id;
}

std::string Disk::parent() const {
  return parent_of(image_).value_or("");
}

bool Disk::has_exclusive_lock_feature() const {
  uint64_t features = 0;
  return rbd_get_features(image_, &features) == 0 && (features & RBD_FEATURE_EXCLUSIVE_LOCK);
}

void Disk::flush(int64_t timeout_ns) {
  const auto result =
      call_and_wait(std::make_shared<Waiter>(), timeout_ns,
                    [&](rbd_completion_t completion) { return rbd_aio_flush(image_, completion); });
  if (!result) {
    stuck_ = true;
    pool_.abandon();
    throw Error(
        fmt::format("a flush of {} did not return within {}", name_, format_duration(timeout_ns)));
  }
  if (*result < 0)
    throw Error(fmt::format("cannot flush {}: {}", name_, errno_text(static_cast<int>(*result))));
}

void Disk::invalidate_cache(int64_t timeout_ns) {
  const std::string answer = ask(timeout_ns, [image = image_] {
    return std::to_string(rbd_invalidate_cache(image));  // there is no call that does not block
  });
  if (answer.empty()) {
    stuck_ = true;
    pool_.abandon();
    throw Error(fmt::format("emptying the cache of {} did not end within {}", name_,
                            format_duration(timeout_ns)));
  }
  if (const int r = std::stoi(answer); r < 0)
    throw Error(fmt::format("cannot empty the cache of {}: {}", name_, errno_text(r)));
}

std::string Disk::lock_owner_text() const {
  return ask(2'000'000'000, [image = image_] {
    rbd_lock_mode_t mode;
    char* owners[8] = {};
    size_t count = 8;
    std::string text;
    if (rbd_lock_get_owners(image, &mode, owners, &count) < 0) return text;
    for (size_t i = 0; i < count; ++i) text += std::string(i ? ", " : "") + owners[i];
    rbd_lock_get_owners_cleanup(owners, count);
    return text;
  });
}

void Disk::acquire_lock(int64_t timeout_ns) {
  const int64_t end_ns = monotonic_ns() + timeout_ns;  // of all calls together
  if (read_only_ || !has_exclusive_lock_feature()) return;
  // A discard that is smaller than the discard granularity takes the lock, as every write does, and
  // then does nothing. (rbd_lock_acquire() would also change the policy: the lock would not be
  // handed over any more.)
  constexpr uint64_t kDiscard = 512;
  // Whether the lock is ours and what the options are is asked of the OSDs, too: with a limit.
  const std::string answer = ask(timeout_ns, [image = image_, name = name_] {
    int owner = 0;
    if (rbd_is_exclusive_lock_owner(image, &owner) == 0 && owner) return std::string("ours");
    try {
      const auto all = image_options(image, name);
      const auto granularity = all.find("rbd_discard_granularity_bytes"),
                 skip = all.find("rbd_skip_partial_discard");
      const bool small = granularity != all.end() &&
                         std::stoull(granularity->second.value) > kDiscard &&
                         (skip == all.end() || skip->second.value == "true");
      return std::string(small ? "yes" : "no");
    } catch (const Error&) {
      return std::string("no");
    }
  });
  if (answer == "ours") return;
  if (answer == "no") return;  // the first write waits for the lock instead
  std::optional<int64_t> result;
  if (!answer.empty())
    result =
        call_and_wait(std::make_shared<Waiter>(), std::max<int64_t>(0, end_ns - monotonic_ns()),
                      [&](rbd_completion_t completion) {
                        return rbd_aio_discard(image_, 0, kDiscard, completion);
                      });
  if (result && *result >= 0) return;
  if (!result) stuck_ = true;
  const std::string holder = answer.empty() ? "" : lock_owner_text();
  const std::string held = holder.empty() ? "" : fmt::format(" (held by {})", holder);
  if (!result) {
    pool_.abandon();
    if (answer.empty())
      throw Error(
          fmt::format("waited {} for the exclusive lock of {}: no OSD answered in that time",
                      format_duration(timeout_ns), name_),
          "are the pool's OSDs up? 'ceph health detail' and 'ceph pg dump_stuck' say what is not");
    throw Error(fmt::format("waited {} for the exclusive lock of {}{}", format_duration(timeout_ns),
                            name_, held),
                "a client that died keeps it for about 30 s; 'rbd lock ls' and 'rbd status' name "
                "who has the image open");
  }
  throw Error(
      fmt::format("cannot get the exclusive lock of {}: {}{}", name_,
                  errno_text(static_cast<int>(*result)), held),
      "another client holds the image for itself ('rbd lock ls'): end it, or use another image");
}

void Disk::close() {
  if (stuck_ || !image_) return;
  const int r = rbd_close(image_);
  image_ = nullptr;
  io_.reset();
  if (r < 0) throw Error(fmt::format("closing {} failed: {}", name_, errno_text(r)));
}

}  // namespace cephmark
