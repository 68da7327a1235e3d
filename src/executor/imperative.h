#pragma once
// One operator prepared to run on plain arrays: what `invoke` caches and what updates hold.

#include <memory>
#include <span>

#include <symbind/detail/op_call.h>

#include "graph/node.h"

namespace symbind {

struct ImperativeKernel {
  const OpDef* op = nullptr;
  std::string name;  ///< the kernel's
  Prepared run;
  std::vector<TensorDesc> out;  ///< hidden outputs included; opaque ones are given in bytes
  std::vector<bool> opaque;
  std::vector<std::size_t> mutated;  ///< inputs a run writes
  int num_visible = 1;
  std::size_t workspace_bytes = 0;  ///< with the scratch memory of unread outputs
  /// Unread outputs that the kernel writes, and their offsets in the workspace.
  std::vector<std::pair<std::size_t, std::size_t>> scratch;

  /// Assigns workspace memory to every unread output that the operator does not skip.
  void place_scratch(const std::vector<bool>& wanted);
  /// Points those outputs into the workspace of one run.
  void give_scratch(std::span<TensorArg> out_args, void* workspace) const;
};

/// What a kernel is selected by, in addition to operator and inputs.
struct KernelQuery {
  Shape out_shape = Shape::unknown();  ///< for an operator without inputs: of the array it writes
  std::vector<bool> outputs = {};      ///< those that are read; empty: the visible ones
  std::string name = {};  ///< only this kernel: it wrote what is opaque among the inputs
  bool training = false;  ///< a gradient follows
};

/// Infers, chooses among the kernels that take plain layouts, prepares. The result is cached by
/// operator, attributes (per-call ones aside), descriptions, device and query, unless it runs user
/// code.
std::shared_ptr<const ImperativeKernel> imperative_kernel(const OpDef& op,
                                                          const std::shared_ptr<const void>& attrs,
                                                          const std::vector<TensorDesc>& in,
                                                          Context context,
                                                          const KernelQuery& query = {});

/// What the gradient of a call reads of it: inputs, and outputs with the hidden ones.
struct GradientReads {
  std::vector<bool> in, out;
};

/// A call of an operator, ready to run: parsed, checked, prepared.
struct ImperativeCall {
  std::shared_ptr<const void> attrs;
  std::shared_ptr<const ImperativeKernel> kernel;
  std::vector<double> values;  ///< per-call attributes
  GradientReads reads;         ///< of a call that is recorded
  AttrDict given;              ///< attributes as written
};

/// As imperative_kernel, from options as written. Cached by the call itself, so a repeated call
/// costs one lookup. For a `recorded` call it also finds what its gradient reads.
std::shared_ptr<const ImperativeCall> imperative_call(const OpDef& op,
                                                      std::span<const NDArray> inputs,
                                                      const CallOptions& options, Context context,
                                                      const Shape& out_shape, bool recorded);

GradientReads gradient_reads(const OpDef& op, const std::shared_ptr<const void>& attrs);

/// Runs a prepared kernel. `in` are undefined where only the shape is read, `out` where nothing
/// reads them. A kernel's exception is stored on `fail_on` and on the inputs it writes; returns
/// false then.
bool run_kernel(const ImperativeCall& call, std::span<const NDArray> in,
                std::span<const NDArray> out, Context context, bool is_train,
                std::span<const NDArray> fail_on);

/// Throws unless there are as many arrays as the operator has inputs, all of them on one device.
void check_inputs(const OpDef& op, const void* attrs, std::span<const NDArray> inputs);

/// `values` on the device of `context`, for the calling thread's next launch; null where kernels
/// read the host's.
const double* values_on_device(Context context, const std::vector<double>& values);

}  // namespace symbind
