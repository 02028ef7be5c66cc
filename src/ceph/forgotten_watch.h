// forgotten_watch: takes watches of dead clients off an image that the OSDs would keep for ever.
//
// A watch normally ends about 30 s (osd_client_watch_timeout) after its client. But when the client
// dies while its watch is being registered (the primary has lost the connection before its replicas
// have written it down), the OSD keeps the record without anything that could time it out: seen
// with Ceph 16.2. It stays until that OSD restarts or happens to load the object anew, and librbd
// will not remove an image that has a watcher. Shutting the client out (blocklist) does not help.
//
// Stateless; any thread but a library callback; blocks.
#pragma once

#include <cstdint>
#include <set>

#include "ceph/image.h"

namespace cephmark {

/// Puts the image's header in place anew, as it is, in one atomic operation: an object that is made
/// has no watchers. Does so only when all its watchers are among `dead` (librados instance ids) and
/// nobody changes the header meanwhile. True when no watcher is left. Throws Error.
bool drop_forgotten_watches(const std::shared_ptr<Cluster>& cluster, const ImageSpec& spec,
                            const std::set<uint64_t>& dead);

}  // namespace cephmark
