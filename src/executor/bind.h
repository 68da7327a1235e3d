#pragma once
// simple_bind with caller-supplied arrays, which buckets and executor groups share.

#include <functional>

#include <symbind/executor.h>

namespace symbind {

/// What simple_bind is about to allocate.
struct ArraySlot {
  std::string name;
  Shape shape;
  DType dtype;
  Context context;
};

/// Arguments and auxiliary states, each in their order.
struct ArraySlots {
  std::vector<ArraySlot> args, aux;
};

/// Infers a network's arrays from the given ones. Throws contradictions and undetermined shapes.
ArraySlots infer_slots(const Symbol& symbol, const ShapeMap& shapes, const DTypeMap& types,
                       Context context, const ContextMap& groups);

/// Returns the array to use instead of a new zeroed one, or an undefined array.
using ArraySource = std::function<NDArray(const ArraySlot&)>;

struct ArraySources {
  ArraySource argument = {}, gradient = {}, auxiliary = {};
  /// Arrays whose memory the outputs may reuse where they fit, in the order of the outputs.
  std::vector<NDArray> outputs = {};
};

/// Symbol::simple_bind over caller-supplied arrays, which must have the slot's shape and dtype.
Executor simple_bind_with(const Symbol& symbol, Context context, const ShapeMap& shapes,
                          const SimpleBindOptions& options, const ArraySources& sources);

}  // namespace symbind
