// CSVIter: rows of numbers in text.
//
// Decided here: a field must be exactly one number of the chosen type, or it is an error that names
// file, line and column; nothing else is read as 0. Integers are parsed as integers, so that int64
// is exact. A comma at the end of a line adds no field.
#include <charconv>
#include <cstring>

#include <symbind/io.h>

#include "base/check.h"
#include "base/settings.h"
#include "io/text_rows.h"

namespace symbind {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

template <class T>
bool parse_field(std::string_view field, T& value) {
  if (field.size() > 1 && field.front() == '+') field.remove_prefix(1);
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if constexpr (std::is_floating_point_v<T>) {
    // Beyond the range use the nearest value; from_chars does not set one.
    if (error == std::errc::result_out_of_range && end == field.data() + field.size()) {
      value = std::strtof(std::string(field).c_str(), nullptr);
      return true;
    }
  }
  return error == std::errc() && end == field.data() + field.size();
}

template <class T>
void parse_row(const TextLines& lines, std::string_view line, std::span<std::byte> out) {
  const std::size_t wanted = out.size() / sizeof(T);
  std::size_t column = 0;
  for (std::size_t at = 0; at < line.size(); ++column) {
    const std::size_t end = std::min(line.find(',', at), line.size());
    const std::string_view field = trimmed(line.substr(at, end - at));
    at = end + 1;
    if (field.empty() && at >= line.size()) break;
    T value{};
    if (column < wanted && !parse_field(field, value))
      lines.fail(fmt::format("column {}: '{}' is not a number of type {}", column + 1,
                             field.substr(0, 40), dtype_name(dtype_of<T>)));
    if (column < wanted) std::memcpy(out.data() + column * sizeof(T), &value, sizeof(T));
  }
  if (column != wanted)
    lines.fail(fmt::format("{} columns, but the shape needs {}", column, wanted));
}

void parse_row(DType dtype, const TextLines& lines, std::string_view line,
               std::span<std::byte> out) {
  if (dtype == DType::kInt32) return parse_row<std::int32_t>(lines, line, out);
  if (dtype == DType::kInt64) return parse_row<std::int64_t>(lines, line, out);
  parse_row<float>(lines, line, out);
}

/// Labels without a file are 0.
TextRows::Parse parser(DType dtype) {
  return [dtype](const TextLines& lines, std::string_view line, std::span<std::byte> row,
                 std::span<std::byte> label) {
    parse_row(dtype, lines, line, row);
    if (!label.empty()) std::memset(label.data(), 0, label.size());
  };
}

}  // namespace

void CSVIterOptions::describe(AttrVisitor& v) {
  v.field("data_csv", data_csv, "Path of the data: a file, several separated by ;, or a folder.")
      .required();
  v.field("data_shape", data_shape, "Shape of one example.").required();
  v.field("label_csv", label_csv, "Path of the labels; NULL: all labels are 0.");
  v.field("label_shape", label_shape, "Shape of one label.");
  v.field("batch_size", batch_size, "Rows of a batch.").required();
  v.field("round_batch", round_batch, "Whether the last batch is completed from the start.");
  v.field("dtype", dtype, "float32, int32 or int64.");
  v.field("data_name", data_name, "Name of the data.");
  v.field("label_name", label_name, "Name of the labels.");
}

struct CSVIter::State : TextRows {
  explicit State(const CSVIterOptions& o)
      : TextRows({o.data_csv, o.label_csv}, parser(o.dtype), o.batch_size, o.round_batch,
                 {o.data_name, batch_shape(o.batch_size, o.data_shape, false), o.dtype},
                 {o.label_name,
                  batch_shape(o.batch_size, o.label_csv == "NULL" ? Tuple{1} : o.label_shape, true),
                  o.dtype}) {}
};

CSVIter::CSVIter(const CSVIterOptions& o) {
  settings::refresh();
  check(!o.data_csv.empty(), "CSVIter: data_csv is required");
  check(o.dtype == DType::kFloat32 || o.dtype == DType::kInt32 || o.dtype == DType::kInt64,
        ErrorKind::kType, "CSVIter: dtype {} is not supported; choose float32, int32 or int64",
        dtype_name(o.dtype));
  state_ = std::make_unique<State>(o);
}

CSVIter::~CSVIter() = default;
const std::vector<DataDesc>& CSVIter::provide_data() const { return state_->batches().data(); }
const std::vector<DataDesc>& CSVIter::provide_label() const { return state_->batches().label(); }
void CSVIter::reset() { state_->batches().reset(); }
void CSVIter::hard_reset() { state_->batches().hard_reset(); }
bool CSVIter::next(DataBatch& batch) { return state_->batches().next(batch); }
std::optional<StateValue> CSVIter::state() { return state_->batches().state(); }
void CSVIter::set_state(const StateValue& state) { state_->batches().set_state(state); }

}  // namespace symbind
