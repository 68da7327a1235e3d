#include "kernels/libraries.h"

namespace symbind::onednn {

std::optional<LibraryInfo> library_info() { return std::nullopt; }

}  // namespace symbind::onednn
