// An array as NumPy prints it: scripts and documents compare these texts.
//
// Decided here: NumPy 1.x's defaults (8 digits, lines of 75, "..." beyond 1000 elements), which 2.x
// shares. All elements of an array have one width; one large ratio switches all of them to
// scientific form.

#include <algorithm>
#include <cmath>
#include <vector>

#include <symbind/ndarray.h>
#include <symbind/runtime.h>

#include "ndarray/access.h"
#include "ndarray/dtype_dispatch.h"
#include "ndarray/number_text.h"

namespace symbind {
namespace {

constexpr int kPrecision = 8;
constexpr std::size_t kLineWidth = 75;
constexpr std::int64_t kThreshold = 1000;
constexpr std::int64_t kEdgeItems = 3;

std::string pad_left(std::string text, std::size_t width) {
  if (text.size() < width) text.insert(0, width - text.size(), ' ');
  return text;
}

/// Floating point: inspects all elements first, then writes each at the common width.
template <class T>
class FloatFormat {
 public:
  explicit FloatFormat(const std::vector<T>& values) {
    choose_form(values);
    bool all_finite = true, negative_infinity = false;
    for (const T value : values) {
      const double x = wide(value);
      if (!std::isfinite(x)) {
        all_finite = false;
        negative_infinity = negative_infinity || (std::isinf(x) && x < 0);
        continue;
      }
      const NumberText text =
          scientific_ ? scientific_text(value, kPrecision) : positional_text(value, kPrecision);
      left_ = std::max(left_, text.whole.size());
      right_ = std::max(right_, text.fraction.size());
      exponent_digits_ = std::max(exponent_digits_, exponent_text(text.exponent).size() - 1);
    }
    fraction_ = right_;
    if (scientific_) right_ += exponent_digits_ + 2;
    if (!all_finite) {
      const std::size_t needed = negative_infinity ? 4 : 3;
      if (needed > right_ + 1) left_ = std::max(left_, needed - right_ - 1);
    }
  }

  std::string operator()(T value) const {
    const double x = wide(value);
    if (!std::isfinite(x)) {
      const char* name = std::isnan(x) ? "nan" : x < 0 ? "-inf" : "inf";
      return pad_left(name, left_ + right_ + 1);
    }
    const NumberText text = scientific_ ? scientific_exact(value, static_cast<int>(fraction_))
                                        : positional_text(value, kPrecision);
    const std::string digits = pad_left(text.whole, left_) + "." + text.fraction;
    if (!scientific_) return digits + std::string(right_ - text.fraction.size(), ' ');
    return digits + "e" + exponent_text(text.exponent, static_cast<int>(exponent_digits_));
  }

 private:
  static double wide(T value) {
    if constexpr (std::is_floating_point_v<T>)
      return value;
    else
      return static_cast<double>(static_cast<float>(value));
  }

  void choose_form(const std::vector<T>& values) {
    double largest = 0, smallest = 0;
    for (const T value : values) {
      const double x = std::abs(wide(value));
      if (!std::isfinite(x) || x == 0) continue;
      largest = std::max(largest, x);
      smallest = smallest == 0 ? x : std::min(smallest, x);
    }
    if (largest == 0) return;
    // NumPy divides in the array's own type.
    const double ratio = wide(static_cast<T>(static_cast<float>(largest / smallest)));
    scientific_ = largest >= 1e8 || smallest < 1e-4 ||
                  (std::is_same_v<T, double> ? largest / smallest : ratio) > 1000;
  }

