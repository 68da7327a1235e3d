#pragma once
// The interfaces for an operator's rules: inference of shapes and dtypes, and the gradient as graph
// nodes.

#include <string>
#include <string_view>
#include <vector>

#include <symbind/attributes.h>
#include <symbind/dtype.h>
#include <symbind/shape.h>
#include <symbind/symbol.h>

namespace symbind {

/// What an operator does with its inputs beyond reading them; indices of inputs.
struct InputRoles {
  std::vector<int> aux, mutated, shape_only;
};

/// Shapes and dtypes around one node during inference. The rules state what must be equal; known
/// values fill in unknown ones, in both directions. A rule may run many times and must accept
/// unknowns.
class Inference {
 public:
  struct Ref {
    bool output;
    int index;
  };

  Inference(std::vector<Shape>& in_shapes, std::vector<Shape>& out_shapes,
            std::vector<DType>& in_dtypes, std::vector<DType>& out_dtypes);

  int num_inputs() const { return static_cast<int>(in_shapes_.size()); }
  int num_outputs() const { return static_cast<int>(out_shapes_.size()); }
  static Ref in(int i) { return {false, i}; }
  static Ref out(int i) { return {true, i}; }
  const Shape& shape(Ref r) const;
  DType dtype(Ref r) const;
  bool known(Ref r) const { return shape(r).known(); }
  int rank(Ref r) const { return shape(r).rank(); }

  /// Merges `shape` into what is known; `because` explains the need in an error.
  void set_shape(Ref r, const Shape& shape, std::string_view because = {});
  void set_dtype(Ref r, DType dtype, std::string_view because = {});
  void same_shape(Ref a, Ref b);
  void same_dtype(Ref a, Ref b);
  /// One shape (dtype) for all inputs and all outputs.
  void all_same_shape();
  void all_same_dtype();
  /// The kernel's offer decides the output's size in bytes.
  void opaque(Ref r);
  bool is_opaque(int output) const { return opaque_[static_cast<std::size_t>(output)]; }

  /// The contradiction found; the pass adds names, path and fix.
  struct Conflict {
    Ref where;
    std::string given, needed, because;
  };

 private:
  Shape& shape_of(Ref r);
  std::vector<Shape>&in_shapes_, &out_shapes_;
  std::vector<DType>&in_dtypes_, &out_dtypes_;
  std::vector<bool> opaque_;
};

/// Writes the gradient of one node as graph nodes. An empty entry means "no gradient".
class GradientBuilder {
 public:
  GradientBuilder(NodePtr node, NodeEntries heads, std::vector<bool> wanted)
      : node_(std::move(node)), heads_(std::move(heads)), wanted_(std::move(wanted)) {}

  /// Gradient arriving at visible output i; zeros when nothing depends on it.
  NodeEntry head(int i);
  NodeEntry input(int i) const;
  NodeEntry output(int i) const { return {node_, i}; }
  int num_inputs() const;
  bool wanted(int input) const { return wanted_[static_cast<std::size_t>(input)]; }
  /// Passes the node's attributes to `op`, which must use the same attribute struct.
  NodeEntries call_with_same_attrs(std::string_view op, NodeEntries inputs);
  NodeEntry call(std::string_view op, NodeEntries inputs, AttrDict attrs = {});

 private:
  NodePtr node_;
  NodeEntries heads_;
  std::vector<bool> wanted_;
};

}  // namespace symbind
