// The numeric libraries this build is linked to, each described by the folder that calls it.
#pragma once

#include <optional>

#include <symbind/libraries.h>

namespace symbind {

namespace blas {
LibraryInfo library_info();
}
namespace onednn {
/// Nothing in a build without oneDNN.
std::optional<LibraryInfo> library_info();
}  // namespace onednn

}  // namespace symbind
