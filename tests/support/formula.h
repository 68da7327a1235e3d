#pragma once
// The seeded formula of tools/oracle/README.md: equal numbers here and in the recordings.

#include <cstdint>
#include <string_view>

namespace symbind::formula {

/// The 64 bits of element i.
inline std::uint64_t bits(std::uint64_t seed, std::uint64_t i) {
  std::uint64_t z = seed * 0x9E3779B97F4A7C15u + (i + 1) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

/// Element i in [lo, hi).
inline double value(std::uint64_t seed, std::uint64_t i, double lo, double hi) {
  return lo + (hi - lo) * (static_cast<double>(bits(seed, i) >> 40) * 0x1p-24);
}

/// A seed from a name: FNV-1a.
inline std::uint64_t seed_of(std::string_view name) {
  std::uint64_t h = 0xCBF29CE484222325u;
  for (const char c : name) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
  return h;
}

}  // namespace symbind::formula
