#pragma once
// How an operator is defined, built-in or custom: attributes, inference, gradient, kernels.
// docs/add_an_operator.md walks through one.

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <symbind/attributes.h>
#include <symbind/cost.h>
#include <symbind/epilogue.h>
#include <symbind/kernel.h>
#include <symbind/rules.h>

namespace symbind {

/// In which type an operator computes where a bound graph declares float16 or bfloat16.
enum class Precision : std::uint8_t {
  kDeclared,  ///< the declared one
  kFloat32,   ///< float32: its fast kernels have no other
  kAsStored,  ///< the one in which its inputs are stored: it computes every type at the same speed
};

using SlicesRule =
    std::function<std::vector<bool>(const void*, std::span<const Shape> in, const Shape& out)>;
/// Rules of the column `slices`: input 0 has the samples and the others are parameters; every input
/// has them unless it is broadcast over them.
enum class Slices : std::uint8_t { kFirst, kElementwise };
SlicesRule slices_rule(Slices rule);
/// One of these rules, or one by the attributes.
template <class A, class F>
SlicesRule slices_rule(F rule) {
  if constexpr (std::is_same_v<F, Slices>)
    return slices_rule(rule);
  else
    return [rule](const void* a, std::span<const Shape> in, const Shape& out) {
      return rule(*static_cast<const A*>(a), in, out);
    };
}

/// Everything known of an operator. Passes read these columns and never name an operator.
struct OpDef {
  std::string name;
  std::vector<std::string> aliases;
  std::string doc;

  std::function<std::shared_ptr<void>()> make_attrs;
  std::function<std::vector<AttrField>(void*)> describe;
  std::function<void(void*, std::size_t num_inputs)> set_num_inputs;  ///< variadic operators
  std::vector<std::string> ignored_attrs;  ///< accepted, without effect (workspace, cudnn_tune)
  /// Receives the attributes describe() does not name, after the others are read; without it they
  /// are an error. The inputs of such an operator are a list whose names the attributes determine.
  std::function<void(void*, AttrDict)> take_rest;

  std::function<std::vector<std::string>(const void*)> input_names;
  bool names_inputs = false;  ///< monitors say node_data, not node_input0
  std::string variadic_key;   ///< "num_args" where the inputs are a list
  std::function<std::vector<std::string>(const void*)> output_names;
  std::function<int(const void*)> num_visible;
  std::vector<int> aux_inputs;      ///< auxiliary states: mutable, no gradient, listed separately
  std::vector<int> mutated_inputs;  ///< inputs that a run writes (update operators, aux)
  /// Where inputs come in groups with one output each (multi_sgd_update): how many make a group,
  /// and how many follow the last. mutated_inputs and inplace then apply to every group.
  int group = 0, group_rest = 0;
  std::vector<int> shape_only;  ///< inputs whose shape is read and not their numbers
  /// In place of aux_inputs, mutated_inputs and shape_only, where the attributes decide (Custom).
  std::function<InputRoles(const void*)> roles;
  std::vector<std::pair<int, std::string>> init_hints;  ///< input → "__init__" attribute

  std::function<void(const void*, Inference&)> infer;
  /// The shape of output 0 where the values of the inputs decide it (boolean_mask). Calls on arrays
  /// use it; a bound graph accepts such an operator only if its neighbours determine the shape.
  std::function<Shape(const void*, const std::vector<NDArray>&)> shape_from_values;
  std::function<NodeEntries(const void*, GradientBuilder&)> gradient;
  /// Output 0 computed again in backward, from what the gradient reads anyway; absent where that is
  /// not cheap.
  std::function<NodeEntry(const void*, GradientBuilder&)> recompute;
  bool is_loss = false;          ///< ignores its head gradient
  bool starts_gradient = false;  ///< its gradient runs even where none arrives; losses' does too
  /// Runs user code, which may have state and change at any time: prepared again for every use,
  /// never merged with an equal node and never captured.
  bool runs_user_code = false;
  bool is_random = false;    ///< draws random numbers: never merged with an equal node
  bool is_backward = false;  ///< made by a gradient, not offered to users
  bool adds_up = false;      ///< the sum of its inputs: runs early to free them
  bool is_loop = false;      ///< holds a graph that is unrolled at binding
  /// Its input may be on another device than its output (_CrossDeviceCopy).
  bool crosses_devices = false;
  /// During a run it waits for the same layer on the other devices: each device needs a thread.
  bool meets_devices = false;
  std::vector<std::pair<int, int>> inplace;  ///< {i, o}: o may take the memory of i (-1: the last)
  /// Outputs from this index on get no memory when nothing reads them: every kernel checks
  /// args.wants(o) before it writes. Other unread outputs get scratch memory, for any kernel.
  int skips_unread_from = std::numeric_limits<int>::max();
  /// This operator as an operation on the output of the layer before it (epilogue.h).
  std::function<std::optional<EpilogueItem>(const void*)> as_epilogue;
  /// Of a layer: the operator that is this layer with an epilogue, an attribute of that name.
  std::string with_epilogue;
  /// Of an operator with an epilogue: which ones it takes. `training`: it needs their gradients.
  std::function<bool(const Epilogue&, bool training)> takes_epilogue;
  bool channels_last = false;  ///< a channel is the last axis of the output, not the second
  /// Whether output 0 is input 0 as long as no training runs (Dropout).
  std::function<bool(const void*)> is_identity_in_prediction;
  Precision precision = Precision::kDeclared;
  FlopsRule flops;  ///< of one run; without it their number is unknown
  /// Where, in a prediction, a sample's outputs depend on this sample alone: which inputs have the
  /// samples as their first axis, as the outputs have. Absent or empty: they depend on others.
  SlicesRule slices;
  std::vector<KernelDef> kernels;  ///< in order of preference, the plain reference last

  int input_index(const void* attrs, std::string_view input) const;
  /// The attribute struct read from text; `owner` opens every message, `num_inputs` sets a variadic
  /// operator's count.
  std::shared_ptr<void> parse(const AttrDict& given, std::string_view owner,
                              std::size_t num_inputs) const;
  /// Auxiliary states, in order.
  std::vector<int> aux_of(const void* attrs) const;
  bool is_aux(const void* attrs, int input) const;
  /// Whether a run writes this input; any input.
  bool mutates(const void* attrs, int input) const;
  bool mutates_any(const void* attrs) const;
  bool reads_only_shape(const void* attrs, int input) const;
  /// `inplace`, for every group.
  std::vector<std::pair<int, int>> inplace_pairs(int num_outputs) const;
  /// How many inputs there are when the attribute variadic_key has this value.
  std::int64_t inputs_for(std::int64_t count) const {
    return group > 0 ? count * group + group_rest : count;
  }
};

template <class A>
class OpBuilder;

/// All operators by name and alias.
class OpRegistry {
 public:
  /// The process's registry with every built-in operator.
  static OpRegistry& global();
  template <class A = NoAttrs>
  OpBuilder<A> add(std::string name);
  const OpDef* find(std::string_view name) const;
  /// Throws kName with the nearest names.
  const OpDef& get(std::string_view name) const;
  /// Canonical names in alphabetical order.
  std::vector<std::string> names() const;
  OpDef& insert(OpDef def);
  void add_alias(OpDef& def, const std::string& alias);

 private:
  std::map<std::string, std::shared_ptr<OpDef>, std::less<>> by_name_;
};

}  // namespace symbind

#include <symbind/detail/op_builder.h>
