// Examples from text files, and a set made by formula.

#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "arrays.h"
#include "data.h"

namespace symbind::program {
namespace {

/// Cuts the next line off, without its end.
bool next_line(std::string_view& text, std::string_view& line) {
  if (text.empty()) return false;
  const auto end = text.find('\n');
  line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return true;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

bool read_float(std::string_view text, float& value) {
  text = trim(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  for (;;) {
    const auto end = line.find(',');
    fields.push_back(trim(line.substr(0, end)));
    if (end == std::string_view::npos) return fields;
    line.remove_prefix(end + 1);
  }
}

/// The number of a column given by name or by number; -1 counts from the end.
std::int64_t column_number(const std::string& column, const std::vector<std::string>& names,
                           std::int64_t count, const std::string& path) {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == column) return static_cast<std::int64_t>(i);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(column.data(), column.data() + column.size(), number);
  const bool is_number = error == std::errc{} && end == column.data() + column.size();
  if (is_number && number < 0) number += count;
  if (is_number && number >= 0 && number < count) return number;
  throw UsageError(fmt::format("label-column is '{}', and '{}' has {}{}", column, path,
                               names.empty()
                                   ? fmt::format("{} columns without names", count)
                                   : fmt::format("the columns {}", fmt::join(names, ", ")),
                               nearest_hint(column, names)));
}

}  // namespace

Rows read_csv(const std::string& path, const std::string& label_column) {
  const std::string bytes = read_file(path);
  std::string_view text = bytes, line;
  std::vector<std::string> names;
  std::vector<float> data, label;
  std::int64_t columns = -1, label_at = -1, number = 0, rows = 0;
  while (next_line(text, line)) {
    ++number;
    if (trim(line).empty()) continue;
    const std::vector<std::string_view> fields = fields_of(line);
    float value = 0;
    if (columns < 0) {
      columns = static_cast<std::int64_t>(fields.size());
      const bool is_header =
          std::ranges::none_of(fields, [&](auto field) { return read_float(field, value); });
      if (is_header) names.assign(fields.begin(), fields.end());
      if (!label_column.empty()) label_at = column_number(label_column, names, columns, path);
      if (is_header) continue;
    }
    if (static_cast<std::int64_t>(fields.size()) != columns)
      fail(ErrorKind::kShape, fmt::format("{}, line {}: it has {} columns, and the first line {}",
                                          path, number, fields.size(), columns));
    for (std::int64_t i = 0; i < columns; ++i) {
      const std::string_view field = fields[static_cast<std::size_t>(i)];
      if (!read_float(field, value))
        fail(ErrorKind::kValue, fmt::format("{}, line {}, column {}: '{}' is not a number", path,
                                            number, i, field.substr(0, 40)));
      (i == label_at ? label : data).push_back(value);
    }
    ++rows;
  }
  if (rows == 0) fail(ErrorKind::kValue, fmt::format("'{}' has no rows of numbers", path));
  const std::int64_t width = columns - (label_at >= 0 ? 1 : 0);
  if (width == 0)
    fail(ErrorKind::kShape, fmt::format("'{}' has no column besides the label", path));
  Rows result{NDArray::from_vector(data, {rows, width}, cpu()), {}};
  if (label_at >= 0) result.label = NDArray::from_vector(label, {rows}, cpu());
  return result;
}

Rows read_libsvm(const std::string& path, std::int64_t columns) {
  const std::string bytes = read_file(path);
  struct Item {
    std::int64_t row, column;
    float value;
  };
  std::vector<Item> items;
  std::vector<float> label;
  std::string_view text = bytes, line;
  std::int64_t number = 0, width = 0;
  while (next_line(text, line)) {
    ++number;
    line = trim(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    const auto bad = [&](std::string_view word) {
      fail(ErrorKind::kValue,
           fmt::format("{}, line {}: '{}' is not index:value; a line is `label index:value …`",
                       path, number, word.substr(0, 40)));
    };
    bool first = true;
    while (!line.empty()) {
      const auto end = line.find_first_of(" \t");
      const std::string_view word = line.substr(0, end);
      line = end == std::string_view::npos ? "" : trim(line.substr(end));
      Item item{static_cast<std::int64_t>(label.size()) - 1, 0, 0};
      if (first) {
        if (!read_float(word, item.value)) bad(word);
        label.push_back(item.value);
        first = false;
        continue;
      }
      const auto colon = word.find(':');
      if (colon == std::string_view::npos || !read_float(word.substr(colon + 1), item.value))
        bad(word);
      const auto [stop, error] = std::from_chars(word.data(), word.data() + colon, item.column);
      if (error != std::errc{} || stop != word.data() + colon || item.column < 0) bad(word);
      if (columns > 0 && item.column >= columns)
        fail(ErrorKind::kShape, fmt::format("{}, line {}: index {} is beyond the {} columns", path,
                                            number, item.column, columns));
      width = std::max(width, item.column + 1);
      items.push_back(item);
    }
  }
  const auto rows = static_cast<std::int64_t>(label.size());
  if (columns > 0) width = columns;
  constexpr std::int64_t kMost = std::int64_t{1} << 34;
  if (rows == 0 || width == 0) fail(ErrorKind::kValue, fmt::format("'{}' has no examples", path));
  if (width > kMost / rows)
    fail(ErrorKind::kMemory, fmt::format("'{}' has {} rows of {} columns: too many to hold as a "
                                         "dense array",
                                         path, rows, width));
  std::vector<float> data(static_cast<std::size_t>(rows * width), 0.f);
  for (const Item& item : items)
    data[static_cast<std::size_t>(item.row * width + item.column)] = item.value;
  return {NDArray::from_vector(data, {rows, width}, cpu()),
          NDArray::from_vector(label, {rows}, cpu())};
}

}  // namespace symbind::program
