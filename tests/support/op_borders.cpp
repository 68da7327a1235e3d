// Check 9 of README.md: the loops of a case split into shares, and the case grown across the
// borders of blocks.

#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "base/settings.h"
#include "tests/support/formula.h"
#include "tests/support/op_run.h"
#include "tests/support/shares.h"

namespace symbind {
namespace {

constexpr Tolerance kSameArithmetic = {2e-6, 1e-7};
constexpr Tolerance kLongSums = {1e-4, 1e-5};
constexpr std::int64_t kMostElements = 12'000;  ///< of all inputs, and of all outputs

Tolerance looser(Tolerance a, Tolerance b) {
  return {std::max(a.relative, b.relative), std::max(a.absolute, b.absolute)};
}

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
/// the others come a little nearer to 0.
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
    if (!whole) other[i] *= 1 - formula::value(seed + 1, i, 0, 1e-3);
  }
  return other;
}

bool is_known(const HostTensors& t, std::size_t i) {
  return i < t.size() && t[i].shape.rank_known() && t[i].size() > 0;
}

// ---- Running ------------------------------------------------------------------------------------

struct Numbers {
  HostTensors outputs, grads;
};

bool has_gradient(const OpCase& c, DType dtype) {
  if (c.is_imperative() || !is_float(dtype)) return false;
  const std::vector<std::string> req = all_gradients(c);
  return std::find(req.begin(), req.end(), "write") != req.end();
}

BindRequest request(const OpCase& c, DType dtype) {
  return {.dtype = dtype,
          .grad_req = has_gradient(c, dtype) ? all_gradients(c) : std::vector<std::string>{}};
}

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

/// The same case over these inputs.
OpCase over(const OpCase& c, const HostTensors& values) {
  OpCase other = c;
  auto& inputs = const_cast<std::vector<OpCase::Input>&>(other.inputs());  // `other` is ours
  for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i].value = values.at(i);
  return other;
}

// ---- Growing ------------------------------------------------------------------------------------

/// Which axis of each input grows; -1: the input stays as it is.
struct Growth {
  std::size_t lead = 0;  ///< the input whose extent is counted
  std::vector<int> axes = {};
  std::int64_t step = 1;  ///< extents are multiples of it
};

std::int64_t extent_of(const OpCase& c, const Growth& g) {
  return c.inputs()[g.lead].value.shape[g.axes[g.lead]];
}

/// The shapes when the leading extent is `extent`; none where they would not be whole.
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

