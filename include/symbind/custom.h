#pragma once
// Operators written by users as classes: `Custom(…, op_type = "mine")` in symbols and arrays.
//
//   class Square : public CustomKernel { … };
//   class SquareOp : public CustomOpDescription { … create() returns a Square … };
//   register_custom("square", [](const AttrDict&) { return std::make_shared<SquareOp>(); });
//   Symbol y = Custom("y", {x}, {.op_type = "square"});
//
// Every call copies its arrays. For the speed of the built-in operators, register in the OpRegistry
// instead (docs/add_an_operator.md).

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <symbind/attributes.h>
#include <symbind/ndarray.h>

namespace symbind {

/// How a result is to be stored.
enum class StoreReq : std::uint8_t { kNull, kWrite, kInplace, kAdd };
/// Stores `value` in `to` as `req` says.
void store(NDArray& to, StoreReq req, const NDArray& value);

/// The arrays of a forward call. They belong to the call: the operator may keep them.
struct CustomForward {
  bool is_train = false;
  std::vector<StoreReq> req;  ///< by output
  std::vector<NDArray> in, out, aux;
};
/// The arrays of a backward call; those that backward_reads() does not name are undefined.
struct CustomBackward {
  std::vector<StoreReq> req;  ///< by input
  std::vector<NDArray> out_grad, in, out, in_grad, aux;
};

/// The computation. Forward and backward of one executor share an object, which may have state.
class CustomKernel {
 public:
  virtual ~CustomKernel() = default;
  /// Writes `out` and, optionally, `aux`.
  virtual void forward(CustomForward call) = 0;
  /// Writes `in_grad` and, optionally, `aux`. Throws kNotImplemented unless overridden.
  virtual void backward(CustomBackward call);
};

struct CustomShapes {
  std::vector<Shape> in, out, aux;
};
struct CustomTypes {
  std::vector<DType> in, out, aux;
};

/// The interface of a custom operator. Its functions may be called from any thread.
class CustomOpDescription {
 public:
  virtual ~CustomOpDescription() = default;
  virtual std::vector<std::string> inputs() const { return {"data"}; }
  virtual std::vector<std::string> outputs() const { return {"output"}; }
  /// Auxiliary states: written by the operator, without gradient, listed separately.
  virtual std::vector<std::string> aux() const { return {}; }
  /// Infers all shapes from those of the inputs, some of which may be unknown. By default outputs
  /// and auxiliary states have the shape of the first input.
  virtual CustomShapes infer_shape(const std::vector<Shape>& in) const;
  virtual CustomTypes infer_type(const std::vector<DType>& in) const;
  /// False for a loss: backward() is then legal without head gradients.
  virtual bool needs_head_gradient() const { return true; }
  /// The arrays backward reads, as indices into the list of output gradients, inputs, outputs. By
  /// default all that needs_head_gradient() allows.
  virtual std::vector<int> backward_reads() const;
  /// The computation for one device and the shapes and dtypes of inputs and auxiliary states.
  virtual std::shared_ptr<CustomKernel> create(Context context, const std::vector<Shape>& shapes,
                                               const std::vector<DType>& dtypes) const = 0;
};

using CustomDescriptionPtr = std::shared_ptr<const CustomOpDescription>;

/// Makes Custom(op_type = `op_type`) the operator that `factory` describes, given the attributes
/// other than op_type as text. A later registration of the same name replaces it for calls and
/// symbols made after that.
void register_custom(const std::string& op_type,
                     std::function<CustomDescriptionPtr(const AttrDict&)> factory);

/// Called for every op_type that register_custom does not know; null means unknown here, too.
/// Language bindings set it.
void register_custom_factory(
    std::function<CustomDescriptionPtr(const std::string& op_type, const AttrDict&)> factory);

}  // namespace symbind
