#pragma once

#include <symbind/log.h>

namespace symbind {

/// Whether messages go to a sink of the caller; without one they go to stderr.
bool has_log_sink();

}  // namespace symbind
