#pragma once
// The part of a Predictor that never changes: the graph, the weights on their device, and which
// arguments a call passes.
//
// Decided here: an argument without a parameter is an input, unless only losses read it (a label,
// whose numbers do not affect the outputs) or a layer uses it as its weight (then a parameter is
// missing).

#include <symbind/predictor.h>

#include "executor/runner.h"

namespace symbind {

/// Shapes of the inputs, in their order; an unknown rank where an input was not given.
using Signature = std::vector<Shape>;

/// What is needed to run inputs of one signature.
struct PlannedShapes {
  std::shared_ptr<const Plan> plan;
  Bound bound;                      ///< inputs are open
  std::vector<TensorDesc> outputs;  ///< plain
  std::vector<DType> input_types;   ///< by input
  /// Custom operators have state: such a plan serves one executor.
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
  /// Required inputs come first, labels last.
  const std::vector<Input>& inputs() const { return inputs_; }
  const std::vector<std::string>& input_names() const { return input_names_; }
  const std::vector<std::string>& label_names() const { return label_names_; }
  const std::vector<std::string>& output_names() const { return output_names_; }

  /// The shapes as a signature. Throws for invalid names and shapes.
  Signature signature(const ShapeMap& shapes) const;
  /// Throws if an input other than a label has no shape.
  void check_complete(const Signature& signature) const;
  /// The signature with a shape for every input: missing ones are inferred from the others. Throws
  /// if that fails.
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
  bool exact_;
  DType compute_dtype_;
};

}  // namespace symbind
