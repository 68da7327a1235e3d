#pragma once
// NDArray: a contiguous view (shape, dtype, offset) of a counted block of device memory.
//
// Copying an NDArray copies the handle, not the numbers; reshapes and slices along the first axis
// alias the same memory. An operator's error is stored on its outputs; the next wait (wait_to_read,
// to_vector, waitall) raises it, once.

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <symbind/context.h>
#include <symbind/dtype.h>
#include <symbind/error.h>
#include <symbind/shape.h>

namespace symbind {

class Storage;
struct Node;

/// An array's position on the tape (symbind/autograd.h): an output of a recorded node, a marked
/// variable, or none.
struct TapeRef {
  std::shared_ptr<const Node> node;
  int output = 0;
};

/// One entry of a basic index: an integer, or begin:end:step where absent bounds are open.
struct Index {
  Index(std::int64_t at) : integer(true), begin(at) {}  // NOLINT: a[{1, 2}] reads as it should
  Index(std::optional<std::int64_t> first, std::optional<std::int64_t> last, std::int64_t by = 1)
      : begin(first), end(last), step(by) {}
  static Index all() { return {std::nullopt, std::nullopt}; }
  bool integer = false;
  std::optional<std::int64_t> begin, end;
  std::int64_t step = 1;
};

class NDArray {
 public:
  /// No array at all: defined() is false.
  NDArray() = default;
  /// Uninitialised memory.
  explicit NDArray(const Shape& shape, Context context = current_context(),
                   DType dtype = DType::kFloat32);
  /// float32 numbers from the host; the shape's size must equal the count.
  NDArray(std::initializer_list<float> values, const Shape& shape,
          Context context = current_context());
  /// A view of `storage`; for code that allocates memory (executors, file readers).
  NDArray(std::shared_ptr<Storage> storage, const Shape& shape, DType dtype,
          std::size_t byte_offset = 0);

  static NDArray zeros(const Shape& shape, Context context = current_context(),
                       DType dtype = DType::kFloat32);
  static NDArray ones(const Shape& shape, Context context = current_context(),
                      DType dtype = DType::kFloat32);
  static NDArray full(const Shape& shape, double value, Context context = current_context(),
                      DType dtype = DType::kFloat32);
  static NDArray arange(double start, double stop, double step = 1,
                        Context context = current_context(), DType dtype = DType::kFloat32);
  /// Copies `size` elements of `dtype` from host memory.
  static NDArray from_host(const void* data, const Shape& shape, DType dtype,
                           Context context = current_context());
  /// Caller-supplied memory; `on_release` runs when it is no longer used. It counts as changed at
  /// every run.
  static NDArray wrap(void* data, const Shape& shape, DType dtype, Context context,
                      std::function<void()> on_release);
  template <class T>
  static NDArray from_vector(const std::vector<T>& values, const Shape& shape,
                             Context context = current_context()) {
    check_count(values.size(), shape);
    return from_host(values.data(), shape, dtype_of<T>, context);
  }

  bool defined() const { return storage_ != nullptr; }
  const Shape& shape() const { return shape_; }
  DType dtype() const { return dtype_; }
  int ndim() const { return shape_.rank(); }
  std::int64_t size() const;
  std::size_t nbytes() const;
  Context context() const;
  /// The same memory, not merely equal numbers.
  bool aliases(const NDArray& other) const;

  /// A view of another shape; MXNet's codes 0, -1, -2, -3, -4 are understood.
  NDArray reshape(const std::vector<std::int64_t>& codes, bool reverse = false) const;
  NDArray reshape(std::initializer_list<std::int64_t> codes, bool reverse = false) const {
    return reshape(std::vector<std::int64_t>(codes), reverse);
  }
  NDArray reshape(const Shape& shape) const;
  /// Rows [begin, end) of the first axis, as a view.
  NDArray slice(std::int64_t begin, std::int64_t end) const;
  /// Row `i`, as a view of one rank less.
  NDArray at(std::int64_t i) const;
  /// Basic indexing: a view when the selected block is contiguous, otherwise a copy.
  NDArray index(const std::vector<Index>& key) const;
  /// Writes `value` (broadcast) into the selected block.
  void set(const std::vector<Index>& key, const NDArray& value);
  void set(const std::vector<Index>& key, double value);
  /// Fills the whole array.
  void set(double value);
  /// Writes `value` (broadcast, cast) over the whole array.
  void set(const NDArray& value);

  NDArray copy() const;
  /// Copies into `target`: same shape, any context and dtype.
  void copy_to(const NDArray& target) const;
  NDArray as_in_context(Context context) const;
  NDArray astype(DType dtype, bool copy = true) const;

