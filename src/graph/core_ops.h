#pragma once
// The operators that the passes themselves write into graphs, and the one they take out. Every
// other operator is known to passes only through its OpDef.

namespace symbind::core_ops {

inline constexpr const char* kSum = "add_n";                     ///< gradients that meet
inline constexpr const char* kCopy = "_copy";                    ///< a head that is a variable
inline constexpr const char* kCrossDevice = "_CrossDeviceCopy";  ///< between device groups

inline constexpr const char* kForeach = "_foreach";     ///< a loop, until it is unrolled
inline constexpr const char* kSlices = "SliceChannel";  ///< what its turns get
inline constexpr const char* kStack = "stack";          ///< what they give

}  // namespace symbind::core_ops
