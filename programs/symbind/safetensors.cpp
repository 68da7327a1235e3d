// The .safetensors format: the header's length (8 bytes, little endian), a JSON header, the data.
//
//   {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, "__metadata__": {…}}
//
// Decided here: a reader accepts what the format's own library accepts (offsets that cover the data
// without holes or overlaps, a header of at most 100 MB); a writer orders tensors by element type
// and then by name and pads the header to 8 bytes, which makes its files equal to that library's.

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "arrays.h"
#include "program.h"

namespace symbind::program {
namespace {

constexpr std::uint64_t kMostHeader = 100'000'000;

struct TypeName {
  const char* text;
  DType dtype;
};
/// In the order in which files have them, from last to first.
constexpr TypeName kTypes[] = {
    {"BOOL", DType::kBool},     {"U8", DType::kUint8},    {"I8", DType::kInt8},
    {"I16", DType::kInt16},     {"U16", DType::kUint16},  {"F16", DType::kFloat16},
    {"BF16", DType::kBFloat16}, {"I32", DType::kInt32},   {"U32", DType::kUint32},
    {"F32", DType::kFloat32},   {"F64", DType::kFloat64}, {"I64", DType::kInt64},
    {"U64", DType::kUint64},
};

int rank_of(DType dtype) {
  for (std::size_t i = 0; i < std::size(kTypes); ++i)
    if (kTypes[i].dtype == dtype) return static_cast<int>(i);
  fail(ErrorKind::kType, fmt::format(".safetensors has no type {}", dtype_name(dtype)));
}

struct Tensor {
  std::string name;
  DType dtype = DType::kUnknown;
  Shape shape;
  std::uint64_t begin = 0, end = 0;
};

class Reader {
 public:
  Reader(std::string_view bytes, const std::string& path) : bytes_(bytes), path_(path) {}

  NamedArrays read() {
    if (bytes_.size() < 8) bad("it is shorter than 8 bytes");
    std::uint64_t length = 0;
    for (std::size_t i = 0; i < 8; ++i)
      length |= static_cast<std::uint64_t>(static_cast<std::uint8_t>(bytes_[i])) << (8 * i);
    if (length > kMostHeader)
      bad(fmt::format("its header has {} bytes, and {} is the limit", length, kMostHeader));
    if (length > bytes_.size() - 8) bad("it ends within its header");
    std::vector<Tensor> tensors = header(bytes_.substr(8, length));
    const std::string_view data = bytes_.substr(8 + length);
    check_offsets(tensors, data.size());
    NamedArrays arrays;
    for (const Tensor& t : tensors) {
      arrays.names.push_back(t.name);
      arrays.arrays.push_back(NDArray::from_host(data.data() + t.begin, t.shape, t.dtype, cpu()));
    }
    return arrays;
  }

 private:
  [[noreturn]] void bad(const std::string& why) const {
    fail(ErrorKind::kIo, fmt::format("{}: not a readable .safetensors file: {}", path_, why));
  }

  /// Parses with a bound on nesting; a name that occurs twice is refused.
  nlohmann::json parsed(std::string_view text) const {
    if (!text.starts_with('{')) bad("its header does not begin with '{'");
    std::vector<std::set<std::string>> keys;
    using Event = nlohmann::json::parse_event_t;
    const auto watch = [&](int depth, Event event, nlohmann::json& value) {
      if (depth > 4) bad("its header is nested too deeply");
      if (event == Event::object_start) keys.emplace_back();
      if (event == Event::object_end) keys.pop_back();
      if (event == Event::key && !keys.back().insert(value.get<std::string>()).second)
        bad("the name '" + value.get<std::string>() + "' occurs twice");
      return true;
    };
    try {
      return nlohmann::json::parse(text, watch);
    } catch (const nlohmann::json::exception& e) {
      bad("its header is not JSON: " + one_line(e.what()));
    }
  }

  std::vector<Tensor> header(std::string_view text) const {
    std::vector<Tensor> tensors;
    const nlohmann::json entries = parsed(text);
    for (const auto& [name, value] : entries.items())
      if (name != "__metadata__") tensors.push_back(tensor(name, value));
    return tensors;
  }

