#pragma once
// What kernels run on: the numeric libraries, the instructions they may use, the threads.

#include <string>
#include <vector>

namespace symbind {

/// A numeric library that kernels call.
struct LibraryInfo {
  std::string name;     ///< "OpenBLAS", "oneDNN"
  std::string version;  ///< "0.3.21"
  std::string build;    ///< what it says about itself: "USE_OPENMP SkylakeX MAX_THREADS=64"
};
/// Those this build uses, with the versions loaded now.
std::vector<LibraryInfo> libraries();

/// The newest instructions kernels use on this CPU: "SSE4.1", "AVX2" or "AVX-512";
/// ONEDNN_MAX_CPU_ISA may hold them to older ones.
std::string cpu_instructions();
/// The CPU's name, as the system gives it; "unknown" where it gives none.
std::string cpu_model();
/// Threads that one CPU operation of the calling thread may use.
int cpu_threads();

}  // namespace symbind
