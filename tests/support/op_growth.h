#pragma once
// A case at other sizes: which of its extents can grow, and what must come out then.

#include <optional>

#include "tests/support/op_run.h"

namespace symbind {

struct Numbers {
  HostTensors outputs, grads;
};

bool has_gradient(const OpCase& c, DType dtype);
/// Forward, and backward where the case has gradients. Arrays hold something else before.
Numbers run(const OpCase& c, DType dtype, const HostTensors& heads);
HostTensors heads_of(const OpCase& c, DType dtype);
/// The same case over these inputs.
OpCase over(const OpCase& c, const HostTensors& values);
/// Whether tensor i is there.
bool is_known(const HostTensors& t, std::size_t i);

/// Which axis of each input grows; -1: the input stays as it is.
struct Growth {
  std::size_t lead = 0;  ///< the input whose extent is counted
  std::vector<int> axes = {};
  std::int64_t step = 1;  ///< extents are multiples of it
};

/// The ways to make one extent of one input longer.
std::vector<Growth> growths(const OpCase& c);
std::int64_t extent_of(const OpCase& c, const Growth& g);
/// The shapes when the leading extent is `extent`; none where they would not be whole.
std::optional<std::vector<Shape>> shapes_at(const OpCase& c, const Growth& g, std::int64_t extent);
/// Fills in the shapes that follow; the outputs' go to `outputs` where it is given. False where
/// they contradict one another.
bool infer(const OpCase& c, std::vector<Shape>& in, std::vector<Shape>* outputs = nullptr);

/// A case at one size, and what must come out; tensors that are not known are empty.
struct Grown {
  OpCase c;
  HostTensors heads;
  Numbers want;
  Tolerance tolerance;
  bool confirmed = false;  ///< the gradients, by a difference
};

/// The case with `extent`, put together from pieces of the size it has; the answers of the pieces
/// make up the answer, and gradients of what they share add up. Pieces have other numbers each, or,
/// without `vary`, the same.
Grown from_pieces(const OpCase& c, const Growth& g, std::int64_t extent, DType dtype, bool vary);
/// The case with `extent`, whose outputs come from its own reference, where it has one; its
/// gradients are those in float64.
Grown from_reference(const OpCase& c, const Growth& g, std::int64_t extent, DType dtype);
/// Fills in the gradients in float64, where they can be had, and whether a difference along a
/// random direction of all inputs confirms them.
void add_gradients(Grown& g);

}  // namespace symbind
