#pragma once
// How often attributes were made to text or read from it: what a step must never do.

#include <cstdint>

namespace symbind {

/// Since the start of the process, over all threads.
std::uint64_t attribute_texts();

}  // namespace symbind
