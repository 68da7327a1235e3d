#pragma once
// What `symbind doctor` finds out.

#include <string>
#include <vector>

#include "program.h"

namespace symbind::program {

/// One thing that was looked into. A note costs speed or a feature; a problem makes exit code 1.
struct Finding {
  enum class State { kOk, kNote, kProblem };
  State state = State::kOk;
  std::string topic, what;
  std::string fix = {};  ///< what to do, unless all is well
};

/// Known products and convolutions: whether the numbers are right, and how fast.
struct SelfTest {
  double gemm_gflops = 0, convolution_gflops = 0;
  double gemm_error = 0, convolution_error = 0;  ///< largest difference from the known values
};
SelfTest run_self_test(double seconds);

}  // namespace symbind::program
