#pragma once
// The part of a Predictor that never changes: the graph, the weights on their device, and which
// arguments calls give.
//
// Decided here: an argument without a parameter is an input, unless only losses read it (a label,
// whose numbers do not matter to the outputs) or a layer takes it as its weight (then it is
// missing).

#include <symbind/predictor.h>

#include "executor/runner.h"

namespace symbind {

/// Shapes of the inputs, in their order; an unknown rank where an input was not given.
using Signature = std::vector<Shape>;

/// What running inputs of one signature takes.
struct PlannedShapes {
  std::shared_ptr<const Plan> plan;
  Bound bound;                      ///< inputs are open
  std::vector<TensorDesc> outputs;  ///< plain
  std::vector<DType> input_types;   ///< by input
  /// Users' operators keep states of their own: such a plan serves one executor.
  bool shareable = true;
};

class Network {
 public:
  struct Input {
    std::string name;
    std::size_t argument;  ///< its number among the arguments
    bool is_label;
  };

  Network(const Symbol& symbol, const NDArrayMap& args, const NDArrayMap& aux,
          const PredictorOptions& options);

  const Symbol& symbol() const { return symbol_; }
  Context context() const { return context_; }
  /// Those a call must give come first, labels last.
  const std::vector<Input>& inputs() const { return inputs_; }
  const std::vector<std::string>& input_names() const { return input_names_; }
  const std::vector<std::string>& label_names() const { return label_names_; }
  const std::vector<std::string>& output_names() const { return output_names_; }

  /// The shapes as a signature. Throws for names and shapes that cannot be.
  Signature signature(const ShapeMap& shapes) const;
  /// Throws when an input that is no label has no shape.
  void check_complete(const Signature& signature) const;
  /// The signature with a shape for every input: those that were not given as they follow from the
  /// others. Throws where they do not.
  Signature inferred(const Signature& signature) const;
  [[noreturn]] void fail_unknown(const std::string& name) const;
  PlannedShapes plan(const Signature& signature) const;

 private:
  void find_inputs(const PredictorOptions& options, const NDArrayMap& args);
  void take_weights(const Symbol& whole, const NDArrayMap& args, const NDArrayMap& aux,
                    const PredictorOptions& options);
  ShapeMap known_shapes(const Signature& signature) const;
  std::string describe(const Signature& signature) const;

  Symbol symbol_;
  Context context_;
  std::vector<std::string> arg_names_, aux_names_, output_names_;
  std::vector<Input> inputs_;
  std::vector<std::string> input_names_, label_names_;
  std::vector<std::string> missing_;  ///< parameters that are neither given nor inputs
  NDArrayMap args_, aux_;             ///< on the device
  DTypeMap types_;
};

}  // namespace symbind
