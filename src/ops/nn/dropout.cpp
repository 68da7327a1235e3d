// Dropout: zeroes elements with probability p and scales the rest by 1 / (1 − p).
//
//   mask = [u < 1 − p] / (1 − p),   y = x · mask,   dx = dy · mask
//
// Active in training, or always with mode "always"; otherwise the identity. Along `axes` one mask
// is shared. Decided here: element i of the mask comes from Philox counter i / 4 of this draw, so
// the bits depend neither on threads nor on the device. Elements are counted as in a plain tensor,
// so the bits do not depend on the layout either. With p = 1 nothing remains to be scaled: as in
// MXNet every element is NaN (0 / 0).
#include <symbind/operator.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <type_traits>

#include "base/check.h"
#include "base/parallel.h"
#include "kernels/accumulate.h"
#include "kernels/channel_lanes.h"
#include "kernels/elementwise.h"
#include "kernels/vector/random.h"
#include "ndarray/dtype_dispatch.h"

namespace symbind {

namespace {

struct DropoutAttrs {
  float p = 0.5f;
  std::string mode = "training";
  Tuple axes;
  std::optional<bool> cudnn_off = false;

  void describe(AttrVisitor& v) {
    v.field("p", p, "Fraction of the elements that become 0.").at_least(0).at_most(1);
    v.field("mode", mode, "Whether to drop in training only, or always.")
        .choices({"always", "training"});
    v.field("axes", axes, "Axes along which one mask is shared.");
    v.field("cudnn_off", cudnn_off, "Accepted, without effect.");
  }
};

Shape mask_shape(const DropoutAttrs& a, const Shape& x) {
  Shape m = x;
  for (const std::int64_t axis : a.axes) m[normalize_axis(axis, x.rank())] = 1;
  return m;
}

void infer(const DropoutAttrs& a, Inference& io) {
  io.same_shape(io.in(0), io.out(0));
  io.all_same_dtype();
  const Shape& x = io.shape(io.in(0));
  if (x.rank_known())
    io.set_shape(io.out(1), mask_shape(a, x), "one value per independently dropped element");
}

void infer_backward(const DropoutAttrs& a, Inference& io) {
  io.same_shape(io.in(0), io.out(0));
  io.all_same_dtype();
  const Shape& x = io.shape(io.in(0));
  if (x.rank_known()) io.set_shape(io.in(1), mask_shape(a, x));
}

NodeEntries gradient(const DropoutAttrs&, GradientBuilder& g) {
  return g.call_with_same_attrs("_backward_Dropout", {g.head(0), g.output(1)});
}

// ---- Kernels ------------------------------------------------------------------------------------

/// Finds the mask element of an element where axes are shared.
class MaskIndex {
 public:
  MaskIndex(const Shape& x, const Shape& mask) : x_(x), mask_(mask), same_(x == mask) {}
  bool same() const { return same_; }
  std::int64_t operator()(std::int64_t i) const {
    if (same_) return i;
    std::int64_t at = 0, step = 1;
    for (int axis = x_.rank() - 1; axis >= 0; --axis) {
      at += mask_[axis] == 1 ? 0 : i % x_[axis] * step;
      step *= mask_[axis];
      i /= x_[axis];
    }
    return at;
  }

