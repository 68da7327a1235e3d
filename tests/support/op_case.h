#pragma once
// OpCase: one operator, its attributes and inputs, and what must come out. The harness does the
// rest; tests/support/README.md says what and how to write one.

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <symbind/attributes.h>

#include "tests/support/host_tensor.h"

namespace symbind {
namespace golden {
struct Case;
}

/// Computes the visible outputs from the inputs; further tensors, if any, are the inputs the
/// operator overwrites, in the order it declares them.
using OpReference = std::function<HostTensors(const HostTensors& inputs)>;

class OpCase {
 public:
  OpCase(std::string op, std::string name) : op_(std::move(op)), name_(std::move(name)) {}

  OpCase& attr(const std::string& key, const std::string& value);
  OpCase& attr(const std::string& key, const char* value) { return attr(key, std::string(value)); }
  OpCase& attr(const std::string& key, double value);
  OpCase& attr(const std::string& key, int value) { return attr(key, std::to_string(value)); }
  OpCase& attr(const std::string& key, bool value) { return attr(key, value ? "True" : "False"); }

  /// The next input: numbers of the formula in [lo, hi), or these. Auxiliary states are inputs.
  OpCase& in(const Shape& shape, double lo = -1, double hi = 1);
  OpCase& in(const Shape& shape, const std::vector<double>& values);
  /// The next input: whole numbers 0 … below-1 (labels, indices); it gets no gradient.
  OpCase& in_indices(const Shape& shape, int below);

  /// Computes what must come out: f(HostTensors) → HostTensor or HostTensors, or elementwise
  /// f(double) or f(double, double) → double.
  template <class F>
  OpCase& ref(F f) {
    if constexpr (std::is_invocable_r_v<double, F, double>) {
      return set_reference([f](const HostTensors& in) {
        HostTensor y(in[0].shape);
        for (std::size_t i = 0; i < y.size(); ++i) y[i] = f(in[0][i]);
        return HostTensors{y};
      });
    } else if constexpr (std::is_invocable_r_v<double, F, double, double>) {
      return set_reference([f](const HostTensors& in) {
        HostTensor y(in[0].shape);
        for (std::size_t i = 0; i < y.size(); ++i) y[i] = f(in[0][i], in[1][i]);
        return HostTensors{y};
      });
    } else if constexpr (std::is_same_v<std::invoke_result_t<F, const HostTensors&>, HostTensor>) {
      return set_reference([f](const HostTensors& in) { return HostTensors{f(in)}; });
    } else {
      return set_reference(f);
    }
  }
  /// What must come out, as numbers; the shape is the operator's.
  OpCase& ref(const std::vector<double>& values);
  /// Checks inputs and outputs with a custom function; for operators that draw random numbers.
  OpCase& property(std::function<void(const HostTensors& in, const HostTensors& out)> expect);
  /// Takes attributes, inputs and outputs from the case of this name in tests/golden/ops.
  OpCase& recorded();
  /// The gradients of the inputs; for losses, where no difference quotient shows them. Heads are 1.
  OpCase& grad_ref(OpReference gradients);
  /// Binding or running throws an Error that contains `text`.
  OpCase& raises(const std::string& text);

  /// No gradient is asked of this input (all inputs): its values are a kink, or not a number line.
  OpCase& no_grad(int input);
  OpCase& no_grad();
  /// The types to run in; float32, float64, float16 and bfloat16 if not said. The first input has
  /// it, the others what inference makes of it.
  OpCase& dtypes(std::vector<DType> types);
  /// Instead of tolerance_of(type), for hard sums.
  OpCase& tolerance(DType dtype, double relative, double absolute = 0);
  /// Runs with is_train (and with batch statistics, masks, …); the default.
  OpCase& train(bool is_train = true);
  /// These inputs' shapes follow from the others' (all of them: from the outputs'); checked besides
  /// never contradicting.
  OpCase& recovers(std::vector<int> inputs);
  /// Called at once only (update operators); output 0 goes into input 0, those of groups into the
  /// first of each.
  OpCase& imperative_only();

