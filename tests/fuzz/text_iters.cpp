// csv and libsvm: rows of numbers in text.

#include "fuzz/text_iters.h"

#include "fuzz/support.h"

namespace symbind::fuzz {

void read_epochs(DataIter& iter) {
  DataBatch batch;
  for (int epoch = 0; epoch < 2; ++epoch) {
    for (int i = 0; i < 50 && iter.next(batch); ++i) {
      batch.data[0].wait_to_read();
      if (i != 1) continue;
      if (const std::optional<StateValue> state = iter.state()) iter.set_state(*state);
    }
    iter.reset();
  }
}

int csv(Bytes bytes) {
  const std::string path = write_file("rows.csv", text_of(bytes));
  int ran = answers([&] {
    CSVIter iter({.data_csv = path, .data_shape = {3}, .batch_size = 2});
    read_epochs(iter);
  });
  ran += answers([&] {
    CSVIter iter({.data_csv = path,
                  .data_shape = {1, 2},
                  .label_csv = path,
                  .label_shape = {2},
                  .batch_size = 3,
                  .round_batch = false,
                  .dtype = DType::kInt32});
    read_epochs(iter);
  });
  ran += answers([&] {
    CSVIter iter({.data_csv = path, .data_shape = {1}, .batch_size = 1, .dtype = DType::kInt64});
    read_epochs(iter);
  });
  return ran > 0 ? 2 : 0;
}

int libsvm(Bytes bytes) {
  const std::string path = write_file("rows.libsvm", text_of(bytes));
  int ran = answers([&] {
    LibSVMIter iter({.data_libsvm = path, .data_shape = {8}, .batch_size = 2});
    read_epochs(iter);
  });
  for (int part = 0; part < 2; ++part)
    ran += answers([&] {
      LibSVMIter iter({.data_libsvm = path,
                       .data_shape = {100},
                       .label_libsvm = path,
                       .label_shape = {5},
                       .batch_size = 3,
                       .num_parts = 2,
                       .part_index = part});
      read_epochs(iter);
    });
  return ran > 0 ? 2 : 0;
}

}  // namespace symbind::fuzz
