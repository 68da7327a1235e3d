#pragma once
// The host's arena: reserved address space that is committed as it grows.

#include <memory>

#include "device/arena.h"

namespace symbind {

std::unique_ptr<Arena> make_cpu_arena();

}  // namespace symbind
