#pragma once
// The custom operators users registered.

#include <symbind/custom.h>

namespace symbind {

/// The operator of this name for these attributes; throws kName if it is not registered.
CustomDescriptionPtr describe_custom(const std::string& op_type, const AttrDict& rest);

}  // namespace symbind