  /// Becomes the recorded case, but for its name.
  void take(const golden::Case& recording);

  // What was described; read by the checks.
  struct Input {
    HostTensor value;
    std::optional<DType> dtype = {};  ///< instead of what inference makes of the first input's
  };
  const std::string& op() const { return op_; }
  const std::string& name() const { return name_; }
  const AttrDict& attrs() const { return attrs_; }
  const std::vector<Input>& inputs() const { return inputs_; }
  HostTensors values() const;
  const OpReference& reference() const { return reference_; }
  const OpReference& grad_reference() const { return grad_reference_; }
  const std::function<void(const HostTensors&, const HostTensors&)>& expect() const {
    return property_;
  }
  const std::optional<std::vector<double>>& fixed() const { return fixed_; }
  const std::optional<std::string>& error() const { return error_; }
  bool wants_grad(int input) const;
  /// Without inputs an attribute decides the type: one run is enough.
  std::vector<DType> types() const { return inputs_.empty() ? std::vector{types_.at(0)} : types_; }
  Tolerance tolerance_for(DType dtype) const;
  bool is_train() const { return is_train_; }
  bool is_recorded() const { return recorded_; }
  bool is_imperative() const { return imperative_; }
  const std::vector<int>& recovered() const { return recovers_; }

 private:
  OpCase& set_reference(OpReference f);

  std::string op_, name_;
  AttrDict attrs_;
  std::vector<Input> inputs_;
  OpReference reference_, grad_reference_;
  std::function<void(const HostTensors&, const HostTensors&)> property_;
  std::optional<std::vector<double>> fixed_;
  std::optional<std::string> error_;
  bool no_grad_ = false, is_train_ = true, recorded_ = false, imperative_ = false;
  std::set<int> no_grad_inputs_;
  std::vector<DType> types_ = {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16};
  std::map<DType, Tolerance> tolerances_;
  std::vector<int> recovers_;
};

/// The cases of one operator, or of a family.
class OpCases {
 public:
  explicit OpCases(std::string op = {}) : op_(std::move(op)) {}
  /// The operator the next cases are of; OP_CASES says it already, a family says it in its loop.
  OpCases& op(const std::string& name);
  OpCase& add(const std::string& name);
  /// Every case that tests/golden/ops has of this operator; `change` may adjust each.
  OpCases& recorded(const std::function<void(OpCase&)>& change = {});
  const std::deque<OpCase>& all() const { return cases_; }

 private:
  std::string op_;
  std::deque<OpCase> cases_;
};

using OpCaseWriter = void (*)(OpCases&);
/// Makes the test Ops.<op> of what `write` describes.
bool register_op_cases(const char* op, OpCaseWriter write, const char* file, int line);
/// Makes one test Ops.<op> for every operator `write` describes cases of.
bool register_op_family(OpCaseWriter write, const char* file, int line);
/// Every operator that has a case.
std::set<std::string> operators_with_cases();

/// All checks of one case, as expectations of the running test.
void check_op_case(const OpCase& c);

}  // namespace symbind

#define OP_CASES(op)                                                           \
  static void op_cases_of_##op(::symbind::OpCases& c);                         \
  [[maybe_unused]] static const bool op_cases_registered_##op =                \
      ::symbind::register_op_cases(#op, op_cases_of_##op, __FILE__, __LINE__); \
  static void op_cases_of_##op(::symbind::OpCases& c)

// The body runs while the program starts: it may read only constants of its own file.
#define OP_FAMILY(family)                                                       \
  static void op_family_of_##family(::symbind::OpCases& c);                     \
  [[maybe_unused]] static const bool op_family_registered_##family =            \
      ::symbind::register_op_family(op_family_of_##family, __FILE__, __LINE__); \
  static void op_family_of_##family(::symbind::OpCases& c)
