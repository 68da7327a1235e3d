// Merges what is known on the sides of one node. A contradiction is thrown as a Conflict; the pass
// that runs the rules knows the node, the names and the path, and makes the message.

#include <symbind/operator.h>

#include <fmt/format.h>

#include "base/check.h"
#include "graph/forward_rule.h"
#include "ndarray/access.h"

namespace symbind {

Inference::Inference(std::vector<Shape>& in_shapes, std::vector<Shape>& out_shapes,
                     std::vector<DType>& in_dtypes, std::vector<DType>& out_dtypes)
    : in_shapes_(in_shapes),
      out_shapes_(out_shapes),
      in_dtypes_(in_dtypes),
      out_dtypes_(out_dtypes),
      opaque_(out_shapes.size(), false) {}

namespace {

// "; axis 2 differs", or "; the ranks differ".
std::string difference(const Shape& a, const Shape& b) {
  if (a.rank() != b.rank()) return "; the ranks differ";
  for (int i = 0; i < a.rank(); ++i) {
    if (a[i] != b[i] && a[i] != kUnknownDim && b[i] != kUnknownDim)
      return fmt::format("; axis {} differs", i);
  }
  return {};
}

}  // namespace

Shape& Inference::shape_of(Ref r) {
  return (r.output ? out_shapes_ : in_shapes_).at(static_cast<std::size_t>(r.index));
}

const Shape& Inference::shape(Ref r) const {
  return (r.output ? out_shapes_ : in_shapes_).at(static_cast<std::size_t>(r.index));
}

DType Inference::dtype(Ref r) const {
  return (r.output ? out_dtypes_ : in_dtypes_).at(static_cast<std::size_t>(r.index));
}

void Inference::set_shape(Ref r, const Shape& needed, std::string_view because) {
  Shape merged = shape(r);
  if (!merge(merged, needed)) {
    throw Conflict{r, shape(r).str(), needed.str(),
                   std::string(because) + difference(shape(r), needed)};
  }
  check_extents(merged);
  shape_of(r) = merged;
}

void Inference::set_dtype(Ref r, DType needed, std::string_view because) {
  DType& have = (r.output ? out_dtypes_ : in_dtypes_).at(static_cast<std::size_t>(r.index));
  if (needed == DType::kUnknown) return;
  if (have != DType::kUnknown && have != needed) {
    throw Conflict{r, std::string(dtype_name(have)), std::string(dtype_name(needed)),
                   std::string(because)};
  }
  have = needed;
}

void Inference::same_shape(Ref a, Ref b) {
  set_shape(b, shape(a), "the shapes must be equal");
  set_shape(a, shape(b), "the shapes must be equal");
}

void Inference::same_dtype(Ref a, Ref b) {
  set_dtype(b, dtype(a), "the dtypes must be equal");
  set_dtype(a, dtype(b), "the dtypes must be equal");
}

void Inference::all_same_shape() {
  for (int round = 0; round < 2; ++round) {
    for (int i = 1; i < num_inputs(); ++i) same_shape(in(0), in(i));
    for (int i = 0; i < num_outputs(); ++i) {
      if (num_inputs() > 0)
        same_shape(in(0), out(i));
      else
        same_shape(out(0), out(i));
    }
  }
}

void Inference::all_same_dtype() {
  for (int round = 0; round < 2; ++round) {
    for (int i = 1; i < num_inputs(); ++i) same_dtype(in(0), in(i));
    for (int i = 0; i < num_outputs(); ++i) {
      if (num_inputs() > 0)
        same_dtype(in(0), out(i));
      else
        same_dtype(out(0), out(i));
    }
  }
}

void Inference::opaque(Ref r) {
  SYMBIND_ASSERT(r.output);
  opaque_[static_cast<std::size_t>(r.index)] = true;
  set_shape(r, Shape{0});
  set_dtype(r, DType::kUint8);
}

void tie_to_forward(Inference& io, const ForwardSides& sides,
                    const std::function<void(Inference&)>& rule) {
  std::vector<Shape> in(static_cast<std::size_t>(sides.inputs), Shape::unknown()),
      out(static_cast<std::size_t>(sides.outputs), Shape::unknown());
  std::vector<DType> in_dtypes(in.size(), DType::kUnknown), out_dtypes(out.size(), DType::kUnknown);
  Inference forward(in, out, in_dtypes, out_dtypes);
  const auto count = static_cast<int>(sides.from.size());
  const auto from = [&](int i) { return sides.from[static_cast<std::size_t>(i)]; };
  try {
    for (int i = 0; i < count; ++i)
      forward.set_shape(from(i), io.shape(io.in(i)), "a gradient has the shape of its output");
    rule(forward);
  } catch (const Inference::Conflict& c) {
    for (int i = 0; i < count; ++i)
      if (from(i).output == c.where.output && from(i).index == c.where.index)
        throw Inference::Conflict{io.in(i), c.given, c.needed, c.because};
    fail(ErrorKind::kShape, "given {}, needed {}, because {}", c.given, c.needed, c.because);
  }
  for (int i = 0; i < count; ++i)
    io.set_shape(io.in(i), forward.shape(from(i)), "the inputs of a gradient belong together");
}

}  // namespace symbind
