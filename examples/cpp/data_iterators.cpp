// ctest: run
// Data: arrays, a custom iterator, prefetching, and record files.
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include <symbind/symbind.h>

#include "expect.h"

using namespace symbind;

/// A custom iterator: describes a batch, makes the next one, and resets.
class Squares final : public DataIter {
 public:
  const std::vector<DataDesc>& provide_data() const override { return data_; }
  const std::vector<DataDesc>& provide_label() const override { return label_; }
  void reset() override { at_ = 0; }
  bool next(DataBatch& batch) override {
    if (at_ == 3) return false;
    const float x = static_cast<float>(at_++);
    batch.data = {NDArray({x, x + 0.5F}, {2, 1})};
    batch.label = {NDArray({x * x, (x + 0.5F) * (x + 0.5F)}, {2})};
    batch.pad = 0;
    return true;
  }

 private:
  std::vector<DataDesc> data_ = {{"data", {2, 1}}}, label_ = {{"label", {2}}};
  int at_ = 0;
};

int count(DataIter& iter) {
  int batches = 0;
  for (DataBatch batch; iter.next(batch);) ++batches;
  return batches;
}

int main() {
  // Arrays in memory: 10 rows in batches of 4; the last batch is completed from the start.
  NDArrayIter train(NDArray::arange(0, 10).reshape({10, 1}), NDArray::arange(0, 10),
                    {.batch_size = 4, .shuffle = true, .seed = 1});
  std::printf("%s\n", train.provide_data()[0].str().c_str());
  for (DataBatch batch; train.next(batch);)
    std::printf("%s pad %d\n", batch.str().c_str(), batch.pad);
  train.reset();
  expect(count(train) == 3, "three batches");

  // The custom iterator, prefetched by a thread. next() throws the thread's errors.
  PrefetchingIter ahead({std::make_shared<Squares>()});
  expect(count(ahead) == 3, "three batches");
  ahead.reset();
  expect(count(ahead) == 3, "three more");

  // Records: any bytes under a number.
  const auto folder = std::filesystem::temp_directory_path();
  const std::string rec = (folder / "symbind-example.rec").string();
  const std::string idx = (folder / "symbind-example.idx").string();
  {
    IndexedRecordWriter writer(idx, rec);
    for (std::int64_t i = 0; i < 3; ++i) {
      const std::string text = "picture " + std::to_string(i);
      writer.write(i, pack({.labels = {static_cast<float>(i)}}, std::as_bytes(std::span(text))));
    }
    writer.close();
  }
  IndexedRecordReader reader(idx, rec);
  std::span<const std::byte> contents;
  const std::vector<std::byte> record = reader.read(2);
  const RecordHeader header = unpack(record, contents);
  std::printf("label %g, %zu bytes\n", static_cast<double>(header.labels[0]), contents.size());
  expect(header.labels[0] == 2 && contents.size() == 9, "the third record");
  std::filesystem::remove(rec);
  std::filesystem::remove(idx);
}
