#pragma once
// The shapes around a gradient operator are those around the node it differentiates: the rule of
// that node's operator checks them together, so a kernel never gets shapes that do not fit.

#include <functional>
#include <vector>

#include <symbind/rules.h>

namespace symbind {

/// Where the inputs of a gradient operator come from.
struct ForwardSides {
  int inputs = 1, outputs = 1;       ///< of the forward operator
  std::vector<Inference::Ref> from;  ///< by input of the gradient: an input or output of forward
};

/// Runs the forward operator's rule over the shapes of the gradient's inputs. A head gradient has
/// the shape of its output.
void tie_to_forward(Inference& io, const ForwardSides& sides,
                    const std::function<void(Inference&)>& rule);

template <class A>
void tie_to_forward(const A& attrs, Inference& io, void (*rule)(const A&, Inference&),
                    const ForwardSides& sides) {
  tie_to_forward(io, sides, [&](Inference& forward) { rule(attrs, forward); });
}

}  // namespace symbind
