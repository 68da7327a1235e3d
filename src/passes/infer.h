#pragma once
// Shapes and dtypes of every entry of a graph, found by running the operators' rules forward and
// backward until nothing changes.

#include "graph/indexed_graph.h"

namespace symbind {

struct Inferred {
  std::vector<Shape> shapes;  ///< by entry
  std::vector<DType> dtypes;
  std::vector<bool> opaque;  ///< sized by the kernel's offer
  bool shapes_known() const;
  bool dtypes_known() const;
};

/// Where inference starts: what was given, and the __shape__ / __dtype__ attributes of variables.
Inferred start_inference(const IndexedGraph& graph, const ShapeMap& shapes, const DTypeMap& dtypes);

/// Needs: an indexed graph and what is known. Produces: everything that can be inferred. A
/// contradiction is a kShape (kType) error that names the node, the inputs, the path and a fix.
void infer_shape(const IndexedGraph& graph, Inferred& known);

/// Makes undetermined variables float32 and runs the rules once more.
void infer_dtype(const IndexedGraph& graph, Inferred& known);

/// Names and given shapes of the variables whose shape is not known, in order.
std::vector<std::string> undecided(const IndexedGraph& graph, const Inferred& known);

}  // namespace symbind
