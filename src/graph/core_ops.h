#pragma once
// The operators that the passes themselves write into graphs. Every other operator is known to
// passes only through its OpDef.

namespace symbind::core_ops {

inline constexpr const char* kSum = "add_n";                     ///< gradients that meet
inline constexpr const char* kCopy = "_copy";                    ///< a head that is a variable
inline constexpr const char* kCrossDevice = "_CrossDeviceCopy";  ///< between device groups

}  // namespace symbind::core_ops