/// Fills in the shapes that follow; the outputs' go to `outputs` where it is given.
bool infer(const OpCase& c, std::vector<Shape>& in, std::vector<Shape>* outputs = nullptr) {
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

/// The ways to make one extent of one input longer, with the others following where they must.
std::vector<Growth> growths(const OpCase& c) {
  std::vector<Growth> found;
  constexpr std::int64_t kTimes = 5;  // no axis has it by chance
  std::vector<Shape> before;
  for (const OpCase::Input& i : c.inputs()) before.push_back(i.value.shape);
  for (std::size_t lead = 0; lead < before.size(); ++lead) {
    for (int axis = 0; axis < before[lead].rank(); ++axis) {
      if (before[lead][axis] == 0) continue;
      std::vector<Shape> shapes = before;
      shapes[lead][axis] *= kTimes;
      const Shape longer = shapes[lead];
      if (!infer(c, shapes)) {
        shapes.assign(before.size(), Shape::unknown());
        shapes[lead] = longer;
        if (!infer(c, shapes)) continue;
        for (std::size_t i = 0; i < shapes.size(); ++i)
          if (!shapes[i].known()) shapes[i] = before[i];
        if (!infer(c, shapes)) continue;
      }
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

/// A case at one size, and what must come out; tensors that are not known are empty.
struct Grown {
  OpCase c;
  HostTensors heads;
  Numbers want;
  Tolerance tolerance;
  bool confirmed = false;  ///< the gradients, by a difference
};

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

/// The case with `extent`, put together from pieces of the size it has; the answers of the pieces
/// make up the answer, and gradients of what they share add up.
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

double dot(const HostTensors& a, const HostTensors& b) {
  double sum = 0;
  for (std::size_t o = 0; o < a.size() && o < b.size(); ++o)
    for (std::size_t k = 0; k < a[o].size() && k < b[o].size(); ++k) sum += a[o][k] * b[o][k];
  return sum;
}

/// Gradients in float64, and whether a difference along a random direction of all inputs confirms
/// them.
void add_gradients(Grown& g) {
  constexpr double kStep = 1e-8;  // the largest of many numbers must stay the largest
  const DType dtype = DType::kFloat64;
  const OpCase& c = g.c;
  const HostTensors& heads = g.heads;
  if (c.inputs()[0].dtype || definition(c).is_loss || !has_gradient(c, dtype)) return;
  const std::vector<std::string> req = all_gradients(c);
  const std::vector<DType> types = input_dtypes(c, dtype);
  BoundCase bound(c, request(c, dtype));
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
  const double high = dot(bound.forward(), heads);
  bound.load(below);
  const double low = dot(bound.forward(), heads);
  const double difference = (high - low) / (2 * kStep);
  g.want.grads = grads;
  g.confirmed = std::abs(difference - want) <= 2e-6 * size + 1e-7;  // NaN confirms nothing
}

/// The case with `extent`, whose outputs come from its own reference (none: are not known).
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

// ---- Comparing ----------------------------------------------------------------------------------

/// Takes out of `want` what is not so.
void keep_what_holds(const Numbers& got, Numbers& want, Tolerance tolerance) {
  const auto keep = [&](const HostTensors& g, HostTensors& w, Tolerance t) {
    for (std::size_t i = 0; i < w.size(); ++i)
      if (!is_known(w, i) || i >= g.size() || g[i].shape != w[i].shape || !near(g[i], w[i], t))
        w[i] = HostTensor{};
  };
  keep(got.outputs, want.outputs, tolerance);
  keep(got.grads, want.grads, looser(tolerance, {2e-5, 1e-6}));
}

bool knows_something(const HostTensors& t) {
  for (std::size_t i = 0; i < t.size(); ++i)
    if (is_known(t, i)) return true;
  return false;
}

void compare(const HostTensors& got, const HostTensors& want, Tolerance tolerance,
             const std::string& what) {
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (!is_known(want, i)) continue;
    EXPECT_TRUE(near(got[i], want[i], tolerance)) << what << " " << i;
  }
}

std::set<std::string> cpu_kernels(const OpCase& c) {
  std::set<std::string> names;
  for (const KernelDef& k : definition(c).kernels)
    if (k.device == DeviceType::kCpu) names.insert(k.name);
  return names;
}

/// One size: whole, in shares, and with every kernel alone.
void check_size(const Grown& g, DType dtype, const std::vector<int>& shares_of,
                const std::string& what) {
  const Tolerance sums = looser(g.tolerance, kLongSums);
  const Numbers whole = run(g.c, dtype, g.heads);
  compare(whole.outputs, g.want.outputs, g.tolerance, what + ", output");
  compare(whole.grads, g.want.grads, sums, what + ", gradient of input");
  for (const int threads : shares_of) {
    const Shares shares(threads);
    const Numbers got = run(g.c, dtype, g.heads);
    const std::string in_shares = what + " in " + std::to_string(threads) + " shares";
    compare(got.outputs, whole.outputs, sums, in_shares + ", output");
    compare(got.grads, whole.grads, sums, in_shares + ", gradient of input");
  }
  const std::set<std::string> kernels = cpu_kernels(g.c);
  if (g.c.is_imperative() || kernels.size() < 2) return;
  for (const std::string& only : kernels) {
    std::string forbidden;
    for (const std::string& other : kernels)
      if (other != only) forbidden += (forbidden.empty() ? "-" : ",-") + other;
    const settings::override_for_test setting("SYMBIND_KERNELS", forbidden);
    const Numbers got = run(g.c, dtype, g.heads);
    compare(got.outputs, whole.outputs, sums, what + " with kernel " + only + ", output");
    compare(got.grads, whole.grads, sums, what + " with kernel " + only + ", gradient of input");
  }
}

bool is_half(DType dtype) { return is_float(dtype) && size_of(dtype) == 2; }

/// What is known of a growth, by a trial at four times the size.
struct Trial {
  Growth growth;
  bool by_pieces = false, vary = true;
  std::vector<bool> outputs = {}, grads = {};
};

std::vector<bool> known(const HostTensors& t) {
  std::vector<bool> k;
  for (std::size_t i = 0; i < t.size(); ++i) k.push_back(is_known(t, i));
  return k;
}
void forget(HostTensors& t, const std::vector<bool>& known) {
  for (std::size_t i = 0; i < t.size(); ++i)
    if (i >= known.size() || !known[i]) t[i] = HostTensor{};
}

std::optional<Trial> try_growth(const OpCase& c, Growth g, DType dtype) {
  const std::int64_t size = extent_of(c, g);
  for (const bool vary : {true, false}) {
    for (const std::int64_t extra : {std::int64_t{1}, std::int64_t{0}}) {
      if (size == 1 && extra == 1) continue;
      g.step = extra == 1 || size == 1 ? 1 : size;
      if (extra == 1 && !shapes_at(c, g, 1)) continue;
      try {
        Grown grown = from_pieces(c, g, 4 * size + extra, dtype, vary);
        keep_what_holds(run(grown.c, dtype, grown.heads), grown.want, kSameArithmetic);
        if (knows_something(grown.want.outputs))
          return Trial{.growth = g,
                       .by_pieces = true,
                       .vary = vary,
                       .outputs = known(grown.want.outputs),
                       .grads = known(grown.want.grads)};
      } catch (const std::exception&) {  // the operator has its own idea of such a size
      }
    }
  }
  for (const std::int64_t extra : {std::int64_t{1}, std::int64_t{0}}) {
    g.step = extra == 1 || size == 1 ? 1 : size;
    if (extra == 1 && !shapes_at(c, g, 1)) continue;
    try {
      Grown grown = from_reference(c, g, 4 * size + extra, dtype);
      if (!grown.confirmed) grown.want.grads.clear();
      keep_what_holds(run(grown.c, dtype, grown.heads), grown.want, grown.tolerance);
      return Trial{
          .growth = g, .outputs = known(grown.want.outputs), .grads = known(grown.want.grads)};
    } catch (const std::exception&) {
    }
  }
  return std::nullopt;
}

/// Whether inputs and outputs of these sizes are quick to compute.
bool is_small(const OpCase& c, std::vector<Shape> inputs) {
  std::vector<Shape> outputs;
  if (!infer(c, inputs, &outputs)) return false;
  std::int64_t n = 0, m = 0;
  for (const Shape& s : inputs) n += s.size();
  for (const Shape& s : outputs) m += s.known() ? s.size() : 0;
  return n <= kMostElements && m <= kMostElements;
}

/// The longest of `extents` that is not too long, or all of them.
std::set<std::int64_t> extents_of(const OpCase& c, const Growth& g, bool all) {
  std::set<std::int64_t> extents;
  for (const std::int64_t wanted : {1537, 769, 257, 256, 255, 65, 33, 17}) {
    const std::int64_t extent = (wanted + g.step - 1) / g.step * g.step;
    const auto shapes = shapes_at(c, g, extent);
    if (!shapes || extent <= extent_of(c, g) || !is_small(c, *shapes)) continue;
    extents.insert(extent);
    if (!all || wanted == 255) break;
  }
  return extents;
}

void check_growth(const OpCase& c, const Trial& trial, bool all, DType dtype) {
  const Growth& g = trial.growth;
  const std::set<std::int64_t> extents = extents_of(c, g, all);
  for (const std::int64_t extent : extents) {
    std::string what = std::string(dtype_name(dtype)) + ", extent " + std::to_string(extent) +
                       " of axis " + std::to_string(g.axes[g.lead]) + " of input " +
                       std::to_string(g.lead);
    try {
      Grown grown = trial.by_pieces ? from_pieces(c, g, extent, dtype, trial.vary)
                                    : from_reference(c, g, extent, dtype);
      if (trial.by_pieces) {
        grown.tolerance = looser(c.tolerance_for(dtype), kSameArithmetic);
        if (!trial.vary) grown.tolerance = looser(grown.tolerance, kLongSums);
      }
      forget(grown.want.outputs, trial.outputs);
      forget(grown.want.grads, trial.grads);
      if (!trial.by_pieces && knows_something(grown.want.grads)) {
        EXPECT_TRUE(grown.confirmed) << what << ": a difference says otherwise than the gradients";
      }
      for (std::size_t i = 0; i < grown.want.grads.size(); ++i)  // long sums in 16 bits
        if (is_half(dtype) && g.axes[i] < 0) grown.want.grads[i] = HostTensor{};
      const bool last = extent == *extents.rbegin();
      check_size(grown, dtype, last ? std::vector{3} : std::vector<int>{}, what);
    } catch (const std::exception& e) {
      ADD_FAILURE() << what << ": " << e.what();
    }
  }
}

/// All inputs in one row, where the operator goes element by element.
std::optional<OpCase> in_a_row(const OpCase& c) {
  HostTensors in = c.values();
  if (in[0].shape.rank() < 2) return std::nullopt;
  for (HostTensor& t : in) {
    if (t.shape != c.inputs()[0].value.shape) return std::nullopt;
  }
  for (HostTensor& t : in) t.shape = Shape{t.shape.size()};
  return over(c, in);
}

bool has_half(const OpCase& c) {
  const std::vector<DType> types = c.types();
  return std::find(types.begin(), types.end(), DType::kFloat16) != types.end();
}

void check_shares(const OpCase& c, DType dtype) {
  const HostTensors heads = heads_of(c, dtype);
  check_size({.c = c, .heads = heads, .want = {}, .tolerance = kSameArithmetic}, dtype, {2, 3},
             "as it is");
}

}  // namespace

bool keeps_its_size(const std::string& op) {
  static const std::set<std::string> kOperators = {
      "Custom",            // the tests' own code looks at shapes
      "_cvimresize",       // OpenCV rounds groups of 8 in another way
      "_contrib_box_nms",  // boxes that are alike are told apart by chance
      "_linalg_gemm",      // three matrices of one batch, whose extents belong together
  };
  return kOperators.contains(op);
}

bool check_op_borders(const OpCase& c) {
  const DType dtype = main_type(c);
  check_shares(c, dtype);
  if (c.inputs().empty() || keeps_its_size(c.op())) return false;
  if (c.op() == "CTCLoss" && c.name() == "all paths") return false;  // a power of the steps
  const auto grow = [&](const OpCase& grown, bool all) {
    bool any = false;
    std::vector<Growth> ways = growths(grown);
    // Vendors' kernels are many and slow: they have the batch and one more.
    const bool slow = cpu_kernels(c).size() > 1 && grown.inputs()[0].value.shape.rank() > 2;
    if (slow && ways.size() > 2) ways.resize(2);
    for (const Growth& g : ways) {
      const std::optional<Trial> trial = try_growth(grown, g, dtype);
      if (!trial) continue;
      any = true;
      check_growth(grown, *trial, all, dtype);
      if (has_half(c) && dtype == DType::kFloat32 && trial->by_pieces && trial->vary)
        check_growth(grown, *trial, false, DType::kFloat16);
    }
    return any;
  };
  if (const std::optional<OpCase> row = in_a_row(c); row && grow(*row, true)) return true;
  return grow(c, c.inputs()[0].value.shape.rank() == 1);
}

}  // namespace symbind
