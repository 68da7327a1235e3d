#include "kernels/libraries.h"

#include <dnnl.h>

namespace symbind::onednn {

std::optional<LibraryInfo> library_info() {
  const dnnl_version_t* version = dnnl_version();
  LibraryInfo info{"oneDNN", "", version->hash};
  info.version = std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
                 std::to_string(version->patch);
  return info;
}

}  // namespace symbind::onednn
