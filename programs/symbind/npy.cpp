// NumPy's .npy: a magic number, a header that is a Python dictionary, the numbers.
//
// Versions 1.0 to 3.0, little and big endian, C and Fortran order are read; version 1.0 (2.0 where
// the header is long), little endian, C order is written.

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "arrays.h"
#include "program.h"

namespace symbind::program {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

struct TypeName {
  const char* text;  ///< without the byte order
  DType dtype;
};
constexpr TypeName kTypes[] = {
    {"f4", DType::kFloat32}, {"f8", DType::kFloat64}, {"f2", DType::kFloat16},
    {"u1", DType::kUint8},   {"i4", DType::kInt32},   {"i1", DType::kInt8},
    {"i8", DType::kInt64},   {"b1", DType::kBool},    {"i2", DType::kInt16},
    {"u2", DType::kUint16},  {"u4", DType::kUint32},  {"u8", DType::kUint64},
};

struct Header {
  DType dtype = DType::kUnknown;
  bool big_endian = false, fortran = false;
  Shape shape;
};

/// Reads the few forms of a Python dictionary that NumPy writes.
class HeaderReader {
 public:
  HeaderReader(std::string_view text, const std::string& where) : text_(text), where_(where) {}

  Header read() {
    Header header;
    std::optional<std::string> descr;
    bool has_order = false, has_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr") {
        descr = quoted();
      } else if (key == "fortran_order") {
        header.fortran = boolean();
        has_order = true;
      } else if (key == "shape") {
        header.shape = tuple();
        has_shape = true;
      } else {
        bad("unknown key '" + key + "'");
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    if (!descr || !has_order || !has_shape) bad("descr, fortran_order or shape is missing");
    set_type(header, *descr);
    return header;
  }

 private:
  [[noreturn]] void bad(const std::string& why) const {
    fail(ErrorKind::kIo, fmt::format("{}: the .npy header is damaged: {}", where_, why));
  }
  void skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool accept(char c) {
    skip_spaces();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) bad(fmt::format("'{}' expected at byte {}", c, at_));
  }
  std::string quoted() {
    skip_spaces();
    if (at_ >= text_.size() || (text_[at_] != '\'' && text_[at_] != '"'))
      bad(fmt::format("a text expected at byte {}; structured types are not supported", at_));
    const auto end = text_.find(text_[at_], at_ + 1);
    if (end == std::string_view::npos) bad("a text does not end");
    std::string result(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return result;
  }
  bool boolean() {
    skip_spaces();
    for (const auto& [word, value] : {std::pair<std::string_view, bool>{"True", true},
                                      std::pair<std::string_view, bool>{"False", false}})
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return value;
      }
    bad(fmt::format("True or False expected at byte {}", at_));
  }
  Shape tuple() {
    Shape shape;
    expect('(');
    while (!accept(')')) {
      skip_spaces();
      std::int64_t extent = 0;
      const auto [end, error] =
          std::from_chars(text_.data() + at_, text_.data() + text_.size(), extent);
      if (error != std::errc{} || extent < 0) bad("an extent is not a whole number");
      if (shape.rank() == kMaxRank) bad(fmt::format("more than {} axes", kMaxRank));
      shape.push_back(extent);
      at_ = static_cast<std::size_t>(end - text_.data());
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return shape;
  }
  void set_type(Header& header, const std::string& descr) const {
    const bool has_order = !descr.empty() && std::strchr("<>|=", descr[0]) != nullptr;
    header.big_endian = has_order && descr[0] == '>';
    const std::string name = has_order ? descr.substr(1) : descr;
    for (const TypeName& type : kTypes)
      if (name == type.text) header.dtype = type.dtype;
    if (header.dtype == DType::kUnknown)
      fail(ErrorKind::kType,
           fmt::format("{}: the element type '{}' is not supported; save numbers, e.g. "
                       "array.astype('float32')",
                       where_, descr));
  }

  std::string_view text_;
  const std::string& where_;
  std::size_t at_ = 0;
};

void swap_bytes(std::string& bytes, std::size_t size) {
  for (std::size_t at = 0; at + size <= bytes.size(); at += size)
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                 bytes.begin() + static_cast<std::ptrdiff_t>(at + size));
}

