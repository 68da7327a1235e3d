#pragma once
// One operator prepared to run on plain arrays: what `invoke` caches and what updates hold.

#include <memory>

#include "graph/node.h"

namespace symbind {

struct ImperativeKernel {
  const OpDef* op = nullptr;
  Prepared run;
  std::vector<TensorDesc> out;       ///< hidden outputs included
  std::vector<std::size_t> mutated;  ///< inputs a run writes
  int num_visible = 1;
  std::size_t workspace_bytes = 0;
};

/// Infers, chooses among the kernels that take plain layouts, prepares. The result is cached by
/// operator, attributes (per-call ones aside), descriptions and device, unless users wrote it. An
/// operator without inputs may take the shape of its result from the array it writes: `out_shape`.
std::shared_ptr<const ImperativeKernel> imperative_kernel(
    const OpDef& op, const std::shared_ptr<const void>& attrs, const std::vector<TensorDesc>& in,
    Context context, const Shape& out_shape = Shape::unknown());

/// A call of an operator, ready to run: parsed, checked, prepared.
struct ImperativeCall {
  std::shared_ptr<const ImperativeKernel> kernel;
  std::vector<double> values;  ///< per-call attributes
  std::shared_ptr<const void> attrs;
};

/// As imperative_kernel, from attributes as written. Cached by the call itself, so that a call seen
/// before costs one look-up.
std::shared_ptr<const ImperativeCall> imperative_call(const OpDef& op,
                                                      const std::vector<NDArray>& inputs,
                                                      const AttrDict& attrs, Context context,
                                                      const Shape& out_shape);

/// Throws unless there are as many arrays as the operator has inputs, all of them on one device.
void check_inputs(const OpDef& op, const void* attrs, const std::vector<NDArray>& inputs);

/// `values` on the device of `context`, for the calling thread's next launch; null where kernels
/// read the host's.
const double* values_on_device(Context context, const std::vector<double>& values);

}  // namespace symbind
