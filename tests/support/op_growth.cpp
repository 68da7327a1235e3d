#include "tests/support/op_growth.h"

#include <cmath>

#include "tests/support/formula.h"

namespace symbind {
namespace {

// ---- Tensors from pieces ------------------------------------------------------------------------

HostTensor join(const HostTensors& parts, int axis) {
  Shape shape = parts.at(0).shape;
  shape[axis] = 0;
  for (const HostTensor& p : parts) shape[axis] += p.shape[axis];
  HostTensor whole(shape);
  const std::int64_t outer = shape.count(0, axis), row = shape.count(axis);
  std::int64_t at = 0;
  for (const HostTensor& p : parts) {
    const std::int64_t n = p.shape.count(axis);
    for (std::int64_t o = 0; o < outer; ++o)
      std::copy_n(p.values.begin() + o * n, n, whole.values.begin() + o * row + at);
    at += n;
  }
  return whole;
}

/// Slices of `t` along `axis` in another order, as many as `extent`. Whole numbers stay the same,
/// the others come a little nearer to 0, each by its own share: none become equal.
HostTensor like(const HostTensor& t, int axis, std::int64_t extent, std::uint64_t seed) {
  Shape shape = t.shape;
  shape[axis] = extent;
  HostTensor other(shape);
  bool whole = true;
  for (const double v : t.values) whole &= !std::isfinite(v) || v == std::floor(v);
  const std::int64_t before = t.shape[axis], inner = shape.count(axis + 1);
  for (std::size_t i = 0; i < other.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    const std::int64_t outer = at / (extent * inner), slice = at / inner % extent;
    const auto from =
        static_cast<std::int64_t>(formula::bits(seed, static_cast<std::uint64_t>(slice)) %
                                  static_cast<std::uint64_t>(before));
    other[i] = t[static_cast<std::size_t>((outer * before + from) * inner + at % inner)];
    if (!whole)
      other[i] *= 1 - 0.02 * static_cast<double>(i * 7919 % other.size()) /
                          static_cast<double>(other.size());
  }
  return other;
}

}  // namespace

bool is_known(const HostTensors& t, std::size_t i) {
  return i < t.size() && t[i].shape.rank_known() && t[i].size() > 0;
}

// ---- Running ------------------------------------------------------------------------------------

bool has_gradient(const OpCase& c, DType dtype) {
  if (c.is_imperative() || !is_float(dtype)) return false;
  const std::vector<std::string> req = all_gradients(c);
  return std::find(req.begin(), req.end(), "write") != req.end();
}

namespace {

BindRequest request(const OpCase& c, DType dtype) {
  return {.dtype = dtype,
          .grad_req = has_gradient(c, dtype) ? all_gradients(c) : std::vector<std::string>{}};
}

}  // namespace

Numbers run(const OpCase& c, DType dtype, const HostTensors& heads) {
  if (c.is_imperative()) return {.outputs = run_invoke(c, dtype), .grads = {}};
  BoundCase bound(c, request(c, dtype));
  bound.spoil();
  Numbers n{.outputs = bound.forward(), .grads = {}};
  if (has_gradient(c, dtype)) n.grads = bound.backward(heads);
  return n;
}

HostTensors heads_of(const OpCase& c, DType dtype) {
  if (c.is_imperative()) return {};
  return BoundCase(c, {.dtype = dtype}).random_heads();
}

OpCase over(const OpCase& c, const HostTensors& values) {
  OpCase other = c;
  auto& inputs = const_cast<std::vector<OpCase::Input>&>(other.inputs());  // `other` is ours
  for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i].value = values.at(i);
  return other;
}

// ---- Growing ------------------------------------------------------------------------------------

std::int64_t extent_of(const OpCase& c, const Growth& g) {
  return c.inputs()[g.lead].value.shape[g.axes[g.lead]];
}

std::optional<std::vector<Shape>> shapes_at(const OpCase& c, const Growth& g, std::int64_t extent) {
  const std::int64_t before = extent_of(c, g);
  std::vector<Shape> shapes;
  for (std::size_t i = 0; i < g.axes.size(); ++i) {
    Shape s = c.inputs()[i].value.shape;
    if (g.axes[i] >= 0) {
      std::int64_t& e = s[g.axes[i]];
      if (e * extent % before != 0) return std::nullopt;
      e = e * extent / before;
    }
    shapes.push_back(s);
  }
  return shapes;
}

bool infer(const OpCase& c, std::vector<Shape>& in, std::vector<Shape>* outputs) {
  const OpDef& op = definition(c);
  const auto attrs = parsed_attrs(c);
  std::vector<DType> in_dtypes = input_dtypes(c, c.types().at(0));
  std::vector<Shape> out(op.output_names(attrs.get()).size(), Shape::unknown());
  std::vector<DType> out_dtypes(out.size(), DType::kUnknown);
  try {
    Inference io(in, out, in_dtypes, out_dtypes);
    op.infer(attrs.get(), io);
    op.infer(attrs.get(), io);
  } catch (const Inference::Conflict&) {
    return false;
  } catch (const Error&) {
    return false;
  }
  if (outputs) *outputs = out;
  return true;
}

