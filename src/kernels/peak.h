// The measured peak speed of this machine, which profiles compare with.
#pragma once

namespace symbind {

struct Peak {
  double flops = 0;  ///< float32 operations a second
  double bytes = 0;  ///< bytes a second that a copy of large arrays reads and writes
};

/// The CPU's, with num_threads() threads. Measured at the first call for each number of threads,
/// which takes about 50 ms, and cached. Other load on the machine lowers it, so the best of several
/// short runs is taken.
Peak cpu_peak();

}  // namespace symbind
