// What this build was made with, as constants: code uses `if constexpr (kCuda)`, not the
// preprocessor.
#pragma once

namespace symbind {

#if SYMBIND_HAVE_CUDA
inline constexpr bool kCuda = true;
#else
inline constexpr bool kCuda = false;
#endif

#if SYMBIND_HAVE_ONEDNN
inline constexpr bool kOneDnn = true;
#else
inline constexpr bool kOneDnn = false;
#endif

/// Costly internal checks: the graph verifier between passes.
#if SYMBIND_VERIFY
inline constexpr bool kVerify = true;
#else
inline constexpr bool kVerify = false;
#endif

}  // namespace symbind
