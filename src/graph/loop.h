#pragma once
// A loop as one node of a symbol: `_foreach` runs a body, a separate symbol, over the slices of its
// data. Its rules are in ops/control/foreach.cpp. Binding knows the number of slices and replaces
// the loop by as many copies of the body (passes/unroll.cpp); later passes see no loops.

#include <symbind/attributes.h>
#include <symbind/symbol.h>

#include "graph/core_ops.h"
#include "graph/node.h"

namespace symbind {

/// The inputs are the data, the first states and what else the body reads, in this order.
struct ForeachAttrs {
  int num_outputs = 0, num_out_data = 0;
  Tuple in_data_locs, in_state_locs, remain_locs;  ///< each input's index in `variables`
  Symbol body;                                     ///< its heads: outputs, then states
  std::vector<std::string> variables;              ///< of the body, arguments and auxiliary states
  int depth = 1;                                   ///< of loops within loops, this one included

  void describe(AttrVisitor& v);
  int num_data() const { return static_cast<int>(in_data_locs.size()); }
  int num_states() const { return static_cast<int>(in_state_locs.size()); }
  int num_inputs() const {
    return num_data() + num_states() + static_cast<int>(remain_locs.size());
  }
  /// The body's variable that represents an input.
  const std::string& variable(int input) const;
};

/// Inference goes through a body several times for each time it goes through the loop.
inline constexpr int kDeepestLoop = 6;

inline bool is_loop(const Node& node) { return !node.is_variable() && node.op->is_loop; }
inline const ForeachAttrs& loop_attrs(const Node& node) {
  return *static_cast<const ForeachAttrs*>(node.parsed.get());
}

/// The attribute that holds the body, as a symbol's JSON; files store it next to the attributes,
/// under "subgraphs".
inline constexpr const char* kSubgraph = "subgraph";

}  // namespace symbind
