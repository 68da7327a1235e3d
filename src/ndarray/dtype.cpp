// Element types by flag and by NumPy's name.

#include <symbind/dtype.h>

#include <array>
#include <charconv>
#include <vector>

#include "base/check.h"
#include "base/nearest.h"

namespace symbind {
namespace {

struct DTypeInfo {
  std::string_view name;
  std::size_t bytes;
};

// In the order of the flags.
constexpr std::array<DTypeInfo, 13> kTypes = {{{"float32", 4},
                                               {"float64", 8},
                                               {"float16", 2},
                                               {"uint8", 1},
                                               {"int32", 4},
                                               {"int8", 1},
                                               {"int64", 8},
                                               {"bool", 1},
                                               {"int16", 2},
                                               {"uint16", 2},
                                               {"uint32", 4},
                                               {"uint64", 8},
                                               {"bfloat16", 2}}};

bool in_table(DType dtype) {
  return dtype >= DType::kFloat32 && static_cast<std::size_t>(dtype) < kTypes.size();
}

}  // namespace

std::size_t size_of(DType dtype) {
  return in_table(dtype) ? kTypes[static_cast<std::size_t>(dtype)].bytes : 0;
}

std::string_view dtype_name(DType dtype) {
  return in_table(dtype) ? kTypes[static_cast<std::size_t>(dtype)].name : "unknown";
}

DType dtype_from_name(std::string_view name) {
  std::vector<std::string> names;
  for (std::size_t flag = 0; flag < kTypes.size(); ++flag) {
    if (kTypes[flag].name == name) return static_cast<DType>(flag);
    names.emplace_back(kTypes[flag].name);
  }
  int flag = -1;
  const auto [end, failure] = std::from_chars(name.data(), name.data() + name.size(), flag);
  if (failure == std::errc() && end == name.data() + name.size() && flag >= 0 &&
      static_cast<std::size_t>(flag) < kTypes.size())
    return static_cast<DType>(flag);
  const std::string hint = nearest_hint(name, names);
  std::string list;
  for (const std::string& known : names) list += (list.empty() ? "" : ", ") + known;
  fail(ErrorKind::kName, "unknown dtype '{}'{}{}\n  dtypes: {}", name, hint.empty() ? "" : "; ",
       hint, list);
}

bool is_float(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat64 || dtype == DType::kFloat16 ||
         dtype == DType::kBFloat16;
}

}  // namespace symbind
