// prefill_volumes: many images written in full by a few threads; each piece lies in one object of
// the image.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>

#include "base/error.h"
#include "base/rng.h"
#include "base/units.h"
#include "fleet/volumes.h"

namespace cephmark {
namespace {

constexpr uint64_t kLargestWrite = 4 * kMiB;
/// Holds the image's id once all data in the image come from a prefill, or nothing had been written
/// before one began. Only then does the diff tell what is missing: it reports an object up to its
/// last byte, so that holes left by random writes look like data.
constexpr const char* kPrefillKey = "cephmark.prefill";

struct Target {
  ImageSpec spec;
  std::string data_pool;
  uint64_t size_bytes = 0;
  uint64_t object_bytes = 0;
  std::vector<Extent> missing;
  uint64_t missing_bytes = 0;
  std::string id;
  bool mark_before = false, mark_after = false;  ///< when to set kPrefillKey
};

/// An image that is being written. The last piece to end closes it.
struct OpenImage {
  std::unique_ptr<Image> image;
  size_t pieces_left = 0;
  std::string mark_after;  ///< the id to be noted when it is done; empty: nothing
};

struct Piece {
  std::shared_ptr<OpenImage> image;
  Extent extent;
  uint64_t seed = 0;
};

/// Deals pieces to threads, opening one image after the other.
class Dealer {
 public:
  Dealer(const VolumeContext& context, const std::vector<Target>& targets, uint64_t total_bytes)
      : context_(context), targets_(targets), total_bytes_(total_bytes) {}

  bool next(Piece& piece) {
    const std::lock_guard lock(mutex_);
    while (pieces_.empty()) {
      if (target_ >= targets_.size()) return false;
      open_next();
    }
    piece = std::move(pieces_.front());
    pieces_.pop_front();
    return true;
  }

  void finished(const Piece& piece) {
    std::unique_ptr<Image> done;
    {
      const std::lock_guard lock(mutex_);
      written_bytes_ += piece.extent.length;
      if (context_.progress) context_.progress("prefilling (bytes)", written_bytes_, total_bytes_);
      if (context_.alive) context_.alive(0);
      if (--piece.image->pieces_left == 0) done = std::move(piece.image->image);
    }
    if (!done) return;
    done->flush();  // and closed, outside the lock
    if (!piece.image->mark_after.empty()) done->set_metadata(kPrefillKey, piece.image->mark_after);
  }

  uint64_t written_bytes() const { return written_bytes_; }

 private:
  void open_next() {
    const Target& target = targets_[target_++];
    if (target.missing.empty()) return;
    auto open = std::make_shared<OpenImage>();
    open->image = Image::open(context_.cluster, target.spec, false);
    if (!open->image)
      throw Error(
          fmt::format("image {} was removed while it was being prefilled", target.spec.text()));
    if (target.mark_before) open->image->set_metadata(kPrefillKey, target.id);
    if (target.mark_after) open->mark_after = target.id;
    const uint64_t seed = Rng::derive(std::hash<std::string>()(target.spec.text()), target_);
    const uint64_t chunk =
        std::min(kLargestWrite, std::max<uint64_t>(target.object_bytes, 4 * kKiB));
    for (const auto& extent : target.missing)
      for (const auto& part : cut_at_multiples(extent, chunk))
        pieces_.push_back({open, part, seed});
    open->pieces_left = pieces_.size();
  }

