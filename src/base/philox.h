// Counter-based random bits: the same key and counter give the same bits on any thread, in any
// order, on any device (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011).
#pragma once

#include <array>
#include <cstdint>

namespace symbind {

/// Philox 4x32 with 10 rounds. The low words come first: counter words are {lo, lo >> 32, hi,
/// hi >> 32}, key words {key, key >> 32}.
constexpr std::array<uint32_t, 4> philox(uint64_t key, uint64_t counter_hi, uint64_t counter_lo) {
  auto low = [](uint64_t v) { return static_cast<uint32_t>(v); };
  auto high = [](uint64_t v) { return static_cast<uint32_t>(v >> 32); };
  std::array<uint32_t, 4> c = {low(counter_lo), high(counter_lo), low(counter_hi),
                               high(counter_hi)};
  uint32_t k0 = low(key), k1 = high(key);
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53} * c[0];
    const uint64_t b = uint64_t{0xCD9E8D57} * c[2];
    c = {high(b) ^ c[1] ^ k0, low(b), high(a) ^ c[3] ^ k1, low(a)};
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return c;
}

/// A float in [0, 1) from 32 random bits: a multiple of 2^-24.
constexpr float unit_float(uint32_t bits) { return static_cast<float>(bits >> 8) * 0x1p-24f; }

/// A double in [0, 1) from 64 random bits: a multiple of 2^-53.
constexpr double unit_double(uint32_t hi, uint32_t lo) {
  return static_cast<double>(((uint64_t{hi} << 32) | lo) >> 11) * 0x1p-53;
}

}  // namespace symbind
