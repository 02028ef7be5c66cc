#include "engine/object_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>

#include "base/error.h"
#include "base/rng.h"
#include "base/units.h"

namespace cephmark {
namespace {

constexpr size_t kAtOnce = 16;
constexpr uint64_t kPiece = 4 << 20;

// Outlives both sides: a completion may come after we gave up.
struct Pump {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<int> results;
  size_t in_flight = 0, done = 0;
  std::shared_ptr<IoContext> io;
  std::shared_ptr<void> memory;  // what the calls point to
};

struct Call {
  std::shared_ptr<Pump> pump;
  size_t index = 0;
  rados_completion_t completion = nullptr;

  static void called_back(rados_completion_t completion, void* argument) {
    std::unique_ptr<Call> self(static_cast<Call*>(argument));
    const int result = rados_aio_get_return_value(completion);
    rados_aio_release(completion);
    self->finish(result);
  }
  void finish(int result) {
    std::lock_guard lock(pump->mutex);
    pump->results[index] = result;
    --pump->in_flight;
    ++pump->done;
    pump->changed.notify_all();
  }
};

void start_call(const std::shared_ptr<Pump>& pump, size_t index,
                const std::function<int(size_t, rados_completion_t)>& start) {
  auto call = std::make_unique<Call>(Call{pump, index});
  rados_completion_t completion = nullptr;
  int r = rados_aio_create_completion2(call.get(), &Call::called_back, &completion);
  if (r == 0) {
    Call* handed_over = call.release();
    r = start(index, completion);
    if (r >= 0) return;
    call.reset(handed_over);
    rados_aio_release(completion);
  }
  call->finish(r);
}

}  // namespace

ObjectSet::ObjectSet(std::shared_ptr<IoContext> io, ConnectionPool& pool, std::string where,
                     std::vector<ObjectState> objects)
    : io_(std::move(io)), pool_(pool), where_(std::move(where)), objects_(std::move(objects)) {}

std::vector<int> ObjectSet::run_all(const char* what, size_t count, int64_t timeout_ns,
                                    const Start& start, std::shared_ptr<void> memory) {
  auto pump = std::make_shared<Pump>();
  pump->memory = std::move(memory);
  pump->io = io_;
  pump->results.assign(count, 0);
  std::unique_lock lock(pump->mutex);
  for (size_t next = 0; pump->done < count;) {
    while (next < count && pump->in_flight < kAtOnce) {
      ++pump->in_flight;
      lock.unlock();
      start_call(pump, next++, start);
      lock.lock();
    }
    const size_t before = pump->done;
    if (pump->in_flight == 0 || next == count || pump->in_flight == kAtOnce) {
      const bool progress = pump->changed.wait_for(lock, std::chrono::nanoseconds(timeout_ns), [&] {
        return pump->done > before || pump->done == count;
      });
      if (progress) continue;
      stuck_ = true;
      pool_.abandon();
      throw Error(fmt::format("{} objects in {}: nothing came back for {} ({} of {} done)", what,
                              where_, format_duration(timeout_ns), pump->done, count),
                  "are the pool's OSDs up, and is it not full? 'ceph health detail'");
    }
  }
  return pump->results;
}

void ObjectSet::look(int64_t timeout_ns) {
  struct Answer {
    uint64_t size = 0;
    time_t time = 0;
  };
  auto answers = std::make_shared<std::vector<Answer>>(objects_.size());
  const auto results = run_all(
      "looking at", objects_.size(), timeout_ns,
      [&](size_t i, rados_completion_t completion) {
        return rados_aio_stat(io_->get(), objects_[i].name.c_str(), completion, &(*answers)[i].size,
                              &(*answers)[i].time);
      },
      answers);
  for (size_t i = 0; i < objects_.size(); ++i) {
    if (results[i] < 0 && results[i] != -ENOENT)
      throw Error(fmt::format("cannot look at object {}/{}: {}", where_, objects_[i].name,
                              errno_text(results[i])));
    objects_[i].existed = results[i] == 0;
    objects_[i].found_bytes = results[i] == 0 ? (*answers)[i].size : 0;
  }
}

// One object, piece after piece: pools that only append want them in order.
int ObjectSet::append_in_pieces(const ObjectState& object, const std::vector<char>& data,
                                int64_t timeout_ns) {
  for (uint64_t at = 0; at < object.size_bytes; at += data.size()) {
    const uint64_t length = std::min<uint64_t>(data.size(), object.size_bytes - at);
    const auto results =
        run_all("writing", 1, timeout_ns, [&](size_t, rados_completion_t completion) {
          return at == 0 ? rados_aio_write_full(io_->get(), object.name.c_str(), completion,
                                                data.data(), length)
                         : rados_aio_write(io_->get(), object.name.c_str(), completion, data.data(),
                                           length, at);
        });
    if (results[0] < 0) return results[0];
  }
  return 0;
}

void ObjectSet::write_in_full(uint64_t alignment_bytes, uint64_t seed, int64_t timeout_ns) {
  const uint64_t piece = alignment_bytes > 1
                             ? std::max<uint64_t>(1, kPiece / alignment_bytes) * alignment_bytes
                             : kPiece;
  std::vector<char> data(piece);
  Rng rng(seed);
  for (size_t i = 0; i + 8 <= data.size(); i += 8) {
    const uint64_t word = rng.next();
    std::memcpy(&data[i], &word, 8);
  }
  std::vector<const ObjectState*> small;
  for (const auto& object : objects_) {
    if (object.found_bytes >= object.size_bytes) continue;
    if (object.size_bytes <= piece) {
      small.push_back(&object);
      continue;
    }
    if (const int r = append_in_pieces(object, data, timeout_ns); r < 0)
      throw Error(fmt::format("cannot write object {}/{} ({}): {}", where_, object.name,
                              format_size(object.size_bytes), errno_text(r)));
  }
  // librados copies what it is given before the call returns, so that `data` may go.
  const auto results =
      run_all("writing", small.size(), timeout_ns, [&](size_t i, rados_completion_t completion) {
        return rados_aio_write_full(io_->get(), small[i]->name.c_str(), completion, data.data(),
                                    small[i]->size_bytes);
      });
  for (size_t i = 0; i < small.size(); ++i)
    if (results[i] < 0)
      throw Error(fmt::format("cannot write object {}/{} ({}): {}", where_, small[i]->name,
                              format_size(small[i]->size_bytes), errno_text(results[i])));
  for (auto& object : objects_)
    object.found_bytes = std::max(object.found_bytes, object.size_bytes);
}

void ObjectSet::remove_created(int64_t timeout_ns) {
  std::vector<const ObjectState*> created;
  for (const auto& object : objects_)
    if (!object.existed) created.push_back(&object);
  const auto results =
      run_all("removing", created.size(), timeout_ns, [&](size_t i, rados_completion_t completion) {
        return rados_aio_remove(io_->get(), created[i]->name.c_str(), completion);
      });
  size_t left = 0;
  int error = 0;
  for (int r : results)
    if (r < 0 && r != -ENOENT) {
      ++left;
      error = r;
    }
  if (left)
    throw Error(fmt::format("{} of {} objects in {} could not be removed: {}", left, created.size(),
                            where_, errno_text(error)));
}

}  // namespace cephmark
