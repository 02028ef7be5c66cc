// ImageTag: the mark in an image's metadata that says that cephmark made (or adopted) it. Clones,
// copies and imports inherit metadata, so the tag holds the id of the image that it was written
// for, and the cluster's. Plain data.
#pragma once

#include <optional>
#include <string>

#include "fleet/run_identity.h"

namespace cephmark {

inline constexpr const char* kImageTagKey = "cephmark.tag";

struct ImageTag {
  std::string image_id;
  std::string fsid;
  RunIdentity run;    ///< that made or adopted it
  bool keep = false;  ///< made to stay: cleanup removes it only when its run is named
  bool adopted =
      false;  ///< was made by somebody else and empty at our first write: cleanup never removes it
  std::string made;  ///< UTC, for people

  /// True when the tag was written for this very image.
  bool is_for(const std::string& id, const std::string& cluster_fsid) const {
    return image_id == id && fsid == cluster_fsid;
  }
};

std::string format_tag(const ImageTag& tag);
/// Nothing when the text is not a tag of ours.
std::optional<ImageTag> parse_tag(const std::string& text);

}  // namespace cephmark
