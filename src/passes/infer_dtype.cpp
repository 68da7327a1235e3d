// The default is float32, as in MXNet's simple_bind.

#include "passes/infer.h"

namespace symbind {

void infer_dtype(const IndexedGraph& graph, Inferred& known) {
  bool defaulted = false;
  for (const IndexedNode& n : graph.nodes) {
    DType& dtype = known.dtypes[static_cast<std::size_t>(n.first_entry)];
    if (!n.node->is_variable() || dtype != DType::kUnknown) continue;
    dtype = DType::kFloat32;
    defaulted = true;
    infer_shape(graph, known);  // one default may determine others
  }
  if (!defaulted) infer_shape(graph, known);
}

}  // namespace symbind
