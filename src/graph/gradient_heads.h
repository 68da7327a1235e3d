#pragma once
// For gradient rules that add up the gradients that arrive themselves.

#include <symbind/rules.h>

namespace symbind {

/// g.head(i) as one entry, or as two that the rule must add in this order.
NodeEntries two_heads(GradientBuilder& g, int i);

}  // namespace symbind