namespace {

/// All shapes when one extent of one input is `times` as long: the others stay, or follow from it,
/// or, where they have the same extent there, grow with it.
std::optional<std::vector<Shape>> longer(const OpCase& c, const std::vector<Shape>& before,
                                         std::size_t lead, int axis, std::int64_t times) {
  std::vector<Shape> shapes = before;
  shapes[lead][axis] *= times;
  const Shape grown = shapes[lead];
  if (infer(c, shapes)) return shapes;
  shapes.assign(before.size(), Shape::unknown());
  shapes[lead] = grown;
  if (infer(c, shapes)) {
    for (std::size_t i = 0; i < shapes.size(); ++i)
      if (!shapes[i].known()) shapes[i] = before[i];
    if (infer(c, shapes)) return shapes;
  }
  shapes = before;
  for (Shape& s : shapes)
    if (s.rank() > axis && s[axis] == before[lead][axis]) s[axis] *= times;
  if (infer(c, shapes)) return shapes;
  return std::nullopt;
}

}  // namespace

std::vector<Growth> growths(const OpCase& c) {
  std::vector<Growth> found;
  constexpr std::int64_t kTimes = 5;  // no axis has it by chance
  std::vector<Shape> before;
  for (const OpCase::Input& i : c.inputs()) before.push_back(i.value.shape);
  for (std::size_t lead = 0; lead < before.size(); ++lead) {
    for (int axis = 0; axis < before[lead].rank(); ++axis) {
      if (before[lead][axis] == 0) continue;
      const auto found_shapes = longer(c, before, lead, axis, kTimes);
      if (!found_shapes) continue;
      const std::vector<Shape>& shapes = *found_shapes;
      Growth g{.lead = lead, .axes = std::vector<int>(before.size(), -1)};
      bool plain = true;
      for (std::size_t i = 0; i < shapes.size(); ++i) {
        plain &= shapes[i].rank() == before[i].rank();
        for (int d = 0; plain && d < shapes[i].rank(); ++d) {
          if (shapes[i][d] == before[i][d]) continue;
          plain &= g.axes[i] < 0 && shapes[i][d] == kTimes * before[i][d];
          g.axes[i] = d;
        }
      }
      const auto same = [&](const Growth& other) { return other.axes == g.axes; };
      if (plain && std::none_of(found.begin(), found.end(), same)) found.push_back(g);
    }
  }
  return found;
}

namespace {

/// Along which axis parts of shape `part`, the first of several, make up `whole`; -1: none.
int joined_axis(const Shape& part, const Shape& whole) {
  int found = -1;
  for (int d = 0; part.rank() == whole.rank() && d < part.rank(); ++d) {
    if (part[d] == whole[d]) continue;
    if (found >= 0) return -1;
    found = d;
  }
  return found;
}

/// Empty where they do not. What has the same shape whole is the same for all parts, or not known.
HostTensor joined(const HostTensors& parts, const Shape& whole) {
  if (parts[0].shape == whole) {
    for (const HostTensor& p : parts)
      if (p.shape != whole || p.values != parts[0].values) return {};
    return parts[0];
  }
  const int axis = joined_axis(parts[0].shape, whole);
  if (axis < 0) return {};
  std::int64_t extent = 0;
  for (const HostTensor& p : parts) {
    if (p.shape.rank() != whole.rank()) return {};
    Shape rest = p.shape;
    extent += rest[axis];
    rest[axis] = whole[axis];
    if (rest != whole) return {};
  }
  return extent == whole[axis] ? join(parts, axis) : HostTensor{};
}

}  // namespace

