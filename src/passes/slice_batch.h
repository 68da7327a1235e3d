#pragma once
// Predictions in slices of the batch: forward runs for a few samples after another, so that
// activations stay in the caches (docs/design/0012-slices.md).

#include "passes/plan.h"

namespace symbind {

/// How to run this plan's network in slices; one slice if that is not possible or gives nothing.
BatchSlices slice_batch(const Plan& whole, const BindSpec& spec);

/// The network bound to one slice.
BindSpec bind_slice(const BindSpec& spec, const BatchSlices& slices);

}  // namespace symbind
