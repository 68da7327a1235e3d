// CRC-32C (Castagnoli), reflected, as TFRecord files use it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace symbind {

inline std::uint32_t crc32c(std::string_view bytes) {
  static constexpr std::array<std::uint32_t, 256> kTable = [] {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t c = i;
      for (int bit = 0; bit < 8; ++bit) c = (c >> 1) ^ ((c & 1) != 0 ? 0x82F63B78u : 0);
      table[i] = c;
    }
    return table;
  }();
  std::uint32_t crc = 0xFFFFFFFFu;
  for (const char byte : bytes)
    crc = kTable[(crc ^ static_cast<std::uint8_t>(byte)) & 0xFF] ^ (crc >> 8);
  return ~crc;
}

}  // namespace symbind
