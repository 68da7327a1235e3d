// Which instructions kernels may use. The same for our own kernels and for oneDNN's.
#pragma once

namespace symbind {

/// Instruction sets that kernels are written for, from the oldest to the newest.
enum class Isa { kSse41, kAvx2, kAvx512 };

/// What this CPU supports, limited by ONEDNN_MAX_CPU_ISA. Read once per process, as oneDNN
/// does.
Isa cpu_isa();
/// Whether the CPU multiplies bfloat16 faster than float32 (AMX, or AVX512_BF16 of AMD), or
/// ONEDNN_MAX_CPU_ISA is AVX512_CORE_BF16.
bool cpu_has_bfloat16();
/// Whether the CPU has AMX, which programs may use.
bool cpu_has_amx();
/// Whether the CPU lists AMX and describes no tiles, as some virtual machines do. oneDNN then runs
/// into illegal instructions unless it is held to less.
bool amx_has_no_tiles();

/// Whether PREFETCHNTA fills a line of the L2 cache that never moves on to L3: on AMD's CPUs
/// (measured on a Zen 5). Others fill L1 alone, which is too small for what a kernel fetches ahead.
bool prefetches_past_l3();

}  // namespace symbind
