#pragma once
// Counts allocations of the process by interposing malloc: how many, how many live bytes, and how
// many come from libsymbind itself rather than from a library it calls.

#include <cstdint>

namespace symbind::bench {

struct HeapCounts {
  std::int64_t ours = 0;    ///< allocations whose caller is libsymbind
  std::int64_t all = 0;     ///< all allocations of the process
  std::int64_t live = 0;    ///< bytes allocated and not freed
  std::int64_t faults = 0;  ///< minor page faults of the process
};

/// Totals since the start of the process.
HeapCounts heap_counts();

}  // namespace symbind::bench