/// The elements of a Fortran-order array in C order.
std::string to_c_order(const std::string& bytes, const Shape& shape, std::size_t size) {
  std::string result(bytes.size(), '\0');
  std::vector<std::int64_t> index(static_cast<std::size_t>(shape.rank()), 0);
  std::vector<std::uint64_t> stride(index.size(), 1);
  for (std::size_t axis = 1; axis < stride.size(); ++axis)
    stride[axis] = stride[axis - 1] * static_cast<std::uint64_t>(shape[static_cast<int>(axis) - 1]);
  for (std::size_t to = 0; to < bytes.size(); to += size) {
    std::uint64_t from = 0;
    for (std::size_t axis = 0; axis < index.size(); ++axis)
      from += stride[axis] * static_cast<std::uint64_t>(index[axis]);
    std::memcpy(result.data() + to, bytes.data() + from * size, size);
    for (std::size_t axis = index.size(); axis-- > 0;) {
      if (++index[axis] < shape[static_cast<int>(axis)]) break;
      index[axis] = 0;
    }
  }
  return result;
}

}  // namespace

NDArray parse_npy(std::string_view bytes, const std::string& where) {
  const auto bad = [&](const std::string& why) { fail(ErrorKind::kIo, where + ": " + why); };
  if (!bytes.starts_with(kMagic))
    bad("this is not a .npy file: it does not begin with the format's mark");
  if (bytes.size() < 10) bad("the .npy file ends within its header");
  const auto byte = [&](std::size_t i) {
    return static_cast<std::uint64_t>(std::uint8_t(bytes[i]));
  };
  const std::uint64_t version = byte(6);
  if (version < 1 || version > 3) bad(fmt::format("version {} of .npy is not supported", version));
  const std::size_t begin = version == 1 ? 10 : 12;
  if (bytes.size() < begin) bad("the .npy file ends within its header");
  std::uint64_t length = byte(8) | byte(9) << 8;
  if (version > 1) length |= byte(10) << 16 | byte(11) << 24;
  if (length > bytes.size() - begin) bad("the .npy file ends within its header");
  const Header header = HeaderReader(bytes.substr(begin, length), where).read();
  const std::uint64_t needed = checked_bytes(header.shape, header.dtype, where);
  const std::string_view body = bytes.substr(begin + length);
  if (body.size() != needed)
    bad(fmt::format("the shape {} of {} needs {} bytes, and there are {}", header.shape.str(),
                    dtype_name(header.dtype), needed, body.size()));
  const std::size_t size = size_of(header.dtype);
  if ((!header.big_endian || size == 1) && (!header.fortran || header.shape.rank() < 2))
    return NDArray::from_host(body.data(), header.shape, header.dtype, cpu());
  std::string numbers(body);
  if (header.big_endian && size > 1) swap_bytes(numbers, size);
  if (header.fortran && header.shape.rank() > 1) numbers = to_c_order(numbers, header.shape, size);
  return NDArray::from_host(numbers.data(), header.shape, header.dtype, cpu());
}

std::string npy_bytes(const NDArray& array) {
  const char* type = nullptr;
  for (const TypeName& known : kTypes)
    if (known.dtype == array.dtype()) type = known.text;
  if (type == nullptr)
    fail(ErrorKind::kType, fmt::format("NumPy has no type {}; convert with --dtype float32",
                                       dtype_name(array.dtype())));
  std::string header =
      fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': {}, }}",
                  size_of(array.dtype()) == 1 ? '|' : '<', type, array.shape().str());
  const std::size_t begin = header.size() + 11 < 65536 ? 10 : 12;
  header.append((64 - (begin + header.size() + 1) % 64) % 64, ' ');
  header += '\n';
  std::string bytes(kMagic);
  bytes += static_cast<char>(begin == 10 ? 1 : 2);
  bytes += '\0';
  for (std::size_t i = 0; i < begin - 8; ++i)
    bytes += static_cast<char>(header.size() >> (8 * i) & 0xFF);
  return bytes.append(header).append(raw_bytes(array));
}

}  // namespace symbind::program
