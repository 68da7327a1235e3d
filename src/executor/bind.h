#pragma once
// simple_bind with arrays lent by somebody: what buckets and groups of executors share.

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

/// Finds out what a network's arrays are from what is given. Throws what contradicts it and what
/// stays undecided.
ArraySlots infer_slots(const Symbol& symbol, const ShapeMap& shapes, const DTypeMap& types,
                       Context context, const ContextMap& groups);

/// Answers with the array to use instead of a fresh zeroed one, or with an undefined array.
using Lend = std::function<NDArray(const ArraySlot&)>;

struct Lenders {
  Lend argument = {}, gradient = {}, auxiliary = {};
  /// Arrays whose memory the outputs may take where they fit, in the order of the outputs.
  std::vector<NDArray> outputs = {};
};

/// Symbol::simple_bind over lent arrays. A lent array has the slot's shape and dtype.
Executor simple_bind_lent(const Symbol& symbol, Context context, const ShapeMap& shapes,
                          const SimpleBindOptions& options, const Lenders& lenders);

}  // namespace symbind
