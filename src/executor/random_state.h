#pragma once
// One generator per device: a seed and how many draws were made since it was set.

#include <cstdint>
#include <utility>

#include <symbind/context.h>

namespace symbind {

/// The seed of `context` and the number of this draw.
std::pair<std::uint64_t, std::uint64_t> next_random_draw(Context context);

}  // namespace symbind
