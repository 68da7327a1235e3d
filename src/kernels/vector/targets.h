// Kernels that are compiled for several instruction sets from one source
// (docs/design/0008-vector.md).
//
// A file <name>_vector.cpp defines HWY_TARGET_INCLUDE as its own path, then includes this header,
// <hwy/foreach_target.h> and <hwy/highway.h>. Highway compiles the file once per instruction set of
// `Isa`, each time in another HWY_NAMESPACE. Each namespace has a table of functions; in the part
// under HWY_ONCE, SYMBIND_BY_ISA collects the tables.
//
// Decided here: the instruction sets are those of base/cpu_isa.h and no others, because each one
// lengthens the build. SSE4 is used without AES, which the first CPUs with SSE4.2 do not have. The
// table is chosen by cpu_isa(), so ONEDNN_MAX_CPU_ISA limits these kernels too, and Highway's
// library is not linked: its headers suffice.
#pragma once

#include <cstddef>

#include "base/cpu_isa.h"

#define HWY_DISABLE_PCLMUL_AES
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)

namespace symbind {

/// The same table of functions for each instruction set, oldest first.
template <class Table>
struct ByIsa {
  const Table* tables[3];
  const Table& operator[](Isa isa) const { return *tables[static_cast<std::size_t>(isa)]; }
  /// For this CPU, within the limit of ONEDNN_MAX_CPU_ISA.
  const Table& best() const { return (*this)[cpu_isa()]; }
};

// An instruction set that Highway does not compile, because the baseline of the build contains it
// or the CPU is another one, has the table of the baseline.
#define SYMBIND_TABLE_SSE4(table) &HWY_STATIC_DISPATCH(table)
#define SYMBIND_TABLE_AVX2(table) &HWY_STATIC_DISPATCH(table)
#define SYMBIND_TABLE_AVX512(table) &HWY_STATIC_DISPATCH(table)
#if defined(__x86_64__)
#if !defined(__AVX2__)
#undef SYMBIND_TABLE_SSE4
#undef SYMBIND_TABLE_AVX2
#define SYMBIND_TABLE_SSE4(table) &N_SSE4::table
#define SYMBIND_TABLE_AVX2(table) &N_AVX2::table
#endif
#if !defined(__AVX512F__)
#undef SYMBIND_TABLE_AVX512
#define SYMBIND_TABLE_AVX512(table) &N_AVX3::table
#endif
#endif
#define SYMBIND_BY_ISA(table)                                                             \
  {                                                                                       \
    { SYMBIND_TABLE_SSE4(table), SYMBIND_TABLE_AVX2(table), SYMBIND_TABLE_AVX512(table) } \
  }

}  // namespace symbind
