// Rows into batches, as MXNet's loader does it: with round_batch the last batch of an epoch is
// completed with rows from the start, and the next epoch continues after them; without it, its
// filler rows keep the previous batch's numbers.
#include "io/row_batches.h"

#include <cstring>

#include "base/check.h"
#include "base/profiling.h"
#include "io/batch_arrays.h"
#include "io/iter_state.h"
#include "ndarray/access.h"

namespace symbind {

Shape batch_shape(std::int64_t batch_size, const Tuple& shape, bool is_label) {
  Shape result{batch_size};
  if (is_label && shape.size() == 1 && shape.front() == 1) return result;
  for (const std::int64_t extent : shape) result.push_back(extent);
  return result;
}

RowBatches::RowBatches(RowSource source, std::int64_t batch_size, bool round_batch, DataDesc data,
                       DataDesc label)
    : source_(std::move(source)), batch_size_(batch_size), round_batch_(round_batch) {
  for (const DataDesc* desc : {&data, &label})
    for (const std::int64_t extent : desc->shape)
      check(extent > 0,
            "{}: '{}' would have shape {}; batch_size and every extent must be positive",
            source_.name, desc->name, desc->shape.str());
  const auto rows = static_cast<std::size_t>(batch_size);
  data_rows_.resize(bytes_of(data.shape, data.dtype));
  label_rows_.resize(bytes_of(label.shape, label.dtype));
  data_bytes_ = data_rows_.size() / rows;
  label_bytes_ = label_rows_.size() / rows;
  index_.resize(rows);
  data_.push_back(std::move(data));
  label_.push_back(std::move(label));
}

void RowBatches::reset() {
  if (wrapped_ == 0) return hard_reset();
  wrapped_ = 0;
  ended_ = false;
}

void RowBatches::hard_reset() {
  source_.rewind();
  row_ = wrapped_ = 0;
  ended_ = false;
}

bool RowBatches::read(std::int64_t row) {
  const auto at = static_cast<std::size_t>(row);
  if (!source_.read({data_rows_.data() + at * data_bytes_, data_bytes_},
                    {label_rows_.data() + at * label_bytes_, label_bytes_}))
    return false;
  index_[at] = row_++;
  return true;
}

void RowBatches::hand_out(DataBatch& batch) {
  const auto put = [](std::vector<NDArray>& arrays, const DataDesc& desc,
                      const std::vector<std::byte>& rows) {
    arrays.resize(1);
    std::memcpy(write_pointer(writable_array(arrays, 0, desc.shape, desc.dtype)), rows.data(),
                rows.size());
  };
  put(batch.data, data_.front(), data_rows_);
  put(batch.label, label_.front(), label_rows_);
  batch.index = index_;
  batch.bucket_key.reset();
  batch.provide_data.clear();
  batch.provide_label.clear();
}

bool RowBatches::next(DataBatch& batch) {
  const profiling::ApiSpan span("DataIter.next");
  if (ended_) return false;
  std::int64_t have = 0;
  while (have < batch_size_ && read(have)) ++have;
  ended_ = have < batch_size_;
  if (have == 0) {
    check(row_ > 0, ErrorKind::kIo, "{}: it has no rows", source_.name);
    return false;
  }
  batch.pad = static_cast<int>(batch_size_ - have);
  if (ended_ && round_batch_) {
    source_.rewind();
    for (row_ = 0; have < batch_size_; ++have, ++wrapped_)
      check(read(have), "{}: its {} rows do not fill a batch of {}", source_.name, row_,
            batch_size_);
  }
  hand_out(batch);
  return true;
}

StateValue RowBatches::state() const {
  StateValue state =
      iter_state("file iterator", {{"batch_size", batch_size_}, {"round_batch", round_batch_}});
  state.add("row", StateValue::of(row_));
  state.add("wrapped", StateValue::of(wrapped_));
  state.add("ended", StateValue::of(std::int64_t{ended_}));
  return state;
}

void RowBatches::set_state(const StateValue& state) {
  const char* what = source_.name.c_str();
  check_iter_state(state, "file iterator",
                   {{"batch_size", batch_size_}, {"round_batch", round_batch_}});
  const std::int64_t row = state.integer_at("row", what);
  const std::int64_t wrapped = state.integer_at("wrapped", what);
  const bool ended = state.integer_at("ended", what) != 0;
  check(row >= 0 && wrapped >= 0 && wrapped <= batch_size_, ErrorKind::kIo,
        "{}: the state has row {} and {} rows from the start; those are at most a batch of {}",
        what, row, wrapped, batch_size_);
  hard_reset();
  // Without round_batch every epoch begins at row 0, and a row's number determines its position in
  // the batch, which filler rows may reuse.
  while (row_ < row)
    check(read(row_ % batch_size_), ErrorKind::kIo,
          "{}: it ends after row {}, but the training stopped after row {}: it is another file",
          source_.name, row_, row);
  wrapped_ = wrapped;
  ended_ = ended;
}

}  // namespace symbind
