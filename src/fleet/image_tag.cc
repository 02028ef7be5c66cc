#include "fleet/image_tag.h"

#include "base/error.h"
#include "base/json.h"

namespace cephmark {

std::string format_tag(const ImageTag& tag) {
  Json json = {{"version", 1},     {"image", tag.image_id},  {"fsid", tag.fsid},
               {"keep", tag.keep}, {"adopted", tag.adopted}, {"made", tag.made}};
  json.update(to_json(tag.run));
  return json.dump();
}

std::optional<ImageTag> parse_tag(const std::string& text) {
  try {
    const Json json = parse_json(text, kImageTagKey);
    if (!json.is_object() || json.value("version", 0) < 1 || json.value("image", "").empty())
      return std::nullopt;
    return ImageTag{json.value("image", ""),      json.value("fsid", ""),
                    run_identity_from(json),      json.value("keep", false),
                    json.value("adopted", false), json.value("made", "")};
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace cephmark
