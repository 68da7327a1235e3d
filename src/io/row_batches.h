#pragma once
// Batches from a source of rows: what CSVIter and LibSVMIter share.

#include <functional>
#include <span>
#include <vector>

#include <symbind/io.h>

namespace symbind {

/// Writes one row each of data and label; false at the end of the source.
using ReadRow = std::function<bool(std::span<std::byte> data, std::span<std::byte> label)>;

struct RowSource {
  std::string name;  // in messages
  ReadRow read;
  std::function<void()> rewind;
};

class RowBatches {
 public:
  /// A label of one number makes label arrays of one axis.
  RowBatches(RowSource source, std::int64_t batch_size, bool round_batch, DataDesc data,
             DataDesc label);

  const std::vector<DataDesc>& data() const { return data_; }
  const std::vector<DataDesc>& label() const { return label_; }
  void reset();
  void hard_reset();
  bool next(DataBatch& batch);
  StateValue state() const;
  /// Reads the rows again up to the state's position.
  void set_state(const StateValue& state);

 private:
  bool read(std::int64_t row);
  void hand_out(DataBatch& batch);

  RowSource source_;
  std::int64_t batch_size_;
  bool round_batch_;
  std::vector<DataDesc> data_, label_;
  std::size_t data_bytes_, label_bytes_;           // of one row
  std::vector<std::byte> data_rows_, label_rows_;  // of one batch
  std::vector<std::int64_t> index_;
  std::int64_t row_ = 0;      // of the source, the next one
  std::int64_t wrapped_ = 0;  // rows of this epoch's last batch that were read from the start again
  bool ended_ = false;
};

/// `shape` with the batch in front: (batch, ...), or (batch,) for a label of one number.
Shape batch_shape(std::int64_t batch_size, const Tuple& shape, bool is_label);

}  // namespace symbind
