#pragma once
// Counts conversions of attributes to and from text, which a step must never do.

#include <cstdint>

namespace symbind {

/// Since the start of the process, over all threads.
std::uint64_t attribute_texts();

}  // namespace symbind
