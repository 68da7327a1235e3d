// LibSVMIter: lines of `label index:value …`.
//
// Decided here: batches are dense, as all arrays are. Indices count from zero, as MXNet's do, and
// must ascend; a duplicate or out-of-range index is an error that names file and line. Text after a
// '#' is a comment.
#include <charconv>
#include <cstring>

#include <symbind/io.h>

#include "base/check.h"
#include "base/settings.h"
#include "io/text_rows.h"

namespace symbind {
namespace {

/// Removes the next word from `line` and returns it; empty at its end.
std::string_view next_word(std::string_view& line) {
  const std::size_t begin = line.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return line = {};
  line.remove_prefix(begin);
  const std::size_t end = std::min(line.find_first_of(" \t\r"), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(end);
  return word;
}

template <class T>
bool parse(std::string_view text, T& value) {
  if (text.size() > 1 && text.front() == '+') text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

/// Parses one line: its label, and its values into their positions in `row`, which is one row wide.
float parse_line(const TextLines& lines, std::string_view line, std::span<std::byte> row) {
  line = line.substr(0, line.find('#'));
  const std::string_view first = next_word(line);
  float label = 0;
  if (!parse(first.substr(0, first.find(':')), label))
    lines.fail(fmt::format("the label '{}' is not a number", first.substr(0, 40)));
  const auto width = static_cast<std::int64_t>(row.size() / sizeof(float));
  std::memset(row.data(), 0, row.size());
  std::int64_t last = -1;
  for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) {
    const std::size_t colon = word.find(':');
    std::int64_t index = 0;
    float value = 0;
    if (colon == std::string_view::npos || !parse(word.substr(0, colon), index) ||
        !parse(word.substr(colon + 1), value))
      lines.fail(fmt::format("'{}' is not of the form index:value", word.substr(0, 40)));
    if (index < 0 || index >= width)
      lines.fail(fmt::format("index {} in '{}'; the shape needs indices from 0 to {}", index,
                             word.substr(0, 40), width - 1));
    if (index <= last) lines.fail(fmt::format("index {} after {}; they must ascend", index, last));
    last = index;
    std::memcpy(row.data() + static_cast<std::size_t>(index) * sizeof(float), &value,
                sizeof(float));
  }
  return label;
}

void parse_row(const TextLines& lines, std::string_view line, std::span<std::byte> row,
               std::span<std::byte> label) {
  const float first = parse_line(lines, line, row);
  if (!label.empty()) std::memcpy(label.data(), &first, sizeof(first));
}

void check_options(const LibSVMIterOptions& o) {
  check(!o.data_libsvm.empty(), "LibSVMIter: data_libsvm is required");
  check(o.data_shape.size() == 1, ErrorKind::kShape,
        "LibSVMIter: dimension of data_shape is expected to be 1, not {}",
        tuple_text(o.data_shape));
  check(o.round_batch, ErrorKind::kNotImplemented,
        "LibSVMIter: round_batch must be true, as in MXNet");
  std::int64_t size = 1;
  for (const std::int64_t extent : o.label_shape) size *= extent;
  if (o.label_libsvm == "NULL")
    check(size == 1, ErrorKind::kShape,
          "LibSVMIter: label_shape is expected to be (1,) when label_libsvm is NULL, not {}",
          tuple_text(o.label_shape));
  else
    check(o.label_shape.size() == 1 && size > 1, ErrorKind::kShape,
          "LibSVMIter: label_shape is expected to be (n,) with n > 1 when label_libsvm is given, "
          "not {}",
          tuple_text(o.label_shape));
}

}  // namespace

void LibSVMIterOptions::describe(AttrVisitor& v) {
  v.field("data_libsvm", data_libsvm,
          "Path of the data: a file, several separated by ;, or a folder.")
      .required();
  v.field("data_shape", data_shape, "Shape of one example: (width,).").required();
  v.field("label_libsvm", label_libsvm, "Path of labels; NULL: those of the data file.");
  v.field("label_shape", label_shape, "Shape of one label.");
  v.field("batch_size", batch_size, "Rows of a batch.").required();
  v.field("round_batch", round_batch, "Must be true.");
  v.field("num_parts", num_parts, "Number of parts the data is split into.");
  v.field("part_index", part_index, "The part to read.");
  v.field("data_name", data_name, "Name of the data.");
  v.field("label_name", label_name, "Name of the labels.");
}

struct LibSVMIter::State : TextRows {
  explicit State(const LibSVMIterOptions& o)
      : TextRows({o.data_libsvm, o.label_libsvm, o.num_parts, o.part_index}, parse_row,
                 o.batch_size, o.round_batch,
                 {o.data_name, batch_shape(o.batch_size, o.data_shape, false)},
                 {o.label_name, batch_shape(o.batch_size, o.label_shape, true)}) {}
};

LibSVMIter::LibSVMIter(const LibSVMIterOptions& o) {
  settings::refresh();
  check_options(o);
  state_ = std::make_unique<State>(o);
}

LibSVMIter::~LibSVMIter() = default;
const std::vector<DataDesc>& LibSVMIter::provide_data() const { return state_->batches().data(); }
const std::vector<DataDesc>& LibSVMIter::provide_label() const { return state_->batches().label(); }
void LibSVMIter::reset() { state_->batches().reset(); }
void LibSVMIter::hard_reset() { state_->batches().hard_reset(); }
bool LibSVMIter::next(DataBatch& batch) { return state_->batches().next(batch); }
std::optional<StateValue> LibSVMIter::state() { return state_->batches().state(); }
void LibSVMIter::set_state(const StateValue& state) { state_->batches().set_state(state); }

}  // namespace symbind