  /// The numbers on the host, cast to T. Waits.
  template <class T>
  std::vector<T> to_vector() const {
    std::vector<T> out(static_cast<std::size_t>(size()));
    copy_to_host(out.data(), dtype_of<T>);
    return out;
  }
  /// The only number of an array of size 1.
  double scalar() const;
  void copy_to_host(void* out, DType dtype) const;
  void copy_from_host(const void* data, DType dtype);

  /// Blocks until written; raises the error of the operator that failed to write it.
  void wait_to_read() const;
  /// Device pointer for reading.
  const void* data() const;
  /// Device pointer for writing. From now on the array counts as changed at every run.
  void* mutable_data();
  const std::shared_ptr<Storage>& storage() const { return storage_; }
  std::size_t byte_offset() const { return offset_; }

  // Gradients of what symbind/autograd.h records.
  /// Makes this a variable whose gradient is kept: grad_req is "write", "add" or "null".
  void attach_grad(std::string_view grad_req = "write");
  /// The gradient of a variable; undefined where none is kept.
  NDArray grad() const;
  /// Computes the gradients of the variables this depends on; without a head gradient, of its sum.
  void backward() const;
  void backward(const NDArray& head_grad, bool retain_graph = false, bool train_mode = true) const;
  /// The same memory, outside any recording.
  NDArray detach() const;
  const TapeRef& tape() const { return tape_; }
  /// A mark on this handle, not a change of the array.
  void set_tape(TapeRef ref) const { tape_ = std::move(ref); }

  /// MXNet's text: a newline, NumPy's text, a newline, "<NDArray 2x3 @cpu(0)>".
  std::string str() const;

  NDArray& operator+=(const NDArray& other);
  NDArray& operator-=(const NDArray& other);
  NDArray& operator*=(const NDArray& other);
  NDArray& operator/=(const NDArray& other);
  NDArray& operator+=(double scalar);
  NDArray& operator-=(double scalar);
  NDArray& operator*=(double scalar);
  NDArray& operator/=(double scalar);

 private:
  static void check_count(std::size_t count, const Shape& shape);

  std::shared_ptr<Storage> storage_;
  Shape shape_;
  DType dtype_ = DType::kFloat32;
  std::size_t offset_ = 0;
  mutable TapeRef tape_;
};

// Array operators broadcast as NumPy's do.
NDArray operator+(const NDArray& a, const NDArray& b);
NDArray operator-(const NDArray& a, const NDArray& b);
NDArray operator*(const NDArray& a, const NDArray& b);
NDArray operator/(const NDArray& a, const NDArray& b);
NDArray operator+(const NDArray& a, double b);
NDArray operator-(const NDArray& a, double b);
NDArray operator*(const NDArray& a, double b);
NDArray operator/(const NDArray& a, double b);
NDArray operator+(double a, const NDArray& b);
NDArray operator-(double a, const NDArray& b);
NDArray operator*(double a, const NDArray& b);
NDArray operator/(double a, const NDArray& b);
NDArray operator-(const NDArray& a);
// Comparisons give 1 where they hold and 0 elsewhere.
NDArray operator<(const NDArray& a, const NDArray& b);
NDArray operator<=(const NDArray& a, const NDArray& b);
NDArray operator>(const NDArray& a, const NDArray& b);
NDArray operator>=(const NDArray& a, const NDArray& b);
NDArray operator<(const NDArray& a, double b);
NDArray operator<=(const NDArray& a, double b);
NDArray operator>(const NDArray& a, double b);
NDArray operator>=(const NDArray& a, double b);
NDArray operator<(double a, const NDArray& b);
NDArray operator<=(double a, const NDArray& b);
NDArray operator>(double a, const NDArray& b);
NDArray operator>=(double a, const NDArray& b);

/// Waits for all devices; raises the first error that has not been raised yet.
void waitall();

/// Name → array, in name order.
using NDArrayMap = std::map<std::string, NDArray>;

/// MXNet's .params files. A list has empty names.
struct NamedArrays {
  std::vector<std::string> names;
  std::vector<NDArray> arrays;
  NDArrayMap map() const;
};
void save(const std::string& path, const NDArrayMap& arrays);
void save(const std::string& path, const std::vector<NDArray>& arrays);
NamedArrays load(const std::string& path);
NamedArrays load_frombuffer(std::span<const std::byte> bytes);
/// One array record without the list header: what an NDArray's pickle holds.
std::vector<std::byte> to_record(const NDArray& array);
NDArray from_record(std::span<const std::byte> bytes);

}  // namespace symbind
