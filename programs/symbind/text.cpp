// Text: reading arguments, aligning tables, hints for misspelt names.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "program.h"

namespace symbind::program {
namespace {

std::string trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1));
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

bool is_numeric(const std::string& cell) {
  return !cell.empty() && cell.find_first_not_of("0123456789,.") == std::string::npos;
}

/// Columns that a terminal uses for UTF-8 text, one per code point.
std::size_t columns(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

void fail(ErrorKind kind, const std::string& message) { throw Error(kind, message); }

std::string one_line(std::string_view message) {
  std::string line;
  while (!message.empty()) {
    const auto end = message.find('\n');
    const std::string part = trimmed(message.substr(0, end));
    if (!part.empty()) {
      const bool joined = line.empty() || line.ends_with(':') || line.ends_with(';');
      line += (line.empty() ? "" : joined ? " " : "; ") + part;
    }
    if (end == std::string_view::npos) break;
    message.remove_prefix(end + 1);
  }
  return line;
}

std::string nearest_hint(std::string_view name, const std::vector<std::string>& known) {
  const std::string* best = nullptr;
  std::size_t least = std::max<std::size_t>(2, name.size() / 3) + 1;
  for (const std::string& candidate : known) {
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < least) {
      least = distance;
      best = &candidate;
    }
  }
  return best == nullptr ? "" : fmt::format(" (did you mean '{}'?)", *best);
}

std::int64_t parse_integer(std::string_view text, const std::string& what) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    throw UsageError(fmt::format("{} is '{}', which is not a whole number", what, text));
  return value;
}

double parse_number(std::string_view text, const std::string& what) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value))
    throw UsageError(fmt::format("{} is '{}', which is not a number", what, text));
  return value;
}

Shape parse_shape(std::string_view text, const std::string& what) {
  std::string list(text);
  std::erase_if(list, [](char c) { return c == '(' || c == ')' || c == ' '; });
  std::ranges::replace(list, 'x', ',');
  if (list.ends_with(',')) list.pop_back();
  Shape shape;
  for (const std::string& part : split_list(list)) {
    const std::int64_t extent = parse_integer(part, what);
    if (extent < 1 || shape.rank() == kMaxRank)
      throw UsageError(
          fmt::format("{} is '{}': a shape has 1 to {} extents of at least 1, as in 1,28,28", what,
                      text, kMaxRank));
    shape.push_back(extent);
  }
  return shape;
}

std::vector<std::string> split_list(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const auto end = text.find(separator);
    parts.push_back(trimmed(text.substr(0, end)));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string grouped(std::int64_t number) {
  std::string digits = std::to_string(number);
  const std::size_t first = number < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) digits.insert(at -= 3, ",");
  return digits;
}

std::string counted(std::int64_t number, const std::string& noun) {
  return fmt::format("{} {}{}", grouped(number), noun, number == 1 ? "" : "s");
}

std::string amount(double value, const char* unit) {
  static constexpr const char* kPrefixes[] = {"", "k", "M", "G", "T", "P"};
  std::size_t power = 0;
  while (value >= 1000 && power + 1 < std::size(kPrefixes)) {
    value /= 1000;
    ++power;
  }
  return fmt::format("{:.4g} {}{}", value, kPrefixes[power], unit);
}

std::string table(const std::vector<std::vector<std::string>>& rows) {
  struct Column {
    std::size_t width = 0, numeric = 0, cells = 0;
  };
  std::vector<Column> shape;
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i == shape.size()) shape.emplace_back();
      shape[i].width = std::max(shape[i].width, columns(row[i]));
      shape[i].numeric += is_numeric(row[i]) ? 1 : 0;
      ++shape[i].cells;
    }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string padding(shape[i].width - columns(row[i]), ' ');
      const bool right = 2 * shape[i].numeric > shape[i].cells;
      line += "  " + (right ? padding + row[i] : row[i] + padding);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

Json shape_json(const Shape& shape) { return shape.dims(); }

}  // namespace symbind::program
