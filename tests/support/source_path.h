#pragma once
// Where files of the source tree are. One file knows the folder: the others compile to the same
// objects in every checkout.

#include <string>

namespace symbind {

/// `path`, relative to the root of the source tree, as an absolute path.
std::string source_path(const std::string& path);

}  // namespace symbind
