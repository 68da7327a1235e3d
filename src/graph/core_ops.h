#pragma once
// The operators that the passes themselves write into graphs, and the one they take out. Every
// other operator is known to passes only through its OpDef.

#include <string_view>

namespace symbind::core_ops {

inline constexpr const char* kSum = "add_n";                     ///< gradients that meet
inline constexpr const char* kCopy = "_copy";                    ///< a head that is a variable
inline constexpr const char* kCrossDevice = "_CrossDeviceCopy";  ///< between device groups

inline constexpr const char* kFusedBatchNorm = "_fused_BatchNorm_relu";
inline constexpr const char* kFusedConvolution = "_fused_Convolution_sum";
/// Those of them that a graph is never read with; what gradients make is OpDef::is_backward.
inline constexpr std::string_view kInternal[] = {kCrossDevice, kFusedBatchNorm, kFusedConvolution};

inline constexpr const char* kForeach = "_foreach";     ///< a loop, until it is unrolled
inline constexpr const char* kSlices = "SliceChannel";  ///< what its turns get
inline constexpr const char* kStack = "stack";          ///< what they give

}  // namespace symbind::core_ops
