#pragma once
// The operators that the passes insert into graphs, and the one they remove. Every
// other operator is known to passes only through its OpDef.

#include <string_view>

namespace symbind::core_ops {

inline constexpr const char* kSum = "add_n";                     ///< adds up gradients
inline constexpr const char* kCopy = "_copy";                    ///< a head that is a variable
inline constexpr const char* kCrossDevice = "_CrossDeviceCopy";  ///< between device groups

inline constexpr const char* kFusedBatchNorm = "_fused_BatchNorm";
inline constexpr const char* kFusedConvolution = "_fused_Convolution";
inline constexpr const char* kFusedFullyConnected = "_fused_FullyConnected";
/// Those that files must not contain; operators made by gradients have OpDef::is_backward.
inline constexpr std::string_view kInternal[] = {kCrossDevice, kFusedBatchNorm, kFusedConvolution,
                                                 kFusedFullyConnected};

inline constexpr const char* kForeach = "_foreach";     ///< a loop, until it is unrolled
inline constexpr const char* kSlices = "SliceChannel";  ///< inputs of its iterations
inline constexpr const char* kStack = "stack";          ///< their outputs

}  // namespace symbind::core_ops