  Tensor tensor(const std::string& name, const nlohmann::json& value) const {
    const auto wrong = [&](const char* what) { bad(fmt::format("'{}': {}", name, what)); };
    if (!value.is_object() || !value.contains("dtype") || !value["dtype"].is_string() ||
        !value.contains("shape") || !value["shape"].is_array() || !value.contains("data_offsets") ||
        !value["data_offsets"].is_array() || value["data_offsets"].size() != 2)
      wrong("dtype, shape or data_offsets is missing or wrong");
    Tensor t;
    t.name = name;
    const auto type = value["dtype"].get<std::string>();
    for (const TypeName& known : kTypes)
      if (type == known.text) t.dtype = known.dtype;
    if (t.dtype == DType::kUnknown) wrong(("the type " + type + " is not supported").c_str());
    for (const auto& extent : value["shape"]) {
      if (!extent.is_number_unsigned() || extent.get<std::uint64_t>() > INT64_MAX ||
          t.shape.rank() == kMaxRank)
        wrong("its shape is not a list of extents");
      t.shape.push_back(extent.get<std::int64_t>());
    }
    for (const auto& offset : value["data_offsets"])
      if (!offset.is_number_unsigned()) wrong("data_offsets are not whole numbers");
    t.begin = value["data_offsets"][0].get<std::uint64_t>();
    t.end = value["data_offsets"][1].get<std::uint64_t>();
    if (t.end < t.begin || t.end - t.begin != checked_bytes(t.shape, t.dtype, path_))
      wrong("data_offsets do not match shape and dtype");
    return t;
  }

  /// Sorted by offset the tensors must follow each other, from the first byte to the last.
  void check_offsets(std::vector<Tensor>& tensors, std::uint64_t size) const {
    std::ranges::stable_sort(tensors, [](const Tensor& a, const Tensor& b) {
      return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
    });
    std::uint64_t at = 0;
    for (const Tensor& t : tensors) {
      if (t.begin != at) bad(fmt::format("'{}': its data overlap or leave a hole", t.name));
      at = t.end;
    }
    if (at != size) bad(fmt::format("its tensors have {} bytes, and the data {}", at, size));
  }

  std::string_view bytes_;
  const std::string& path_;
};

}  // namespace

NamedArrays parse_safetensors(std::string_view bytes, const std::string& path) {
  return Reader(bytes, path).read();
}

std::string safetensors_bytes(const NamedArrays& arrays) {
  struct Item {
    int rank;
    std::string name;
    NDArray array;
  };
  std::vector<Item> items;
  std::set<std::string> seen;
  for (std::size_t i = 0; i < arrays.arrays.size(); ++i) {
    const std::string& given = i < arrays.names.size() ? arrays.names[i] : "";
    const std::string name = given.empty() ? fmt::format("arr_{}", i) : given;
    if (name == "__metadata__" || !seen.insert(name).second)
      fail(ErrorKind::kName,
           fmt::format("cannot write '{}' to .safetensors: the name is reserved or occurs twice",
                       name));
    items.push_back({rank_of(arrays.arrays[i].dtype()), name, arrays.arrays[i]});
  }
  std::ranges::sort(items, [](const Item& a, const Item& b) {
    return a.rank != b.rank ? a.rank > b.rank : a.name < b.name;
  });
  std::string text = "{";
  std::uint64_t at = 0;
  for (const Item& item : items) {
    const std::uint64_t end = at + item.array.nbytes();
    const Json entry = {{"dtype", kTypes[static_cast<std::size_t>(item.rank)].text},
                        {"shape", item.array.shape().dims()},
                        {"data_offsets", {at, end}}};
    text += (text.size() == 1 ? "" : ",") + Json(item.name).dump() + ":" + entry.dump();
    at = end;
  }
  text += '}';
  text.append((8 - text.size() % 8) % 8, ' ');
  std::string bytes;
  bytes.reserve(8 + text.size() + at);
  for (std::size_t i = 0; i < 8; ++i)
    bytes += static_cast<char>(static_cast<std::uint64_t>(text.size()) >> (8 * i) & 0xFF);
  bytes += text;
  for (const Item& item : items) bytes += raw_bytes(item.array);
  return bytes;
}

}  // namespace symbind::program
