#include "support/source_path.h"

namespace symbind {

std::string source_path(const std::string& path) { return SYMBIND_SOURCE_DIR "/" + path; }

}  // namespace symbind
