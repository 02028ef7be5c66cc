#include "fleet/bench_objects.h"

#include <fmt/format.h>
#include <rados/librados.h>

#include <cerrno>
#include <memory>
#include <mutex>

#include "base/error.h"
#include "ceph/rados_bench_objects.h"
#include "fleet/image_state.h"

namespace cephmark {

std::vector<std::string> list_bench_objects(const IoContext& io, const std::string& prefix) {
  rados_list_ctx_t raw = nullptr;
  if (const int r = rados_nobjects_list_open(io.get(), &raw); r < 0)
    throw Error("cannot list the pool's objects: " + errno_text(r));
  const std::unique_ptr<void, void (*)(rados_list_ctx_t)> list(raw, rados_nobjects_list_close);
  std::vector<std::string> names;
  for (;;) {
    const char* object = nullptr;
    const int r = rados_nobjects_list_next(raw, &object, nullptr, nullptr);
    if (r == -ENOENT) return names;
    if (r < 0) throw Error("cannot list the pool's objects: " + errno_text(r));
    const auto name = parse_bench_name(object);
    if (name && (prefix.empty() || name->prefix == prefix)) names.emplace_back(object);
  }
}

LeftObjects remove_objects(const IoContext& io, const std::vector<std::string>& names,
                           size_t at_once, const std::function<void(size_t done)>& progress) {
  LeftObjects left;
  std::mutex mutex;
  size_t done = 0;
  for_each_parallel(names.size(), at_once, [&](size_t i) {
    const int r = rados_remove(io.get(), names[i].c_str());
    const std::lock_guard lock(mutex);
    if (r < 0 && r != -ENOENT) {
      ++left.count;
      left.error = r;
    }
    ++done;
    if (progress) progress(done);
  });
  return left;
}

}  // namespace cephmark
