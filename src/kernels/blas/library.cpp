#include "kernels/libraries.h"

#include <cblas.h>

namespace symbind::blas {

/// OpenBLAS describes itself as "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH … SkylakeX
/// MAX_THREADS=64".
LibraryInfo library_info() {
  const std::string text = openblas_get_config();
  const auto name_end = text.find(' ');
  if (name_end == std::string::npos) return {"OpenBLAS", "unknown", text};
  const auto version_end = text.find(' ', name_end + 1);
  return {"OpenBLAS", text.substr(name_end + 1, version_end - name_end - 1),
          version_end == std::string::npos ? "" : text.substr(version_end + 1)};
}

}  // namespace symbind::blas
