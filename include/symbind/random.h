#pragma once
// Random numbers are counter based: what an operator draws depends on the seed, on how many random
// operators ran on the device since, and on nothing else (not on threads).

#include <cstdint>

#include <symbind/context.h>

namespace symbind {

/// Seeds every device.
void seed(std::uint64_t value);
/// Seeds one device.
void seed(std::uint64_t value, Context context);

}  // namespace symbind
