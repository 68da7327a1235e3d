#pragma once
// Constants of MXNet's array files, shared by reader and writer.
//
//   list:    u64 0x112 · u64 0 · u64 n · n records · u64 names (0 or n) · names (u64 length, bytes)
//   record:  u32 version · V2, V3: i32 storage type · shape · context · i32 dtype · data
//
// A version word that is none of the three below is V0's number of axes (files up to 0.10).

#include <cstdint>

namespace symbind::params {

inline constexpr std::uint64_t kListMagic = 0x112;
inline constexpr std::uint32_t kV1 = 0xF993FAC8;  // 0.11
inline constexpr std::uint32_t kV2 = 0xF993FAC9;  // since 0.12
inline constexpr std::uint32_t kV3 = 0xF993FACA;  // since 1.5, where rank 0 is a scalar

enum StorageType : std::int32_t { kDense = 0, kRowSparse = 1, kCsr = 2 };

}  // namespace symbind::params
