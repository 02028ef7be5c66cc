// lab_build: makes a new cluster in a lab's directory. Internal to lab_up, which holds the lock.
#pragma once

#include "lab/lab_daemons.h"

namespace cephmark {

/// A cluster in an empty directory that carries the marker; on return its daemons run, pool `rbd`
/// is ready and all PGs are active+clean. Throws Error; what was started then still runs.
void build_lab(LabDaemons& lab, const LabProgress& say);

/// Writes ceph.conf and the directories that are missing.
void write_lab_conf(const LabDaemons& lab, const LabSetup& setup);

/// Gives the monitor (which must not run) other ports: in its map, in the state and in ceph.conf.
void move_monitor(LabDaemons& lab);

}  // namespace cephmark