 private:
  Shape x_, mask_;
  bool same_;
};

vector::Draw draw_of(float keep, const RunState& run) {
  return {run.random_seed, run.random_draw, keep};
}

/// Elements [begin, end) of the mask, in float.
void draw(float keep, const RunState& run, std::int64_t begin, std::int64_t end, float* mask) {
  if (!(keep > 0)) {
    std::fill_n(mask, end - begin, std::numeric_limits<float>::quiet_NaN());
    return;
  }
  vector::random_kernels().best().mask(draw_of(keep, run), static_cast<std::uint64_t>(begin),
                                       end - begin, mask);
}

/// y = x · mask; 16-bit types are computed in float.
template <class T>
void apply(const MaskIndex& index, std::int64_t n, const T* x, const T* mask, T* y) {
  using Acc = Accumulator<T>;
  if (index.same()) {
    const ElementType type = element_type(dtype_of<T>);
    const BinaryRun run(binary_function("mul").loops[static_cast<int>(type.compute)][0], type);
    return run(x, mask, y, n);
  }
  parallel_for(n, kElementGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      y[i] = static_cast<T>(static_cast<Acc>(x[i]) * static_cast<Acc>(mask[index(i)]));
  });
}

/// Whether the mask may be null: the output is computed from the random bits.
template <class T>
bool needs_no_mask(bool same_shape, float keep) {
  return std::is_same_v<T, float> && same_shape && keep > 0;
}

/// The whole mask, and where it has the shape of x the output in the same pass.
template <class T>
void drop(const MaskIndex& index, std::int64_t m, float keep, const RunState& run, const T* x,
          T* mask, T* y) {
  constexpr std::int64_t kGrain = kElementGrain / 8;
  if constexpr (std::is_same_v<T, float>) {
    if (needs_no_mask<T>(index.same(), keep))
      return parallel_for(m, kGrain, [&](std::int64_t begin, std::int64_t end) {
        vector::random_kernels().best().drop(draw_of(keep, run), static_cast<std::uint64_t>(begin),
                                             end - begin, x + begin, mask ? mask + begin : nullptr,
                                             y + begin);
      });
  }
  const auto convert = converter_from(Compute::kFloat, dtype_of<T>);
  const ElementType type = element_type(dtype_of<T>);
  const BinaryRun times(binary_function("mul").loops[static_cast<int>(type.compute)][0], type);
  parallel_for(m, kGrain, [&](std::int64_t begin, std::int64_t end) {
    alignas(64) float drawn[kChunk];
    for (std::int64_t i = begin; i < end; i += kChunk) {
      const std::int64_t n = std::min(kChunk, end - i);
      draw(keep, run, i, i + n, drawn);
      convert(drawn, mask + i, n);
      if (index.same())
        times.serial(reinterpret_cast<const char*>(x + i), reinterpret_cast<const char*>(mask + i),
                     reinterpret_cast<char*>(y + i), n, Operand::kArrays);
    }
  });
}

constexpr std::int64_t kMostLanes = 16;

/// Mask and output of blocked tensors. The lanes of a group are drawn one after the other, then
/// mixed.
template <class T>
void drop_lanes(const ChannelLanes& g, float keep, const RunState& run, const T* x, T* mask, T* y) {
  constexpr std::int64_t kPositions = 64;
  const auto convert = converter_from(Compute::kFloat, dtype_of<T>);
  const ElementType type = element_type(dtype_of<T>);
  const BinaryRun times(binary_function("mul").loops[static_cast<int>(type.compute)][0], type);
  const std::int64_t plane = g.positions * g.lanes;
  const std::int64_t grain = std::max<std::int64_t>(1, kElementGrain / 8 / (plane + 1));
  parallel_for(g.batch * g.groups, grain, [&](std::int64_t begin, std::int64_t end) {
    alignas(64) float drawn[kPositions], mixed[kPositions * kMostLanes];
    for (std::int64_t p = begin; p < end; ++p)
      for (std::int64_t first = 0; first < g.positions; first += kPositions) {
        const std::int64_t n = std::min(kPositions, g.positions - first);
        for (std::int64_t lane = 0; lane < g.lanes; ++lane) {
          const std::int64_t at = (p * g.lanes + lane) * g.positions + first;
          draw(keep, run, at, at + n, drawn);
          for (std::int64_t i = 0; i < n; ++i) mixed[i * g.lanes + lane] = drawn[i];
        }
        const std::int64_t at = p * plane + first * g.lanes;
        convert(mixed, mask + at, n * g.lanes);
        times.serial(reinterpret_cast<const char*>(x + at),
                     reinterpret_cast<const char*>(mask + at), reinterpret_cast<char*>(y + at),
                     n * g.lanes, Operand::kArrays);
      }
  });
}

Prepared forward(const DropoutAttrs& a, const KernelRequest& r, const Offer& offer) {
  const Shape &x_shape = r.in[0].shape, mask = mask_shape(a, x_shape);
  std::optional<ChannelLanes> lanes;
  if (offer.in_layouts[0] != Layout::kPlain) lanes.emplace(x_shape, offer.in_layouts[0]);
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    return [index = MaskIndex(x_shape, mask), n = x_shape.size(), m = mask.size(), keep = 1 - a.p,
            always = a.mode == "always", lanes](const Args& args) {
      const T* x = args.in<T>(0);
      T* y = args.out<T>(0);
      T* drawn = args.wants(1) ? args.out<T>(1) : static_cast<T*>(args.workspace);
      const bool active = (always || args.run->is_train) && keep < 1;
      if (!active && x != y) std::copy_n(x, n, y);
      if (!active && args.wants(1)) std::fill_n(drawn, m, T(1.f));
      if (!active) return;
      if (lanes) return drop_lanes(*lanes, keep, *args.run, x, drawn, y);
      drop(index, m, keep, *args.run, x, drawn, y);
      if (!index.same()) apply(index, n, x, drawn, y);
    };
  });
}

