#include "kernels/libraries.h"

#include <algorithm>
#include <fstream>

#include "base/cpu_isa.h"
#include "base/parallel.h"

namespace symbind {

std::vector<LibraryInfo> libraries() {
  std::vector<LibraryInfo> all = {blas::library_info()};
  if (std::optional<LibraryInfo> onednn = onednn::library_info()) all.push_back(*onednn);
  return all;
}

std::string cpu_instructions() {
  switch (cpu_isa()) {
    case Isa::kAvx512: return "AVX-512";
    case Isa::kAvx2: return "AVX2";
    case Isa::kSse41: break;
  }
  return "SSE4.1";
}

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name"))
      return line.substr(std::min(line.find(':') + 2, line.size()));
  return "unknown";
}

int cpu_threads() { return num_threads(); }

}  // namespace symbind
