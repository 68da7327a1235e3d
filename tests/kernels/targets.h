#pragma once
// The instruction sets of this CPU; tests run the kernels of each.

#include <iostream>
#include <vector>

#include "base/cpu_isa.h"

namespace symbind {

/// All that this CPU has, oldest first. The limit of ONEDNN_MAX_CPU_ISA applies.
inline std::vector<Isa> available_isas() {
  std::vector<Isa> all;
  for (const Isa isa : {Isa::kSse41, Isa::kAvx2, Isa::kAvx512})
    if (isa <= cpu_isa()) all.push_back(isa);
  return all;
}

/// Those that give equal bits. A test of that says so where it has nothing to compare.
inline std::vector<Isa> isas_with_fma() {
  std::vector<Isa> all = available_isas();
  all.erase(all.begin());
  if (all.size() < 2)
    std::cout << "this CPU has no AVX-512 or is limited: AVX2 and AVX-512 are not compared\n";
  return all;
}

}  // namespace symbind
