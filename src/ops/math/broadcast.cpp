// Functions of two arrays that are broadcast to one shape: axes of extent 1 repeat, missing leading
// axes count as extent 1.
// The functions are in kernels/elementwise_functors.h. A gradient is formed in the broadcast shape
// and summed over the axes along which its operand was broadcast (_sum_like). No in-place hints: a
// result must never overwrite an operand that is read again for the next row. An operand with one
// value per channel, (N, C, 1, 1) or (C, 1, 1), leaves the other one in its blocked layout.
#include <algorithm>
#include <cstring>
#include <utility>

#include <symbind/operator.h>

#include "base/check.h"
#include "kernels/channel_lanes.h"
#include "kernels/copy_block.h"
#include "kernels/elementwise.h"
#include "kernels/reduce.h"

namespace symbind {
namespace {

enum class Gradient { kNone, kAdd, kSub, kMul, kNode };

struct Entry {
  const char* name;
  const char* function;
  Gradient gradient;
  const char* alias = nullptr;
};

constexpr Entry kEntries[] = {
    {"broadcast_add", "add", Gradient::kAdd, "broadcast_plus"},
    {"broadcast_sub", "sub", Gradient::kSub, "broadcast_minus"},
    {"broadcast_mul", "mul", Gradient::kMul},
    {"broadcast_div", "div", Gradient::kNode},
    {"broadcast_mod", "mod", Gradient::kNode},
    {"broadcast_power", "power", Gradient::kNode},
    {"broadcast_maximum", "maximum", Gradient::kNode},
    {"broadcast_minimum", "minimum", Gradient::kNode},
    {"broadcast_hypot", "hypot", Gradient::kNode},
    {"broadcast_equal", "equal", Gradient::kNone},
    {"broadcast_not_equal", "not_equal", Gradient::kNone},
    {"broadcast_greater", "greater", Gradient::kNone},
    {"broadcast_greater_equal", "greater_equal", Gradient::kNone},
    {"broadcast_lesser", "lesser", Gradient::kNone},
    {"broadcast_lesser_equal", "lesser_equal", Gradient::kNone},
    {"broadcast_logical_and", "logical_and", Gradient::kNone},
    {"broadcast_logical_or", "logical_or", Gradient::kNone},
    {"broadcast_logical_xor", "logical_xor", Gradient::kNone},
};

std::string backward_name(const Entry& e) { return std::string("_backward_") + e.name; }

void infer_operands(Inference& io, Inference::Ref a, Inference::Ref b, Inference::Ref out) {
  Shape shape;
  check(broadcast_shape(io.shape(a), io.shape(b), shape), ErrorKind::kShape,
        "shapes {} and {} cannot be broadcast together: each pair of extents, counted from the "
        "right, must be equal or contain a 1",
        io.shape(a).str(), io.shape(b).str());
  io.set_shape(out, shape, "both operands are broadcast to this shape");
}

void infer(const NoAttrs&, Inference& io) {
  infer_operands(io, io.in(0), io.in(1), io.out(0));
  io.all_same_dtype();
}

void infer_backward(const NoAttrs&, Inference& io) {
  infer_operands(io, io.in(1), io.in(2), io.in(0));
  io.same_shape(io.in(0), io.out(0));
  io.same_shape(io.in(0), io.out(1));
  io.all_same_dtype();
}

void infer_sum_like(const NoAttrs&, Inference& io) {
  infer_operands(io, io.in(0), io.in(1), io.in(0));
  io.same_shape(io.in(1), io.out(0));
  io.all_same_dtype();
}

NodeEntries gradient_entry(const Entry& e, GradientBuilder& g) {
  NodeEntries full(2);
  const NodeEntry head = g.head(0);
  switch (e.gradient) {
    case Gradient::kNone: return full;
    case Gradient::kAdd: full = {head, head}; break;
    case Gradient::kSub:
      full = {head, g.wanted(1) ? g.call("negative", {head}) : NodeEntry{}};
      break;
    case Gradient::kMul:
      for (int i = 0; i < 2; ++i)
        if (g.wanted(i))
          full[static_cast<std::size_t>(i)] = g.call("broadcast_mul", {head, g.input(1 - i)});
      break;
    case Gradient::kNode:
      full = g.call_with_same_attrs(backward_name(e), {head, g.input(0), g.input(1)});
      break;
  }
  for (int i = 0; i < 2; ++i) {
    NodeEntry& entry = full[static_cast<std::size_t>(i)];
    if (g.wanted(i)) entry = g.call("_sum_like", {entry, g.input(i)});
  }
  return full;
}

/// Operands of equal shape may keep any layout.
Offer offer(const NoAttrs&, const KernelRequest& request) { return accept_same_layout(request); }

// ---- One value per channel, of data in a layout whose channels are neighbours -------------------

/// Whether `small` has one value for each channel of `large`, or one for each of its samples'
/// channels.
bool is_per_channel(const Shape& small, const Shape& large) {
  const int ahead = large.rank() - small.rank();
  if (large.rank() < 3 || ahead > 1 || ahead < 0) return false;
  for (int d = 2; d < large.rank(); ++d)
    if (small[d - ahead] != 1) return false;
  if (small[1 - ahead] != large[1]) return false;
  return ahead == 1 || small[0] == 1 || small[0] == large[0];
}

/// The index of the operand with the shape of the result, if the other one is per channel; else -1.
int large_operand(const KernelRequest& q) {
  for (const int large : {0, 1}) {
    const auto l = static_cast<std::size_t>(large), s = static_cast<std::size_t>(1 - large);
    if (q.in[l].shape == q.out[0].shape && q.in[l].layout != Layout::kPlain &&
        is_per_channel(q.in[s].shape, q.in[l].shape) && q.in[l].shape.size() > 0)
      return large;
  }
  return -1;
}

Offer offer_broadcast(const NoAttrs& a, const KernelRequest& q) {
  const int large = large_operand(q);
  if (large < 0 || q.in[0].shape == q.in[1].shape) return offer(a, q);
  Offer blocked = accept_plain(q);
  const Layout layout = q.in[static_cast<std::size_t>(large)].layout;
  blocked.in_layouts[static_cast<std::size_t>(large)] = blocked.out_layouts[0] = layout;
  return blocked;
}

/// The values of a group's channels are repeated in a buffer, as often as fits.
Prepared prepare_channels(const BinaryFunction& f, const KernelRequest& q, int large) {
  const ElementType type = element_type(q.out[0].dtype);
  const auto l = static_cast<std::size_t>(large);
  return [run = BinaryRun(f.loops[static_cast<int>(type.compute)][0], type), large,
          g = ChannelLanes(q.in[l].shape, q.in[l].layout),
          by_sample = q.in[1 - l].shape.size() > q.in[l].shape[1]](const Args& a) {
    const auto size = static_cast<std::int64_t>(run.type.size);
    const auto *data = static_cast<const char*>(a.inputs[large].data),
               *values = static_cast<const char*>(a.inputs[1 - large].data);
    auto* y = static_cast<char*>(a.outputs[0].data);
    const std::int64_t plane = g.positions * g.lanes;
    const std::int64_t repeats = std::max<std::int64_t>(1, kChunk / g.lanes);
    parallel_for(
        g.batch * g.groups, std::max<std::int64_t>(1, run.grain / plane),
        [&](std::int64_t begin, std::int64_t end) {
          alignas(64) char buffer[kChunk * 8];
          for (std::int64_t p = begin; p < end; ++p) {
            const std::int64_t channel = p % g.groups * g.lanes;
            const char* own =
                values + ((by_sample ? p / g.groups * g.groups * g.lanes : 0) + channel) * size;
            const auto bytes = static_cast<std::size_t>(g.lanes * size);
            const char* repeated = own;
            if (repeats > 1) {
              repeated = buffer;
              for (std::int64_t k = 0; k < repeats; ++k)
                std::memcpy(buffer + static_cast<std::size_t>(k) * bytes, own, bytes);
            }
            const std::int64_t step = repeats * g.lanes;
            for (std::int64_t i = 0; i < plane; i += step) {
              const char* x = data + (p * plane + i) * size;
              run.serial(large == 0 ? x : repeated, large == 0 ? repeated : x,
                         y + (p * plane + i) * size, std::min(step, plane - i), Operand::kArrays);
            }
          }
        });
  };
}

Offer offer_sum_like(const NoAttrs& a, const KernelRequest& q) {
  if (q.in[0].shape == q.out[0].shape) return offer(a, q);
  Offer plain = accept_plain(q);
  if (is_per_channel(q.out[0].shape, q.in[0].shape) && q.in[0].shape.size() > 0)
    plain.in_layouts[0] = q.in[0].layout;
  return plain;
}

Prepared prepare_forward(const BinaryFunction& f, const KernelRequest& q) {
  const ElementType type = element_type(q.out[0].dtype);
  if (const int large = large_operand(q); large >= 0 && q.in[0].shape != q.in[1].shape)
    return prepare_channels(f, q, large);
  const auto* forms = f.loops[static_cast<int>(type.compute)];
  return [forms, type,
          walk = BroadcastWalk(q.in[0].shape, q.in[1].shape, q.out[0].shape)](const Args& a) {
    run_broadcast(walk, forms, type, a.inputs[0].data, a.inputs[1].data, a.outputs[0].data);
  };
}

Prepared prepare_backward(const BinaryGradient& f, const KernelRequest& q) {
  const ElementType type = element_type(q.in[0].dtype, Compute::kDouble);
  return
      [&f, type, walk = BroadcastWalk(q.in[1].shape, q.in[2].shape, q.in[0].shape)](const Args& a) {
        const void *g = a.inputs[0].data, *x = a.inputs[1].data, *y = a.inputs[2].data;
        const auto c = static_cast<int>(type.compute);
        if (a.wants(0)) run_broadcast(walk, f.left[c], type, g, x, y, a.outputs[0].data);
        if (a.wants(1)) run_broadcast(walk, f.right[c], type, g, x, y, a.outputs[1].data);
      };
}

Prepared prepare_sum_like(const NoAttrs&, const KernelRequest& q, const Offer&) {
  const Shape &large = q.in[0].shape, &small = q.out[0].shape;
  if (q.in[0].layout != Layout::kPlain && large.size() != small.size()) {
    const ChannelLanes g(large, q.in[0].layout);
    std::array<bool, kMaxRank> axes{};
    axes[0] = small.size() == large[1];
    axes[2] = true;
    return [sum = Reducer(Reduction::kSum, q.in[0].dtype,
                          Shape{g.batch, g.groups, g.positions, g.lanes}, axes)](const Args& a) {
      sum(a.inputs[0].data, a.outputs[0].data);
    };
  }
  if (large.size() == small.size())
    return [bytes = q.out[0].bytes()](const Args& a) {
      copy_bytes(a.outputs[0].data, a.inputs[0].data, bytes);
    };
  return [sum = Reducer(Reduction::kSum, q.in[0].dtype, large, broadcast_axes(large, small))](
             const Args& a) { sum(a.inputs[0].data, a.outputs[0].data); };
}

void add(OpRegistry& r, const Entry& e, NodeEntries (*gradient)(const NoAttrs&, GradientBuilder&)) {
  auto op =
      r.add(e.name)
          .precision(Precision::kAsStored)
          .flops(1)
          .slices(Slices::kElementwise)
          .doc(std::string("Elementwise ") + e.function + " of two arrays, broadcast to one shape.")
          .inputs(std::vector<std::string>{"lhs", "rhs"})
          .infer(infer)
          .gradient(gradient)
          .kernel(
              DeviceType::kCpu, "native", offer_broadcast,
              [&f = binary_function(e.function)](const NoAttrs&, const KernelRequest& q,
                                                 const Offer&) { return prepare_forward(f, q); });
  if (e.alias != nullptr) op.alias(e.alias);
  if (e.gradient == Gradient::kAdd)
    op.as_epilogue([](const NoAttrs&) { return EpilogueItem{EpilogueItem::Kind::kSum}; });
  if (e.gradient != Gradient::kNode) return;
  r.add(backward_name(e))
      .precision(Precision::kAsStored)
      .inputs(std::vector<std::string>{"head", "lhs", "rhs"})
      .outputs({"lhs_grad", "rhs_grad"})
      .skips_unread()
      .infer(infer_backward)
      .backward()
      .kernel(DeviceType::kCpu, "native", offer,
              [function = e.function](const NoAttrs&, const KernelRequest& q, const Offer&) {
                return prepare_backward(binary_gradient(function, q.in[0].dtype), q);
              });
}

}  // namespace

void register_broadcast(OpRegistry& r) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (add(r, kEntries[I],
         [](const NoAttrs&, GradientBuilder& g) { return gradient_entry(kEntries[I], g); }),
     ...);
  }
  (std::make_index_sequence<std::size(kEntries)>());
  r.add("_sum_like")
      .precision(Precision::kAsStored)
      .flops(1, Per::kFirstInput)
      .doc("head summed over the axes along which `like` was broadcast to it.")
      .inputs(std::vector<std::string>{"head", "like"})
      .infer(infer_sum_like)
      .shape_only({1})
      .gradient([](const NoAttrs&, GradientBuilder& g) -> NodeEntries {
        const NodeEntry ones = g.call("ones_like", {g.input(0)});  // it may have more axes
        return {g.call("broadcast_mul", {ones, g.head(0)}), {}};
      })
      .backward()
      .kernel(DeviceType::kCpu, "native", offer_sum_like, prepare_sum_like);
}

}  // namespace symbind