  bool scientific_ = false;
  std::size_t left_ = 0, right_ = 0, fraction_ = 0, exponent_digits_ = 0;
};

template <class T>
std::vector<std::string> format_elements(const std::vector<T>& values) {
  std::vector<std::string> texts;
  texts.reserve(values.size());
  if constexpr (std::is_same_v<T, bool>) {
    for (const bool value : values) texts.emplace_back(value ? " True" : "False");
  } else if constexpr (std::is_integral_v<T>) {
    std::size_t width = 0;
    for (const T value : values) width = std::max(width, std::to_string(value).size());
    for (const T value : values) texts.push_back(pad_left(std::to_string(value), width));
  } else {
    const FloatFormat<T> format(values);
    for (const T value : values) texts.push_back(format(value));
  }
  return texts;
}

template <class T>
std::string format_scalar(T value) {
  if constexpr (std::is_same_v<T, bool>)
    return value ? "True" : "False";
  else if constexpr (std::is_integral_v<T>)
    return std::to_string(value);
  else
    return scalar_text(value);
}

/// Which rows of an axis are shown: all, or three at either end.
std::vector<std::int64_t> shown_rows(std::int64_t extent, bool summary) {
  const bool cut = summary && extent > 2 * kEdgeItems;
  const std::int64_t count = cut ? 2 * kEdgeItems : extent;
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 0; i < count; ++i)
    rows.push_back(cut && i >= kEdgeItems ? extent - count + i : i);
  return rows;
}

void collect_shown(const Shape& shape, bool summary, int axis, std::int64_t offset,
                   std::vector<std::int64_t>& out) {
  if (axis == shape.rank()) {
    out.push_back(offset);
    return;
  }
  for (const std::int64_t row : shown_rows(shape[axis], summary))
    collect_shown(shape, summary, axis + 1, offset * shape[axis] + row, out);
}

/// Adds brackets, line breaks and dots to texts given in order.
class TextLayout {
 public:
  TextLayout(const Shape& shape, bool summary, const std::vector<std::string>& texts)
      : shape_(shape), summary_(summary), texts_(texts) {}

  std::string block(int axis, const std::string& indent, std::size_t width) {
    const std::vector<std::int64_t> rows = shown_rows(shape_[axis], summary_);
    const bool cut = static_cast<std::int64_t>(rows.size()) < shape_[axis];
    const std::string text = axis == shape_.rank() - 1
                                 ? line(rows.size(), cut, indent, width - 1)
                                 : nested(axis, rows.size(), cut, indent, width);
    return "[" + text.substr(indent.size()) + "]";
  }

 private:
  std::string line(std::size_t count, bool cut, const std::string& indent, std::size_t width) {
    std::string done, current = indent;
    const auto extend = [&](const std::string& word) {
      if (current.size() + word.size() > width && current.size() > indent.size()) {
        current.erase(current.find_last_not_of(' ') + 1);
        done += current + "\n";
        current = indent;
      }
      current += word;
    };
    for (std::size_t i = 0; i < count; ++i) {
      if (cut && i == kEdgeItems) {
        extend("...");
        current += " ";
      }
      extend(texts_[next_++]);
      if (i + 1 < count) current += " ";
    }
    return done + current;
  }

  std::string nested(int axis, std::size_t count, bool cut, const std::string& indent,
                     std::size_t width) {
    const std::string gap(static_cast<std::size_t>(shape_.rank() - axis - 1), '\n');
    std::string text;
    for (std::size_t i = 0; i < count; ++i) {
      if (cut && i == kEdgeItems) text += indent + "..." + gap;
      text += indent + block(axis + 1, indent + " ", width - 1);
      if (i + 1 < count) text += gap;
    }
    return text;
  }

  const Shape& shape_;
  bool summary_;
  const std::vector<std::string>& texts_;
  std::size_t next_ = 0;
};

std::string numpy_text(const NDArray& host) {
  const Shape& shape = host.shape();
  if (host.size() == 0) return "[]";
  return dispatch_dtype(host.dtype(), [&]<class T>() -> std::string {
    const T* data = reinterpret_cast<const T*>(read_pointer(host));
    if (shape.rank() == 0) return format_scalar(*data);
    const bool summary = host.size() > kThreshold;
    std::vector<std::int64_t> shown;
    collect_shown(shape, summary, 0, 0, shown);
    std::vector<T> values;
    values.reserve(shown.size());
    for (const std::int64_t at : shown) values.push_back(data[at]);
    return TextLayout(shape, summary, format_elements(values)).block(0, " ", kLineWidth);
  });
}

}  // namespace

std::string NDArray::str() const {
  if (!defined()) return "\n[]\n<NDArray None>";
  wait_to_read();
  const NDArray host = in_gpu_memory(context()) ? as_in_context(cpu()) : *this;
  std::string extents;
  for (const std::int64_t dim : shape_)
    extents += (extents.empty() ? "" : "x") + std::to_string(dim);
  return "\n" + numpy_text(host) + "\n<NDArray " + extents + " @" + context().str() + ">";
}

}  // namespace symbind
