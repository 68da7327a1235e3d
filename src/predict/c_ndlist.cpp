// Lists of arrays in the C interface: what a .params file holds, as float32 on the host.

#include <symbind/c_predict_api.h>

#include <span>

#include <symbind/ndarray.h>

#include "predict/c_guard.h"
#include "predict/c_handles.h"

namespace symbind {
namespace {

struct CArrayList {
  static constexpr const char* kTitle = "NDListHandle";
  static constexpr std::uintptr_t kTag = 2;

  struct Item {
    std::string key;
    std::vector<float> data;
    std::vector<std::uint32_t> shape;
  };
  std::vector<Item> items;
};

}  // namespace
}  // namespace symbind

using namespace symbind;
using c_api::given;
using c_api::guarded;

int MXNDListCreate(const char* nd_file_bytes, int nd_file_size, NDListHandle* out,
                   uint32_t* out_length) {
  return guarded([&] {
    given(nd_file_bytes, "nd_file_bytes");
    given(out, "out");
    given(out_length, "out_length");
    check(nd_file_size >= 0, "nd_file_size is {}", nd_file_size);
    const NamedArrays loaded = load_frombuffer(
        std::as_bytes(std::span(nd_file_bytes, static_cast<std::size_t>(nd_file_size))));
    auto list = std::make_shared<CArrayList>();
    for (std::size_t i = 0; i < loaded.arrays.size(); ++i) {
      const NDArray& array = loaded.arrays[i];
      CArrayList::Item& item = list->items.emplace_back();
      if (i < loaded.names.size()) item.key = loaded.names[i];
      if (!array.defined()) continue;
      item.data = array.to_vector<float>();
      item.shape.assign(array.shape().begin(), array.shape().end());
    }
    *out_length = static_cast<uint32_t>(list->items.size());
    *out = CHandles<CArrayList>::all().add(std::move(list));
  });
}

int MXNDListGet(NDListHandle handle, uint32_t index, const char** out_key, const float** out_data,
                const uint32_t** out_shape, uint32_t* out_ndim) {
  return guarded([&] {
    given(out_key, "out_key");
    given(out_data, "out_data");
    given(out_shape, "out_shape");
    given(out_ndim, "out_ndim");
    const auto list = CHandles<CArrayList>::all().get(handle);
    check(index < list->items.size(), ErrorKind::kIndex, "array {} was requested; there are {}",
          index, list->items.size());
    const CArrayList::Item& item = list->items[index];
    *out_key = item.key.c_str();
    *out_data = item.data.data();
    *out_shape = item.shape.data();
    *out_ndim = static_cast<uint32_t>(item.shape.size());
  });
}

int MXNDListFree(NDListHandle handle) {
  return guarded([&] { CHandles<CArrayList>::all().remove(handle); });
}
