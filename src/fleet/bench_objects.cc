#include "fleet/bench_objects.h"

#include <fmt/format.h>
#include <rados/librados.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <memory>
#include <mutex>

#include "base/error.h"
#include "ceph/bench_record.h"
#include "ceph/rados_bench_objects.h"
#include "fleet/image_state.h"

namespace cephmark {
namespace {

/// Of a run that was cut off at most its depth is missing between what is there.
constexpr uint64_t kAbsentInARow = 1024;

/// Each object of the context's namespace (or of all, where that is set): name and namespace.
void list_pool(const IoContext& io,
               const std::function<void(const char* object, const char* space)>& take) {
  rados_list_ctx_t raw = nullptr;
  if (const int r = rados_nobjects_list_open(io.get(), &raw); r < 0)
    throw Error("cannot list the pool's objects: " + errno_text(r));
  const std::unique_ptr<void, void (*)(rados_list_ctx_t)> list(raw, rados_nobjects_list_close);
  for (;;) {
    const char *object = nullptr, *space = nullptr;
    const int r = rados_nobjects_list_next(raw, &object, nullptr, &space);
    if (r == -ENOENT) return;
    if (r < 0) throw Error("cannot list the pool's objects: " + errno_text(r));
    take(object, space ? space : "");
  }
}

// librados holds back every write to a full pool until there is room, removals too, unless told
// otherwise.
int remove_object(const IoContext& io, const std::string& name) {
  const std::unique_ptr<void, void (*)(rados_write_op_t)> op(rados_create_write_op(),
                                                             rados_release_write_op);
  rados_write_op_remove(op.get());
  return rados_write_op_operate2(op.get(), io.get(), name.c_str(), nullptr,
                                 LIBRADOS_OPERATION_FULL_TRY);
}

}  // namespace

std::vector<std::string> list_bench_objects(const IoContext& io, const std::string& prefix) {
  std::vector<std::string> names;
  list_pool(io, [&](const char* object, const char*) {
    const auto name = parse_bench_name(object);
    if (name && (prefix.empty() || name->prefix == prefix)) names.emplace_back(object);
  });
  return names;
}

std::map<std::string, BenchListing> list_bench(const IoContext& io, bool all_namespaces,
                                               const std::function<void(size_t)>& seen) {
  std::map<std::string, BenchListing> found;
  size_t count = 0;
  if (all_namespaces) rados_ioctx_set_namespace(io.get(), LIBRADOS_ALL_NSPACES);
  list_pool(io, [&](const char* object, const char* space) {
    if (seen) seen(++count);
    if (const auto name = parse_bench_name(object))
      found[space].objects[name->prefix].emplace_back(object);
    else if (is_default_run_name(object))
      found[space].records.emplace_back(object);
  });
  for (auto& [space, listing] : found) std::sort(listing.records.begin(), listing.records.end());
  return found;
}

RemovedObjects remove_objects(const IoContext& io, const std::vector<std::string>& names,
                              size_t at_once, const std::function<bool(size_t done)>& progress) {
  RemovedObjects out;
  std::mutex mutex;
  size_t done = 0;
  std::atomic<bool> stopped = false;
  for_each_parallel(names.size(), at_once, [&](size_t i) {
    if (stopped) return;
    const int r = remove_object(io, names[i]);
    const std::lock_guard lock(mutex);
    if (r == 0) ++out.removed;
    if (r < 0 && r != -ENOENT) {
      ++out.left;
      out.error = r;
    }
    ++done;
    if (progress && !progress(done)) stopped = true;
  });
  return out;
}

RemovedObjects remove_bench_run(const IoContext& io, const std::string& prefix, uint64_t count,
                                size_t at_once, const std::function<bool(size_t done)>& progress) {
  constexpr uint64_t kChunk = 4096;
  RemovedObjects out;
  BenchNamer namer(prefix);
  std::vector<std::string> names;
  bool go_on = true;
  for (uint64_t first = 0, absent = 0; go_on && (first < count || absent < kAbsentInARow);) {
    names.clear();
    // Behind the count in small steps: mostly nothing is there.
    const uint64_t end = first < count ? std::min(count, first + kChunk) : first + at_once * 4;
    for (uint64_t object = first; object < end; ++object) names.emplace_back(namer.name_of(object));
    const RemovedObjects chunk = remove_objects(io, names, at_once, [&](size_t done) {
      if (progress && first < count) go_on = progress(out.removed + done);
      return go_on;
    });
    out.removed += chunk.removed;
    out.left += chunk.left;
    if (chunk.error) out.error = chunk.error;
    absent = chunk.removed + chunk.left > 0 ? 0 : absent + names.size();
    first = end;
  }
  return out;
}

}  // namespace cephmark
