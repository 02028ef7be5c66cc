// rados_front: what the commands of `cephmark rados` share: how they wait for the cluster, and how
// they tell what went wrong, in the original's words or in ours. One thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "ceph/cluster.h"
#include "cli/headway.h"
#include "compat/rados_arguments.h"

namespace cephmark {

inline constexpr int kRadosFailure = 1;  ///< the original's exit code

/// A failure that the original tells, too.
class RadosFailure : public Error {
 public:
  /// `original`: the original's own sentence, "" where it has none: behind it come its lines about
  /// the errno. `message` and `hint` are ours.
  RadosFailure(const std::string& message, const std::string& original, int error,
               std::string hint = "")
      : Error(message, std::move(hint)), original_(original), error_(error < 0 ? -error : error) {}
  const std::string& original() const { return original_; }
  int error() const { return error_; }

 private:
  std::string original_;
  int error_;
};

/// The original's failure to open a pool, behind which it says nothing more.
class RadosPoolFailure : public Error {
  using Error::Error;
};

/// What the original prints at the end: "error during benchmark: (2) No..." and "error 2: (2)
/// No...".
void tell_rados_error(const std::string& during, int error);

/// "Removed 40 objects", as the original says it.
std::string removed_text(size_t objects);

/// Carries out `step` on a thread of its own and gives it up when the cluster answers no more, or
/// after a signal: then the process ends here. What the step uses must not be on the caller's
/// stack.
void with_patience(const std::string& what, const std::function<void(Headway& headway)>& step);

/// Connects, with the settings of Ceph's own on the command line. Throws Error; UsageError for an
/// option that is nobody's, which the original ignores.
std::shared_ptr<Cluster> connect_for(const RadosArguments& arguments, bool compat);
/// Throws RadosPoolFailure where there is no such pool.
IoContext open_pool(Cluster& cluster, const RadosArguments& arguments);

int run_rados_bench(const RadosArguments& arguments, const std::vector<std::string>& argv,
                    bool compat);
int run_rados_cleanup(const RadosArguments& arguments, bool compat);

}  // namespace cephmark
