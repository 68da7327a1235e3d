// Layouts and the common offers. A blocked layout exists only where the channels divide into whole
// blocks: there is no padding, so elementwise kernels can treat every layout as one flat array.

#include <symbind/kernel.h>

#include "base/check.h"

namespace symbind {

const char* layout_name(Layout layout) {
  switch (layout) {
    case Layout::kPlain: return "plain";
    case Layout::kBlocked8: return "blocked8";
    case Layout::kBlocked16: return "blocked16";
    case Layout::kChannelsLast: return "channels_last";
  }
  return "?";
}

std::size_t TensorDesc::bytes() const {
  return static_cast<std::size_t>(shape.size()) * size_of(dtype);
}

namespace {

// One spatial position, or one channel block that holds every channel: the axes that a layout
// permutes have extent 1.
bool order_is_same(const Shape& shape, Layout a, Layout b) {
  if (a == b) return true;
  if (shape.rank() < 3) return true;
  if (shape.count(2) == 1) return true;
  const auto all_channels_inside = [&](Layout l) {
    return l == Layout::kChannelsLast || (l == Layout::kBlocked8 && shape[1] == 8) ||
           (l == Layout::kBlocked16 && shape[1] == 16);
  };
  return (all_channels_inside(a) && all_channels_inside(b)) || shape[1] == 1;
}

}  // namespace

bool same_bytes(const Shape& shape, Layout a, Layout b) { return order_is_same(shape, a, b); }

Offer refuse(std::string reason) {
  Offer offer;
  offer.refusal = std::move(reason);
  return offer;
}

Offer accept_plain(const KernelRequest& request, std::size_t workspace_bytes) {
  Offer offer;
  offer.in_layouts.assign(request.in.size(), Layout::kPlain);
  offer.out_layouts.assign(request.out.size(), Layout::kPlain);
  offer.workspace_bytes = workspace_bytes;
  offer.opaque_bytes.assign(request.out.size(), 0);
  return offer;
}

void state_dtypes(Offer& offer, const KernelRequest& request) {
  for (const TensorDesc& in : request.in) offer.in_dtypes.push_back(in.dtype);
  for (const TensorDesc& out : request.out) offer.out_dtypes.push_back(out.dtype);
}

Offer accept_same_layout(const KernelRequest& request) {
  Offer offer = accept_plain(request);
  Layout common = Layout::kPlain;
  for (const TensorDesc& in : request.in) {
    if (in.layout != Layout::kPlain) common = in.layout;
  }
  for (const auto* side : {&request.in, &request.out}) {
    for (const TensorDesc& desc : *side) {
      if (desc.shape != request.in.front().shape) return offer;
    }
  }
  offer.in_layouts.assign(request.in.size(), common);
  offer.out_layouts.assign(request.out.size(), common);
  return offer;
}

}  // namespace symbind
