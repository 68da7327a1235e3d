#pragma once
// Array files put together by hand.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace symbind {

inline std::vector<std::byte> from_hex(std::string_view hex) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes.push_back(static_cast<std::byte>(digit(hex[i]) * 16 + digit(hex[i + 1])));
  return bytes;
}

struct ByteBuilder {
  std::vector<std::byte> bytes;

  ByteBuilder& raw(const void* data, std::size_t size) {
    const auto* from = static_cast<const std::byte*>(data);
    bytes.insert(bytes.end(), from, from + size);
    return *this;
  }
  template <class T>
  ByteBuilder& put(T value) {
    return raw(&value, sizeof value);
  }
  ByteBuilder& u32(std::uint32_t v) { return put(v); }
  ByteBuilder& i32(std::int32_t v) { return put(v); }
  ByteBuilder& i64(std::int64_t v) { return put(v); }
  ByteBuilder& u64(std::uint64_t v) { return put(v); }

  ByteBuilder& list_head(std::uint64_t count) { return u64(0x112).u64(0).u64(count); }
  /// Everything of a dense V2 record but its data.
  ByteBuilder& v2_head(const std::vector<std::int64_t>& dims, std::int32_t dtype) {
    u32(0xF993FAC9).i32(0).i32(static_cast<std::int32_t>(dims.size()));
    for (const std::int64_t dim : dims) i64(dim);
    return i32(1).i32(0).i32(dtype);
  }
  ByteBuilder& name(std::string_view text) {
    return u64(text.size()).raw(text.data(), text.size());
  }
};

// row_sparse_array(([[1, 2], [3, 4]], [0, 2]), shape=(4, 2)) and
// csr_matrix(([1, 2, 3], [1, 0, 2], [0, 1, 1, 3]), shape=(3, 3)), saved by MXNet 1.9.1.
inline constexpr std::string_view kRowSparseFile =
    "120100000000000000000000000000000100000000000000c9fa93f901000000020000000200000000000000020000"
    "0"
    "0000000000200000004000000000000000200000000000000010000000000000000000000060000000100000002000"
    "000"
    "000000000000803f000000400000404000008040000000000000000002000000000000000100000000000000010000"
    "0"
    "00000000077";
inline constexpr std::string_view kCsrFile =
    "120100000000000000000000000000000100000000000000c9fa93f902000000010000000300000000000000020000"
    "0"
    "0030000000000000003000000000000000100000000000000000000000600000001000000040000000000000006000"
    "000"
    "0100000003000000000000000000803f00000040000040400000000000000000010000000000000001000000000000"
    "00"
    "0300000000000000010000000000000000000000000000000200000000000000010000000000000001000000000000"
    "0063";

}  // namespace symbind