Grown from_pieces(const OpCase& c, const Growth& g, std::int64_t extent, DType dtype, bool vary) {
  const std::int64_t size = extent_of(c, g);
  constexpr int kKinds = 3;
  std::vector<HostTensors> inputs, heads;
  std::vector<Numbers> answers;
  std::vector<std::size_t> order;  // pieces of full size repeat, a shorter one ends it
  const auto make = [&](std::int64_t length, std::uint64_t kind) {
    const std::vector<Shape> shapes = shapes_at(c, g, length).value();
    HostTensors in = c.values();
    for (std::size_t i = 0; i < in.size(); ++i) {
      if (g.axes[i] < 0 || (kind == 0 && length == size) || (!vary && length == size)) continue;
      in[i] = like(in[i], g.axes[i], shapes[i][g.axes[i]], 100 * kind + i);
    }
    const OpCase piece = over(c, in);
    HostTensors h = heads_of(piece, dtype);
    for (HostTensor& t : h)
      for (double& v : t.values) v *= 1 - 0.25 * static_cast<double>(kind);
    answers.push_back(run(piece, dtype, h));
    inputs.push_back(in);
    heads.push_back(h);
  };
  for (std::int64_t at = 0, n = 0; at < extent; at += size, ++n) {
    const std::int64_t length = std::min(size, extent - at);
    if (n < kKinds || length < size) make(length, static_cast<std::uint64_t>(n % kKinds));
    order.push_back(n < kKinds || length < size ? inputs.size() - 1
                                                : static_cast<std::size_t>(n % kKinds));
  }
  const auto all = [&](const auto& pick) {
    HostTensors parts;
    for (const std::size_t p : order) parts.push_back(pick(p));
    return parts;
  };
  HostTensors in = c.values();
  for (std::size_t i = 0; i < in.size(); ++i)
    if (g.axes[i] >= 0) in[i] = join(all([&](std::size_t p) { return inputs[p][i]; }), g.axes[i]);
  Grown grown{.c = over(c, in), .heads = {}, .want = {}, .tolerance = {}};
  const Numbers& first = answers[0];
  bool joins = true;
  const HostTensors whole = c.is_imperative() ? run_invoke(grown.c, dtype)
                                              : BoundCase(grown.c, {.dtype = dtype}).random_heads();
  for (std::size_t o = 0; o < first.outputs.size(); ++o)
    grown.want.outputs.push_back(
        joined(all([&](std::size_t p) { return answers[p].outputs[o]; }), whole[o].shape));
  for (std::size_t o = 0; o < heads[0].size(); ++o) {
    const HostTensors parts = all([&](std::size_t p) { return heads[p][o]; });
    const bool grows = parts[0].shape != whole[o].shape;
    grown.heads.push_back(grows ? joined(parts, whole[o].shape) : HostTensor{});
    if (is_known(grown.heads, o)) continue;
    grown.want.outputs[o] = HostTensor{};
    grown.heads[o] = whole[o];
    joins = false;
  }
  if (!joins) return grown;  // nor do gradients
  for (std::size_t i = 0; i < first.grads.size(); ++i) {
    const HostTensors parts = all([&](std::size_t p) { return answers[p].grads[i]; });
    if (!parts[0].defined() || parts[0].size() == 0) {
      grown.want.grads.emplace_back();
    } else if (g.axes[i] >= 0) {
      grown.want.grads.push_back(join(parts, g.axes[i]));
    } else {
      HostTensor sum(parts[0].shape);
      for (const HostTensor& p : parts)
        for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += p[k];
      grown.want.grads.push_back(sum);
    }
  }
  return grown;
}

namespace {

/// Σ heads · (a − b)
double difference_of(const HostTensors& a, const HostTensors& b, const HostTensors& heads) {
  double sum = 0;
  for (std::size_t o = 0; o < heads.size(); ++o)
    for (std::size_t k = 0; k < heads[o].size(); ++k) sum += heads[o][k] * (a[o][k] - b[o][k]);
  return sum;
}

}  // namespace

void add_gradients(Grown& g) {
  constexpr double kStep = 1e-8;  // the largest of many numbers must stay the largest
  const DType dtype = DType::kFloat64;
  const OpCase& c = g.c;
  const HostTensors& heads = g.heads;
  if (c.inputs()[0].dtype || definition(c).is_loss || !has_gradient(c, dtype)) return;
  const std::vector<std::string> req = all_gradients(c);
  const std::vector<DType> types = input_dtypes(c, dtype);
  BoundCase bound(c, request(c, dtype));
  for (const DType t : bound.output_dtypes())
    if (t != dtype) return;  // too coarse for differences
  bound.spoil();
  bound.forward();
  const HostTensors grads = bound.backward(heads);
  HostTensors above = c.values(), below = above;
  double want = 0, size = 0;
  for (std::size_t i = 0; i < req.size(); ++i) {
    if (req[i] == "null") continue;
    if (types[i] != dtype) return;
    for (std::size_t k = 0; k < above[i].size(); ++k) {
      const double step = formula::value(900 + i, k, 0.5, 1) * (formula::bits(i, k) & 1 ? 1 : -1);
      above[i][k] += kStep * step;
      below[i][k] -= kStep * step;
      want += grads[i][k] * step;
      size += std::abs(grads[i][k] * step);
    }
  }
  bound.load(above);
  const HostTensors high = bound.forward();
  bound.load(below);
  const double difference = difference_of(high, bound.forward(), heads) / (2 * kStep);
  g.want.grads = grads;
  g.confirmed = std::abs(difference - want) <= 2e-6 * size + 1e-7;  // NaN confirms nothing
}

Grown from_reference(const OpCase& c, const Growth& g, std::int64_t extent, DType dtype) {
  const std::vector<Shape> shapes = shapes_at(c, g, extent).value();
  HostTensors in = c.values();
  for (std::size_t i = 0; i < in.size(); ++i)
    if (g.axes[i] >= 0) in[i] = like(in[i], g.axes[i], shapes[i][g.axes[i]], 300 + i);
  Grown grown{.c = over(c, in), .heads = {}, .want = {}, .tolerance = c.tolerance_for(dtype)};
  grown.heads = heads_of(grown.c, dtype);
  if (c.reference() && !c.is_recorded())
    grown.want.outputs = grown.c.reference()(rounded_inputs(grown.c, dtype));
  add_gradients(grown);
  for (HostTensors* tensors : {&grown.want.outputs, &grown.want.grads})
    for (HostTensor& t : *tensors)
      if (t.largest() > 1e30) t = HostTensor{};  // products of many may leave the type's range
  return grown;
}

}  // namespace symbind
