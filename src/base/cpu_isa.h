// Which instructions kernels may use. The same for our own kernels and for oneDNN's.
#pragma once

namespace symbind {

/// Instruction sets that kernels are written for, from the oldest to the newest.
enum class Isa { kSse41, kAvx2, kAvx512 };

/// What this CPU supports, limited by ONEDNN_MAX_CPU_ISA. Read once per process, as oneDNN
/// does.
Isa cpu_isa();

}  // namespace symbind
