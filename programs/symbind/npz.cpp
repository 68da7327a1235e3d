// NumPy's .npz: a zip archive of .npy files.
//
// Entries are written without compression, as numpy.savez does; stored and deflated entries are
// read, zip64 included. The central directory decides; sizes in local headers are not used.

#include <zlib.h>

#include <cstring>
#include <set>

#include <fmt/format.h>

#include "arrays.h"
#include "program.h"

namespace symbind::program {
namespace {

constexpr std::uint32_t kLocal = 0x04034b50, kCentral = 0x02014b50, kEnd = 0x06054b50,
                        kEnd64 = 0x06064b50, kEnd64Locator = 0x07064b50;
constexpr std::uint64_t kMost32 = 0xFFFFFFFF, kMost16 = 0xFFFF;
/// Deflate makes at most 1032 bytes of one.
constexpr std::uint64_t kMostExpansion = 1032;

void put(std::string& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i, value >>= 8) out += static_cast<char>(value & 0xFF);
}

std::uint32_t crc_of(std::string_view bytes) {
  return static_cast<std::uint32_t>(
      ::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

struct Entry {
  std::string name;
  std::uint64_t method = 0, flags = 0, crc = 0, packed = 0, size = 0, offset = 0;
};

class ZipReader {
 public:
  ZipReader(std::string_view bytes, const std::string& path) : bytes_(bytes), path_(path) {}

  std::vector<Entry> entries() const {
    const std::uint64_t end = find_end();
    std::uint64_t count = number(end + 10, 2), size = number(end + 12, 4), at = number(end + 16, 4);
    if ((count == kMost16 || size == kMost32 || at == kMost32) && end >= 20 &&
        number(end - 20, 4) == kEnd64Locator) {
      const std::uint64_t end64 = number(end - 12, 8);
      if (number(end64, 4) != kEnd64) bad("the zip64 end record is not where it should be");
      count = number(end64 + 32, 8);
      size = number(end64 + 40, 8);
      at = number(end64 + 48, 8);
    }
    piece(at, size);
    if (count > size / 46) bad("the directory is too short for its entries");
    std::vector<Entry> all;
    for (std::uint64_t i = 0; i < count; ++i) all.push_back(entry(at));
    return all;
  }

  std::string contents(const Entry& e) const {
    if ((e.flags & 1) != 0) bad("'" + e.name + "' is encrypted");
    if (number(e.offset, 4) != kLocal) bad("'" + e.name + "' is not where the directory says");
    const std::uint64_t begin = e.offset + 30 + number(e.offset + 26, 2) + number(e.offset + 28, 2);
    const std::string_view packed = piece(begin, e.packed);
    std::string result;
    if (e.method == 0) {
      if (e.packed != e.size) bad("'" + e.name + "' has two sizes");
      result = packed;
    } else if (e.method == 8) {
      result = inflated(packed, e);
    } else {
      bad(fmt::format("'{}' is compressed by method {}; only stored and deflated entries are read",
                      e.name, e.method));
    }
    if (crc_of(result) != e.crc) bad("'" + e.name + "' is damaged: its checksum differs");
    return result;
  }

  [[noreturn]] void bad(const std::string& why) const {
    fail(ErrorKind::kIo, fmt::format("{}: not a readable .npz file: {}", path_, why));
  }

 private:
  std::string_view piece(std::uint64_t at, std::uint64_t size) const {
    if (at > bytes_.size() || size > bytes_.size() - at) bad("it ends too early");
    return bytes_.substr(at, size);
  }
  std::uint64_t number(std::uint64_t at, unsigned size) const {
    const std::string_view text = piece(at, size);
    std::uint64_t value = 0;
    for (unsigned i = 0; i < size; ++i)
      value |= static_cast<std::uint64_t>(static_cast<std::uint8_t>(text[i])) << (8 * i);
    return value;
  }
  std::uint64_t find_end() const {
    if (bytes_.size() < 22) bad("it is too short");
    const std::uint64_t first = bytes_.size() < 22 + kMost16 ? 0 : bytes_.size() - 22 - kMost16;
    for (std::uint64_t at = bytes_.size() - 22 + 1; at-- > first;)
      if (number(at, 4) == kEnd) return at;
    bad("it has no end record");
  }
  Entry entry(std::uint64_t& at) const {
    if (number(at, 4) != kCentral) bad("the directory is damaged");
    Entry e;
    e.flags = number(at + 8, 2);
    e.method = number(at + 10, 2);
    e.crc = number(at + 16, 4);
    e.packed = number(at + 20, 4);
    e.size = number(at + 24, 4);
    e.offset = number(at + 42, 4);
    const std::uint64_t name = number(at + 28, 2), extra = number(at + 30, 2);
    e.name = piece(at + 46, name);
    read_zip64(e, at + 46 + name, extra);
    at += 46 + name + extra + number(at + 32, 2);
    return e;
  }
  /// Fields that did not fit 32 bits follow in an extra record, in this order.
  void read_zip64(Entry& e, std::uint64_t at, std::uint64_t left) const {
    while (left >= 4) {
      const std::uint64_t kind = number(at, 2), size = number(at + 2, 2);
      if (size > left - 4) bad("an extra record is too long");
      if (kind == 1) {
        std::uint64_t from = at + 4;
        for (std::uint64_t* field : {&e.size, &e.packed, &e.offset})
          if (*field == kMost32 && from + 8 <= at + 4 + size) {
            *field = number(from, 8);
            from += 8;
          }
      }
      at += 4 + size;
      left -= 4 + size;
    }
  }
  std::string inflated(std::string_view packed, const Entry& e) const {
    if (e.size / kMostExpansion > packed.size() + 1) bad("'" + e.name + "' cannot become so large");
    std::string result(e.size, '\0');
    z_stream stream{};
    if (::inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
    int state = Z_OK;
    std::uint64_t used = 0, made = 0;
    while (state == Z_OK) {  // zlib counts in 32 bits
      const auto in = static_cast<uInt>(std::min<std::uint64_t>(packed.size() - used, 1U << 30));
      const auto out = static_cast<uInt>(std::min<std::uint64_t>(result.size() - made, 1U << 30));
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + used));
      stream.avail_in = in;
      stream.next_out = reinterpret_cast<Bytef*>(result.data() + made);
      stream.avail_out = out;
      state = ::inflate(&stream, Z_NO_FLUSH);
      used += in - stream.avail_in;
      made += out - stream.avail_out;
      if (in == stream.avail_in && out == stream.avail_out) break;
    }
    ::inflateEnd(&stream);
    if (state != Z_STREAM_END || made != result.size())
      bad("'" + e.name + "' is damaged: it cannot be decompressed");
    return result;
  }

  std::string_view bytes_;
  const std::string& path_;
};

}  // namespace

NamedArrays parse_npz(std::string_view bytes, const std::string& path) {
  const ZipReader zip(bytes, path);
  NamedArrays arrays;
  std::set<std::string> seen;
  for (const Entry& e : zip.entries()) {
    if (!e.name.ends_with(".npy")) zip.bad("'" + e.name + "' is not a .npy file");
    const std::string name = e.name.substr(0, e.name.size() - 4);
    if (!seen.insert(name).second) zip.bad("'" + name + "' occurs twice");
    arrays.names.push_back(name);
    arrays.arrays.push_back(parse_npy(zip.contents(e), fmt::format("{} '{}'", path, name)));
  }
  return arrays;
}

std::string npz_bytes(const NamedArrays& arrays) {
  std::string out, directory;
  for (std::size_t i = 0; i < arrays.arrays.size(); ++i) {
    const std::string& given = i < arrays.names.size() ? arrays.names[i] : "";
    const std::string name = (given.empty() ? fmt::format("arr_{}", i) : given) + ".npy";
    const std::string body = npy_bytes(arrays.arrays[i]);
    if (out.size() + body.size() + name.size() + 30 > kMost32 || name.size() > kMost16 ||
        i + 1 >= kMost16)
      fail(ErrorKind::kValue,
           "a .npz file is written up to 4 GiB and 65534 arrays; use .safetensors");
    std::string common;
    put(common, 20, 2);
    put(common, 0x800, 2);  // names are UTF-8
    put(common, 0, 2);
    put(common, 0, 2);
    put(common, 0x21, 2);  // 1980-01-01: equal arrays give equal files
    put(common, crc_of(body), 4);
    put(common, body.size(), 4);
    put(common, body.size(), 4);
    put(common, name.size(), 2);
    put(common, 0, 2);
    put(directory, kCentral, 4);
    put(directory, 20, 2);
    directory += common;
    put(directory, 0, 10);  // comment, disk, attributes
    put(directory, out.size(), 4);
    directory += name;
    put(out, kLocal, 4);
    out.append(common).append(name).append(body);
  }
  const std::size_t at = out.size(), count = arrays.arrays.size();
  if (at + directory.size() > kMost32)
    fail(ErrorKind::kValue, "a .npz file is written up to 4 GiB; use .safetensors");
  out += directory;
  put(out, kEnd, 4);
  put(out, 0, 4);
  put(out, count, 2);
  put(out, count, 2);
  put(out, directory.size(), 4);
  put(out, at, 4);
  put(out, 0, 2);
  return out;
}

}  // namespace symbind::program
