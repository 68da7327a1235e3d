#pragma once
// Trains a recorded network again and compares every tensor after every step.

#include <string>
#include <vector>

#include "tests/support/host_tensor.h"

namespace symbind {

struct NetReplay {
  std::string file;           ///< in tests/golden/nets
  int steps = 1000;           ///< at most
  double relative = 1e-4;     ///< of a tensor's largest magnitude
  std::string momentum = {};  ///< another one, to see it noticed
  std::string eps_of = {};    ///< the BatchNorm that gets another eps, likewise
  double eps = 2e-4;          ///< this one; MXNet had 2e-5
};

struct NetComparison {
  int steps = 0, compared = 0;
  double worst = 0;                     ///< difference over allowance
  std::vector<std::string> mismatches;  ///< the first of each step
};

NetComparison replay_net(const NetReplay& replay);

}  // namespace symbind
