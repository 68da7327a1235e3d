#pragma once
// Rows from a file of data and, where there is one, a file of labels: what CSVIter and LibSVMIter
// share.

#include <fmt/format.h>

#include "io/row_batches.h"
#include "io/text_lines.h"

namespace symbind {

/// Batches of such rows.
class TextRows {
 public:
  /// Parses a line into a row. `label`, if not empty, receives the label in the line.
  using Parse = std::function<void(const TextLines& lines, std::string_view line,
                                   std::span<std::byte> row, std::span<std::byte> label)>;
  struct Files {
    std::string data, labels;  ///< "NULL": no labels
    int parts = 1, part = 0;
  };

  TextRows(const Files& files, Parse parse, std::int64_t batch_size, bool round_batch,
           const DataDesc& data, const DataDesc& label)
      : parse_(std::move(parse)),
        data_(files.data, files.parts, files.part),
        labels_(files.labels == "NULL"
                    ? nullptr
                    : std::make_unique<TextLines>(files.labels, files.parts, files.part)),
        batches_({files.data,
                  [this](std::span<std::byte> data_row, std::span<std::byte> label_row) {
                    return read(data_row, label_row);
                  },
                  [this] { rewind(); }},
                 batch_size, round_batch, data, label) {}
  TextRows(const TextRows&) = delete;
  TextRows& operator=(const TextRows&) = delete;

  RowBatches& batches() { return batches_; }

 private:
  bool read(std::span<std::byte> data_row, std::span<std::byte> label_row) {
    std::string_view line;
    if (!data_.next(line)) return false;
    parse_(data_, line, data_row, labels_ ? std::span<std::byte>() : label_row);
    if (!labels_) return true;
    if (!labels_->next(line))
      labels_->fail(fmt::format("no label left for {}, which has more rows", data_.path()));
    parse_(*labels_, line, label_row, {});
    return true;
  }
  void rewind() {
    data_.rewind();
    if (labels_) labels_->rewind();
  }

  Parse parse_;
  TextLines data_;
  std::unique_ptr<TextLines> labels_;
  RowBatches batches_;
};

}  // namespace symbind
