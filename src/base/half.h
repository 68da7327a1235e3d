// The two 16-bit floating point types, as storage that converts to and from float.
//
// Decided here: conversion from float rounds to nearest, ties to even, as the hardware does;
// overflow gives infinity; subnormals are kept; a NaN stays a quiet NaN with the upper bits of its
// payload.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

#ifdef __F16C__
#include <immintrin.h>
#endif

namespace symbind {

/// IEEE binary16: 1 sign, 5 exponent, 10 fraction bits.
struct Half {
  uint16_t bits = 0;

  Half() = default;
  Half(float value) : bits(encode(value)) {}
  operator float() const { return decode(bits); }

  static constexpr Half from_bits(uint16_t bits) {
    Half h;
    h.bits = bits;
    return h;
  }

  /// The conversions without hardware, for machines and builds that lack F16C.
  static constexpr uint16_t encode_portable(float value) {
    const uint32_t all = std::bit_cast<uint32_t>(value);
    const auto sign = static_cast<uint16_t>((all >> 16) & 0x8000u);
    const uint32_t magnitude = all & 0x7fffffffu;
    if (magnitude > 0x7f800000u)  // NaN
      return static_cast<uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu));
    if (magnitude >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);  // rounds past max
    if (magnitude < 0x38800000u) {               // below 2^-14: subnormal or zero
      if (magnitude < 0x33000000u) return sign;  // below 2^-25; exactly 2^-25 ties to zero below
      const uint32_t shift = 126u - (magnitude >> 23);
      const uint32_t fraction = (magnitude & 0x7fffffu) | 0x800000u;
      return static_cast<uint16_t>(sign | shift_to_even(fraction, shift));
    }
    return static_cast<uint16_t>(sign | shift_to_even(magnitude - 0x38000000u, 13));
  }

  static constexpr float decode_portable(uint16_t bits) {
    const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
    const uint32_t exponent = (bits >> 10) & 0x1fu;
    const uint32_t fraction = bits & 0x3ffu;
    if (exponent == 0x1f)
      return std::bit_cast<float>(sign | 0x7f800000u | (fraction << 13) |
                                  (fraction != 0 ? 0x400000u : 0u));
    if (exponent != 0)
      return std::bit_cast<float>(sign | ((exponent + 112u) << 23) | (fraction << 13));
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;  // exact
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
  }

 private:
  /// value / 2^shift, rounded to nearest even.
  static constexpr uint32_t shift_to_even(uint32_t value, uint32_t shift) {
    const uint32_t kept = value >> shift;
    const uint32_t rest = value & ((1u << shift) - 1u);
    const uint32_t middle = 1u << (shift - 1u);
    return kept + ((rest > middle || (rest == middle && (kept & 1u))) ? 1u : 0u);
  }

#ifdef __F16C__
  static uint16_t encode(float value) { return _cvtss_sh(value, _MM_FROUND_TO_NEAREST_INT); }
  static float decode(uint16_t bits) { return _cvtsh_ss(bits); }
#else
  static constexpr uint16_t encode(float value) { return encode_portable(value); }
  static constexpr float decode(uint16_t bits) { return decode_portable(bits); }
#endif
};

/// The upper half of a float: 1 sign, 8 exponent, 7 fraction bits.
struct BFloat16 {
  uint16_t bits = 0;

  BFloat16() = default;
  constexpr BFloat16(float value) {
    const uint32_t all = std::bit_cast<uint32_t>(value);
    if ((all & 0x7fffffffu) > 0x7f800000u)
      bits =
          static_cast<uint16_t>((all >> 16) | 0x40u);  // quiet, so that it cannot become infinity
    else
      bits = static_cast<uint16_t>((all + 0x7fffu + ((all >> 16) & 1u)) >> 16);
  }
  constexpr operator float() const {
    return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  }

  static constexpr BFloat16 from_bits(uint16_t bits) {
    BFloat16 b;
    b.bits = bits;
    return b;
  }
};

static_assert(sizeof(Half) == 2 && sizeof(BFloat16) == 2);

}  // namespace symbind
