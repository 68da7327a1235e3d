#include "kvstore/wire.h"

#include <charconv>
#include <cstring>

#include "base/check.h"
#include "base/checked.h"
#include "ndarray/access.h"

namespace symbind {

Shape sent_shape(const net::ValueCall& call) {
  for (const std::int64_t n : call.shape)
    check(n >= 0, ErrorKind::kShape, "worker {} sends a shape with the extent {}", call.worker, n);
  return Shape(call.shape);
}

DType sent_dtype(const net::ValueCall& call) { return dtype_from_name(std::to_string(call.dtype)); }

NDArray sent_array(const net::ValueCall& call) {
  const DType dtype = sent_dtype(call);
  const Shape shape = sent_shape(call);
  const std::int64_t bytes =
      checked_mul(shape.size(), static_cast<std::int64_t>(size_of(dtype)), "the bytes of an array");
  check(bytes == static_cast<std::int64_t>(call.bytes.size()), ErrorKind::kShape,
        "worker {} sends {} bytes for an array of {} bytes", call.worker, call.bytes.size(), bytes);
  NDArray array(shape, cpu(), dtype);
  if (bytes > 0) std::memcpy(write_pointer(array), call.bytes.data(), call.bytes.size());
  return array;
}

std::string key_to_wire(const Key& key) {
  return (std::holds_alternative<std::string>(key) ? "s" : "i") + key_text(key);
}

Key key_from_wire(const std::string& text) {
  check(!text.empty() && (text[0] == 's' || text[0] == 'i'), "'{}' is not a key", text);
  if (text[0] == 's') return text.substr(1);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), number);
  check(error == std::errc() && end == text.data() + text.size(), "'{}' is not a key", text);
  return number;
}

std::vector<RemoteUpdates::Part> parts_of(const Key& key, std::int64_t elements, int servers,
                                          std::int64_t bound) {
  if (elements <= bound || servers == 1) {
    std::uint64_t hash = 1469598103934665603u;  // FNV-1a: the same on every machine
    for (const char c : key_to_wire(key))
      hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
    return {{static_cast<int>(hash % static_cast<std::uint64_t>(servers)), 0, elements}};
  }
  std::vector<RemoteUpdates::Part> parts;
  const std::int64_t each = elements / servers, more = elements % servers;
  for (int s = 0; s < servers; ++s)
    parts.push_back({s, each * s + std::min<std::int64_t>(more, s),
                     each * (s + 1) + std::min<std::int64_t>(more, s + 1)});
  return parts;
}

}  // namespace symbind
