// .params: a list of arrays, dense or sparse, of every version MXNet has written.

#include <symbind/ndarray.h>

#include "fuzz/support.h"

namespace symbind::fuzz {

int params(Bytes bytes) {
  const auto data = std::as_bytes(bytes);
  const bool loaded = answers([&] {
    const NamedArrays list = load_frombuffer(data);
    for (const NDArray& array : list.arrays) {
      if (!array.defined()) continue;
      const std::vector<std::byte> record = to_record(array);
      const NDArray again = from_record(record);
      must(to_record(again) == record, "an array's record reads back as it was written");
    }
    list.map();
  });
  return loaded ? 2 : answers([&] { from_record(data); }) ? 1 : 0;
}

}  // namespace symbind::fuzz