Offer offer_forward(const DropoutAttrs& a, const KernelRequest& r) {
  const Shape mask = mask_shape(a, r.in[0].shape);
  const Layout layout = r.in[0].layout;
  const bool unmasked = r.in[0].dtype == DType::kFloat32 && layout == Layout::kPlain &&
                        needs_no_mask<float>(mask == r.in[0].shape, 1 - a.p);
  Offer offer = accept_plain(
      r,
      r.wanted[1] || unmasked ? 0 : static_cast<std::size_t>(mask.size()) * size_of(r.in[0].dtype));
  if (mask == r.in[0].shape && (layout == Layout::kBlocked8 || layout == Layout::kBlocked16))
    offer.in_layouts[0] = offer.out_layouts[0] = offer.out_layouts[1] = layout;
  return offer;
}

Prepared backward(const DropoutAttrs& a, const KernelRequest& r, const Offer&) {
  const Shape& x = r.in[0].shape;
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    return [index = MaskIndex(x, mask_shape(a, x)), n = x.size()](const Args& args) {
      apply(index, n, args.in<T>(0), args.in<T>(1), args.out<T>(0));
    };
  });
}

}  // namespace

void register_dropout(OpRegistry& r) {
  r.add<DropoutAttrs>("Dropout")
      .slices([](const DropoutAttrs& a, std::span<const Shape>, const Shape&) {
        return std::vector<bool>(a.mode == "always" ? 0 : 1, true);  // else it draws other numbers
      })
      .precision(Precision::kAsStored)
      .identity_in_prediction([](const DropoutAttrs& a) { return a.mode == "training"; })
      .flops(1, Per::kFirstInput)
      .inputs(std::vector<std::string>{"data"})
      .doc("Zeroes elements at random while training and scales the rest.")
      .outputs({"output", "mask"}, 1)
      .random()
      .skips_unread(1)
      .infer(infer)
      .gradient(gradient)
      .inplace(0, 0)
      .kernel(DeviceType::kCpu, "reference", offer_forward, forward);
  r.add<DropoutAttrs>("_backward_Dropout")
      .precision(Precision::kAsStored)
      .flops(1, Per::kFirstInput)
      .backward()
      .inputs({"dy", "mask"})
      .infer(infer_backward)
      .inplace(0, 0)
      .kernel(
          DeviceType::kCpu, "reference",
          [](const DropoutAttrs&, const KernelRequest& q) { return accept_same_layout(q); },
          backward);
}

}  // namespace symbind
