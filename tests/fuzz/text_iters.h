#pragma once

#include <symbind/io.h>

namespace symbind::fuzz {

/// Two epochs with a state taken and given back within the first.
void read_epochs(DataIter& iter);

}  // namespace symbind::fuzz
