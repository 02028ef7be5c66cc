// OsdProbeReport: what each OSD's reads and writes took, slow ones named. Owned by the command;
// one thread.
#pragma once

#include <memory>
#include <ostream>

#include "output/writer.h"

namespace cephmark {

std::unique_ptr<Writer> make_osd_probe_report(std::ostream& out);

}  // namespace cephmark