  const VolumeContext& context_;
  const std::vector<Target>& targets_;
  std::mutex mutex_;
  std::deque<Piece> pieces_;
  size_t target_ = 0;
  uint64_t written_bytes_ = 0, total_bytes_;
};

void fill(std::vector<char>& buffer, uint64_t length, uint64_t seed, uint64_t offset) {
  buffer.resize((length + 7) / 8 * 8);
  Rng rng(Rng::derive(seed, offset));
  for (size_t at = 0; at < buffer.size(); at += 8) {
    const uint64_t word = rng.next();
    std::memcpy(buffer.data() + at, &word, 8);
  }
}

Target survey(const VolumeContext& context, const ImageSpec& spec) {
  const auto image = Image::open(context.cluster, spec, true);
  if (!image) throw Error(fmt::format("image {} is gone", spec.text()));
  Target target{spec, image->data_pool(), image->size_bytes(), image->object_size_bytes(), {}, 0,
                ""};
  target.id = image->id();
  const bool known = image->metadata(kPrefillKey) == target.id;
  if (known || !image->has_data()) {
    target.missing = unwritten_objects(target.size_bytes, target.object_bytes, image->written());
    target.mark_before = !known;
  } else {
    target.missing = {{0, target.size_bytes}};
    target.mark_after = true;
  }
  for (const auto& extent : target.missing) target.missing_bytes += extent.length;
  return target;
}

std::vector<Target> survey_all(const VolumeContext& context, const std::vector<ImageSpec>& images) {
  std::vector<Target> targets(images.size());
  std::mutex mutex;
  uint64_t done = 0;
  for_each_parallel(images.size(), context.parallel, [&](size_t i) {
    targets[i] = survey(context, images[i]);
    const std::lock_guard lock(mutex);
    if (context.progress) context.progress("looking at what is written", ++done, images.size());
    if (context.alive) context.alive(0);
  });
  return targets;
}

/// Refuses, waits for or adopts; returns the images to adopt.
std::vector<ImageSpec> admit(const VolumeContext& context, const std::vector<ImageSpec>& images) {
  auto watchers = watcher_knowledge(context.cluster->fsid());
  watchers.own.insert(context.cluster->instance_id());
  if (context.manifest) watchers.run_id = context.manifest->identity().run_id;
  std::vector<ImageSpec> adopted;
  std::string refusals;
  bool liftable = true;
  DeadWatcherWait wait;
  for (auto& state : examine_images(context.cluster, images, watchers)) {
    const bool granted = write_is_granted(context.allow_write, state.spec);
    auto decision = state.decide(Action::kPrefill, granted);
    if (decision.verdict == Verdict::kWaitedFor) {
      if (context.progress)
        context.progress("waiting for watchers of a dead run on " + state.spec.text(), 0, 0);
      if (context.alive) context.alive(kDeadWatcherWait_ns);
      state = wait.examine(context.cluster, state.spec, watchers);
      decision = state.decide(Action::kPrefill, granted);
    }
    if (decision.verdict == Verdict::kAdopted) adopted.push_back(state.spec);
    if (decision.verdict == Verdict::kRefused || decision.verdict == Verdict::kWaitedFor) {
      refusals += "\n  " + explain(state.spec.text(), decision, state.report);
      liftable &= decision.grant_lifts;
    }
  }
  if (!refusals.empty())
    throw Error("nothing was written:" + refusals,
                liftable ? "if their data may be overwritten, name them with --allow-write" : "");
  return adopted;
}

}  // namespace

std::vector<Extent> unwritten_parts(uint64_t size_bytes, const std::vector<Extent>& written) {
  std::vector<Extent> parts;
  uint64_t at = 0;
  for (const auto& extent : written) {
    const uint64_t begin = std::min(extent.offset, size_bytes);
    if (begin > at) parts.push_back({at, begin - at});
    at = std::max(at, std::min(extent.offset + extent.length, size_bytes));
  }
  if (at < size_bytes) parts.push_back({at, size_bytes - at});
  return parts;
}

std::vector<Extent> unwritten_objects(uint64_t size_bytes, uint64_t object_bytes,
                                      const std::vector<Extent>& written) {
  std::vector<Extent> objects;
  for (const auto& part : unwritten_parts(size_bytes, written)) {
    const uint64_t begin = part.offset / object_bytes * object_bytes;
    const uint64_t end = std::min(
        size_bytes, (part.offset + part.length + object_bytes - 1) / object_bytes * object_bytes);
    if (!objects.empty() && objects.back().offset + objects.back().length >= begin)
      objects.back().length =
          std::max(objects.back().offset + objects.back().length, end) - objects.back().offset;
    else
      objects.push_back({begin, end - begin});
  }
  return objects;
}

std::vector<Extent> cut_at_multiples(const Extent& extent, uint64_t chunk_bytes) {
  std::vector<Extent> pieces;
  for (uint64_t at = extent.offset, end = extent.offset + extent.length; at < end;) {
    const uint64_t next = std::min(end, (at / chunk_bytes + 1) * chunk_bytes);
    pieces.push_back({at, next - at});
    at = next;
  }
  return pieces;
}

PrefillReport prefill_volumes(const VolumeContext& context, const std::vector<ImageSpec>& images) {
  PrefillReport report;
  report.adopted = admit(context, images);
  const auto targets = survey_all(context, images);
  uint64_t missing_bytes = 0;
  std::map<std::string, uint64_t> missing_by_pool;
  for (const auto& target : targets) {
    report.total_bytes += target.size_bytes;
    missing_bytes += target.missing_bytes;
    missing_by_pool[target.data_pool] += target.missing_bytes;
  }
  report.found_bytes = report.total_bytes - missing_bytes;
  for (const auto& [pool, bytes] : missing_by_pool)
    require_space(context.cluster, pool, bytes, fmt::format("prefilling {} images", images.size()));
  const auto identity =
      context.manifest ? context.manifest->identity() : current_run_identity("prefill");
  for (const auto& spec : report.adopted) tag_image(context.cluster, spec, identity, true, true);

  Dealer dealer(context, targets, missing_bytes);
  for_each_parallel(context.parallel, context.parallel, [&](size_t) {
    std::vector<char> buffer;
    for (Piece piece; !context.stop.stop_requested() && dealer.next(piece);) {
      fill(buffer, piece.extent.length, piece.seed, piece.extent.offset);
      piece.image->image->write(piece.extent.offset, {buffer.data(), piece.extent.length});
      dealer.finished(piece);
    }
  });
  report.written_bytes = dealer.written_bytes();
  report.complete = report.written_bytes == missing_bytes;
  return report;
}

}  // namespace cephmark
