// idx: MNIST's format, plain or gzipped.

#include <symbind/io.h>

#include "fuzz/support.h"

namespace symbind::fuzz {

int idx(Bytes bytes) {
  const std::string path = write_file("images", text_of(bytes));
  NDArray array;
  if (!answers([&] { array = read_idx(path); })) return 0;
  must(array.size() == 0 || array.data() != nullptr, "an array that was read has memory");
  std::string labels("\0\0\x08\x01\0\0\0\0", 8);
  const std::int64_t rows = array.ndim() > 0 ? array.shape()[0] : 0;
  if (rows > 4096) return 1;
  labels[6] = static_cast<char>(rows >> 8);
  labels[7] = static_cast<char>(rows & 255);
  labels.append(static_cast<std::size_t>(rows), '\1');
  return answers([&] {
    MNISTIter iter({.image = path, .label = write_file("labels", labels), .batch_size = 2});
    DataBatch batch;
    for (int i = 0; i < 4 && iter.next(batch); ++i) batch.data[0].wait_to_read();
  })
             ? 2
             : 1;
}

}  // namespace symbind::fuzz
