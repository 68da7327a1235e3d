#pragma once
// Random numbers are counter based: what an operator draws depends on the seed, on how many random
// operators ran on the device since, and on nothing else (not on threads).

#include <cstdint>
#include <vector>

#include <symbind/context.h>

namespace symbind {

/// Seeds every device.
void seed(std::uint64_t value);
/// Seeds one device.
void seed(std::uint64_t value, Context context);

/// The state of the generators of all devices.
struct RandomState {
  struct Generator {
    Context context;
    std::uint64_t seed = 0, draws = 0;
  };
  std::uint64_t common_seed = 0;  ///< of devices that have not drawn yet
  std::vector<Generator> generators = {};
};
RandomState random_state();
/// The next draws repeat those that followed `random_state`.
void set_random_state(const RandomState& state);

}  // namespace symbind
