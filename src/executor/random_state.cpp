#include "executor/random_state.h"

#include <map>
#include <mutex>

#include <symbind/random.h>

namespace symbind {
namespace {

struct Generator {
  std::uint64_t seed = 0;
  std::uint64_t draws = 0;
};

struct Generators {
  std::mutex mutex;
  std::uint64_t common_seed = 0;
  std::map<std::pair<int, int>, Generator> by_device;
};

Generators& generators() {
  static Generators& all = *new Generators;  // never destroyed: threads may outlive main
  return all;
}

std::pair<int, int> key(Context c) { return {static_cast<int>(c.type), c.id}; }

// Devices with equal seeds must draw different numbers.
std::uint64_t device_seed(std::uint64_t seed, Context c) {
  return seed +
         0x9E3779B97F4A7C15u * (static_cast<std::uint64_t>(c.id) + (c.is_gpu() ? 1u << 16 : 0u));
}

}  // namespace

void seed(std::uint64_t value) {
  Generators& g = generators();
  const std::lock_guard lock(g.mutex);
  g.common_seed = value;
  g.by_device.clear();
}

void seed(std::uint64_t value, Context context) {
  Generators& g = generators();
  const std::lock_guard lock(g.mutex);
  g.by_device[key(context)] = {value, 0};
}

RandomState random_state() {
  Generators& g = generators();
  const std::lock_guard lock(g.mutex);
  RandomState state{.common_seed = g.common_seed};
  for (const auto& [device, generator] : g.by_device)
    state.generators.push_back({Context{static_cast<DeviceType>(device.first), device.second},
                                generator.seed, generator.draws});
  return state;
}

void set_random_state(const RandomState& state) {
  Generators& g = generators();
  const std::lock_guard lock(g.mutex);
  g.common_seed = state.common_seed;
  g.by_device.clear();
  for (const RandomState::Generator& one : state.generators)
    g.by_device[key(one.context)] = {one.seed, one.draws};
}

std::pair<std::uint64_t, std::uint64_t> next_random_draw(Context context) {
  Generators& g = generators();
  const std::lock_guard lock(g.mutex);
  const auto [it, added] =
      g.by_device.try_emplace(key(context), Generator{device_seed(g.common_seed, context), 0});
  return {it->second.seed, it->second.draws++};
}

}  // namespace symbind
