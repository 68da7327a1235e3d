#pragma once
// Runs a case: bound in a graph, at once, or as one kernel prepared directly.

#include <memory>

#include <symbind/executor.h>

#include "graph/node.h"
#include "tests/support/op_case.h"

namespace symbind {

/// Whether the operator's inputs are bound arrays, or intermediates that die there or live on.
enum class InputsAre : std::uint8_t { kBound, kDying, kLiving };

struct BindRequest {
  DType dtype = DType::kFloat32;
  std::vector<std::string> grad_req = {};  ///< by input; empty: no gradients
  InputsAre inputs = InputsAre::kBound;
  Context context = cpu();
  /// The outputs that are read; none in the list: their shape alone. Not said: all of them.
  std::optional<std::vector<int>> reads = {};
  std::optional<HostTensors> values = {};  ///< of the inputs, instead of the case's
};

/// Every case of every operator.
void for_every_case(const std::function<void(const OpCase&)>& look);
/// The symbol of a case over variables in0, in1, …
Symbol case_symbol(const OpCase& c, InputsAre inputs = InputsAre::kBound);
/// The symbol of a case of which only these outputs are read; of none of them: the shape.
Symbol case_symbol(const OpCase& c, const std::vector<int>& reads);
/// The inputs that can be intermediates: neither auxiliary nor overwritten.
std::vector<std::size_t> free_inputs(const OpCase& c);
/// The types of the inputs when the first has `dtype`.
std::vector<DType> input_dtypes(const OpCase& c, DType dtype);
/// The inputs as arrays of their types hold them.
HostTensors rounded_inputs(const OpCase& c, DType dtype);
/// "write" for every input that can have a gradient; "null" for the others.
std::vector<std::string> all_gradients(const OpCase& c);
/// The type the checks that need only one are made in.
DType main_type(const OpCase& c);
/// Whether an input has a gradient in that type.
bool has_gradient(const OpCase& c);
std::shared_ptr<const void> parsed_attrs(const OpCase& c);
const OpDef& definition(const OpCase& c);

/// A case bound in a graph. Random numbers start from the same seed at every forward.
class BoundCase {
 public:
  BoundCase(const OpCase& c, const BindRequest& request);

  void load(const HostTensors& inputs);
  /// Every byte of outputs, gradients and intermediates becomes `byte`.
  void fill_memory(unsigned char byte);
  /// Fills the gradient arrays with numbers, as if something had been added before.
  HostTensors fill_gradients();
  /// Fills outputs and gradient arrays with a number that no operator computes, to show unwritten
  /// elements.
  void spoil();
  HostTensors forward();
  /// One per input; empty tensors where there is none. Without heads: backward().
  HostTensors backward(const HostTensors& heads);
  HostTensors random_heads() const;
  /// The bytes of outputs, gradients and inputs.
  std::vector<std::string> bytes() const;
  /// The current arrays of the inputs.
  HostTensors inputs() const;
  std::vector<DType> output_dtypes() const;
  Executor& executor() { return executor_; }
  std::size_t num_outputs() const { return num_outputs_; }

 private:
  const OpCase& case_;
  std::vector<NDArray> arrays_, gradients_;
  Executor executor_;
  std::size_t num_outputs_ = 0;
};

/// Outputs, then the inputs the operator overwrites. Output 0 of an imperative case goes to input
/// 0.
HostTensors run_invoke(const OpCase& c, DType dtype, const HostTensors& values);
inline HostTensors run_invoke(const OpCase& c, DType dtype) {
  return run_invoke(c, dtype, c.values());
}

/// One kernel of the case's operator, run with input 0 (and all of its shape) in `layout`.
struct KernelRun {
  std::string refusal = {};       ///< why it did not run
  HostTensors outputs = {};       ///< visible ones, then the overwritten inputs
  DType dtype = DType::kFloat32;  ///< of output 0
};
KernelRun run_kernel(const OpCase& c, const KernelDef& kernel, DType dtype, Layout layout);

/// Check 9 of README.md; whether the case could grow.
bool check_op_borders(const OpCase& c);
/// Whether no case of this operator can grow.
bool keeps_its_size(const std::string& op);

}  // namespace symbind
