#pragma once

#include "base/parallel.h"
#include "base/signals.h"

namespace symbind::blas {

/// Before a call of OpenBLAS, which decides by the sizes how many of the threads it uses.
inline void note_call() {
  const int most = VendorThreads::current();
  note_region(most > 2 ? 0 : most);
}

}  // namespace symbind::blas
